internal import DefaultJournal

extension OpenSuite {
    /// Notifies observers of what has changed since they were last notified, in whatever process.
    ///
    /// Called wherever the index may have been brought up to date, once its locks are released: observers may use the suite.
    /// Within exclusive access it waits for the end.
    func notifyChanges() {
        guard index.changes.isActive, !journal.hasExclusiveAccess else {
            return
        }
        journal.lockForReading()
        let keys = index.takeChangedKeys()
        journal.unlockForReading()
        if !keys.isEmpty {
            index.changes.notify(keys)
        }
    }

    /// Calls a handler at each change of the suite, until the observation is cancelled.
    ///
    /// The first observer of the process starts the watch for other processes' writes, the last one ends it.
    func observe(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = index.changes.add(handler) { [weak self] in self?.updateWatch() }
        updateWatch()
        return observation
    }

    private func updateWatch() {
        index.changes.withRegistrationLock { isActive in
            if isActive {
                journal.startWatching { [weak self] in self?.notifyChanges() }
            } else {
                journal.stopWatching()
            }
        }
    }
}

extension FileDefaults {
    /// Whether the suite has observers in this process.
    package var isObserved: Bool { suite.current?.index.changes.isActive ?? false }
}

internal import DefaultJournal

extension OpenSuite {
    /// Tells observers what has changed since they were last told, whoever changed it.
    ///
    /// Called wherever the index may have been brought up to date, once its locks are given back: observers may use the suite.
    /// Within exclusive access it waits for the end.
    func tellOfChanges() {
        guard index.changes.isActive, !journal.hasExclusiveAccess else {
            return
        }
        journal.lockForReading()
        let keys = index.takeChangedKeys()
        journal.unlockForReading()
        if !keys.isEmpty {
            index.changes.tell(keys)
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
        index.changes.whileNobodyComesOrGoes { isActive in
            if isActive {
                journal.startWatching { [weak self] in self?.tellOfChanges() }
            } else {
                journal.stopWatching()
            }
        }
    }
}

extension FileDefaults {
    /// Whether anybody in this process wants to know of the suite's changes.
    package var isObserved: Bool { suite.current?.index.changes.isActive ?? false }
}

internal import DefaultJournal

extension OpenSuite {
    /// Notifies observers of the changes since they were last notified, made by any process.
    ///
    /// Called wherever the index may have been updated, after its locks are released, because observers may use the suite.
    /// During exclusive access it does nothing; the end of the access notifies observers.
    func notifyChanges() {
        guard state.changes.isActive, !journal.hasExclusiveAccess else {
            return
        }
        journal.lockForReading()
        let keys = state.takeChangedKeys()
        journal.unlockForReading()
        if !keys.isEmpty {
            state.changes.notify(keys)
        }
    }

    /// Calls a handler at each change of the suite, until the observation is cancelled, which keeps the suite open so long.
    ///
    /// The first observer of the suite in the process starts watching for writes by other processes, and the end of the last one stops
    /// it.
    func observe(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = state.changes.add(handler) { self.updateWatch() }
        updateWatch()
        // Here and not where it is reported: the handler of the event may observe this suite.
        journal.deliverReports()
        return observation
    }

    private func updateWatch() {
        state.changes.withRegistrationLock { isActive in
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
    package var isObserved: Bool { suite.current?.state.changes.isActive ?? false }
}

internal import DefaultJournal

extension OpenSuite {
    /// The stored value for a key, including changes by this thread's transaction.
    func value(for key: StoreKey) -> PropertyListValue? {
        if journal.hasExclusiveAccess, let change = state.transaction?[key] {
            return change?.value
        }
        let token = journal.beginReading()
        let reading = journal.entries.read(key)
        journal.endReading(token)
        let stored: StoredValue?
        switch reading {
        case .value(let value): stored = value
        case .none: stored = nil
        case .unmade:
            journal.lockForReading()
            stored = journal.entries.makeValue(for: key)
            journal.unlockForReading()
        }
        notifyChanges()
        return stored?.value
    }

    /// All stored values, including changes by this thread's transaction.
    var values: [StoreKey: PropertyListValue] {
        var values: [StoreKey: PropertyListValue] = [:]
        for (key, stored) in entries {
            values[key] = stored.value
        }
        return values
    }

    /// All keys, including changes by this thread's transaction.
    var keys: some Collection<StoreKey> {
        entries.keys
    }

    private var entries: [StoreKey: StoredValue] {
        let token = journal.beginReading()
        var entries = journal.entries.values
        journal.endReading(token)
        notifyChanges()
        if journal.hasExclusiveAccess, let changes = state.transaction {
            for (key, change) in changes {
                entries[key] = change
            }
        }
        return entries
    }

    /// Stores or removes a value, or adds the change to this thread's transaction.
    ///
    /// A value that is already stored is not written again. With `.everyWrite` the call still waits until it has reached the
    /// disk.
    func write(
        _ value: PropertyListValue?,
        for key: StoreKey,
        durability: JournalDurability
    ) throws(JournalError) {
        if journal.hasExclusiveAccess, state.transaction != nil {
            let value = value.map { StoredValue($0) }
            // What the commit would refuse, the caller learns here.
            if let value { try JournalBatch.check(valueSize: value.byteCount, path: journal.path) }
            state.transaction?.updateValue(value, forKey: key)
            return
        }
        switch value {
        case nil: try remove(key, durability: durability)
        case let value?: try set(value, for: key, durability: durability)
        }
    }

    private func set(
        _ value: PropertyListValue,
        for key: StoreKey,
        durability: JournalDurability
    ) throws(JournalError) {
        var failure: JournalError?
        value.withBytes { tag, rest in
            key.withUTF8 { utf8 in
                do throws(JournalError) {
                    try journal.set(key: UnsafeRawBufferPointer(utf8), prefix: tag, value: rest, durability: durability)
                } catch {
                    failure = error
                }
            }
        }
        if let failure {
            throw failure
        }
    }

    private func remove(_ key: StoreKey, durability: JournalDurability) throws(JournalError) {
        try removeStored(key)
        // With the lock released. The removal by another call may not have reached the disk yet.
        if durability == .everyWrite { try journal.synchronize() }
    }

    private func removeStored(_ key: StoreKey) throws(JournalError) {
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        // A key without a value needs no record.
        guard journal.entries.contains(key) else {
            return
        }
        try key.withUTF8 { key in
            Result { () throws(JournalError) in try journal.remove(key: UnsafeRawBufferPointer(key)) }
        }
        .get()
    }
}

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

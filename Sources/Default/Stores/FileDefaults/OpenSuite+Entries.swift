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
        entries.compactMapValues(\.value)
    }

    /// All keys, including changes by this thread's transaction.
    var keys: some Collection<StoreKey> {
        entries.keys
    }

    private var entries: [StoreKey: StoredValue] {
        let token = journal.beginReading()
        let entries = journal.entries.values
        journal.endReading(token)
        notifyChanges()
        guard journal.hasExclusiveAccess, let changes = state.transaction else {
            return entries
        }
        return entries.mapValues { $0 as StoredValue? }.merging(changes) { _, change in change }.compactMapValues { $0 }
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
        try key.withUTF8 { key throws(JournalError) in try journal.remove(key: UnsafeRawBufferPointer(key)) }
    }
}

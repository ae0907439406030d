internal import DefaultJournal
internal import Foundation

extension OpenSuite {
    /// The stored value for a key, including changes by this thread's transaction.
    func value(for key: StoreKey) -> PropertyListValue? {
        if journal.hasExclusiveAccess, let change = index.transaction?[key] {
            return change?.value
        }
        let token = journal.beginReading()
        let entry = index.entry(for: key)
        journal.endReading(token)
        notifyChanges()
        return entry?.value
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
        let entries = index.entries
        journal.endReading(token)
        notifyChanges()
        guard journal.hasExclusiveAccess, let changes = index.transaction else {
            return entries
        }
        return entries.mapValues { $0 as StoredValue? }.merging(changes) { _, change in change }.compactMapValues { $0 }
    }

    /// Stores or removes a value, or adds the change to this thread's transaction.
    ///
    /// A value that is already stored is not written again. With `.everyWrite` the call still waits until it has reached the
    /// disk.
    func write(
        _ value: consuming StoredValue?,
        for key: StoreKey,
        durability: JournalDurability
    ) throws(JournalError) {
        if journal.hasExclusiveAccess, index.transaction != nil {
            index.transaction?.updateValue(value, forKey: key)
            return
        }
        switch consume value {
        case nil: try remove(key, durability: durability)
        case let value?: try set(value, for: key, durability: durability)
        }
    }

    private func set(
        _ value: StoredValue,
        for key: StoreKey,
        durability: JournalDurability
    ) throws(JournalError) {
        try key.withUTF8 { utf8 throws(JournalError) in
            let keyBytes = UnsafeRawBufferPointer(utf8)
            try value.withBytes { tag, rest throws(JournalError) in
                var slot: SuiteIndex.Slot?
                var replaced: Int?
                try journal.set(key: keyBytes, prefix: tag, value: rest, durability: durability) {
                    slot = index.entries.index(forKey: key)
                    guard let slot else { return false }
                    let old = index.entries.values[slot]
                    replaced = keyBytes.count + old.byteCount
                    return old.hasBytes(tag, rest)
                } apply: {
                    index.insert(value, for: key, at: slot)
                    return replaced
                }
            }
        }
    }

    private func remove(_ key: StoreKey, durability: JournalDurability) throws(JournalError) {
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        // A key without a value needs no record.
        guard index.entries[key] != nil else {
            // The removal by another call may not have reached the disk yet.
            if durability == .everyWrite { try journal.synchronize() }
            return
        }
        try index.withOwnChanges { () throws(JournalError) in
            try key.withUTF8 { key throws(JournalError) in
                try journal.remove(key: UnsafeRawBufferPointer(key), durability: durability)
            }
        }
    }
}

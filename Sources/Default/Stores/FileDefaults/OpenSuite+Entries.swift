internal import DefaultJournal
internal import Foundation

extension OpenSuite {
    /// The stored value for a key, as the transaction of this thread has left it.
    func value(for key: StoreKey) -> PropertyListValue? {
        if journal.hasExclusiveAccess, let change = index.transaction?[key] {
            return change
        }
        journal.lockForReading()
        let entry = index.entries[key]
        journal.unlockForReading()
        return entry?.value
    }

    /// All stored values, as the transaction of this thread has left them.
    var values: [StoreKey: PropertyListValue] {
        journal.lockForReading()
        let entries = index.entries
        journal.unlockForReading()
        var values = entries.compactMapValues(\.value)
        if journal.hasExclusiveAccess, let changes = index.transaction {
            for (key, change) in changes {
                values[key] = change
            }
        }
        return values
    }

    /// Stores or removes a value, or takes the change into the transaction of this thread.
    func write(
        _ value: PropertyListValue?,
        for key: StoreKey,
        durability: JournalDurability
    ) throws(JournalError) {
        if journal.hasExclusiveAccess, index.transaction != nil {
            index.transaction?.updateValue(value, forKey: key)
            return
        }
        guard let value else {
            return try remove(key, durability: durability)
        }
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        try value.withEncodedBytes { bytes throws(JournalError) in
            index.incoming = (key, StoredValue(value, encoded: bytes), bytes.baseAddress)
            defer { index.incoming = nil }
            try key.withBytes { key throws(JournalError) in
                try journal.set(key: key, value: bytes, durability: durability)
            }
        }
    }

    private func remove(_ key: StoreKey, durability: JournalDurability) throws(JournalError) {
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        // What isn't there needs no record.
        guard index.entries[key] != nil else {
            return
        }
        try key.withBytes { key throws(JournalError) in try journal.remove(key: key, durability: durability) }
    }
}

extension StoreKey {
    fileprivate func withBytes(
        _ body: (UnsafeRawBufferPointer) throws(JournalError) -> Void
    ) throws(JournalError) {
        var string = string
        try string.withUTF8 { utf8 in
            Result { () throws(JournalError) in try body(UnsafeRawBufferPointer(utf8)) }
        }.get()
    }
}

extension PropertyListValue {
    /// Calls a body with the value's bytes; `Data` up to a kilobyte, what settings types are, without an allocation.
    fileprivate func withEncodedBytes(
        _ body: (UnsafeRawBufferPointer) throws(JournalError) -> Void
    ) throws(JournalError) {
        guard case .data(let data) = self, data.count < 1_024 else {
            return try encoded.withUnsafeBytes { bytes in
                Result { () throws(JournalError) in try body(bytes) }
            }.get()
        }
        try withUnsafeTemporaryAllocation(byteCount: data.count + 1, alignment: 1) { bytes in
            bytes[0] = Tag.data.rawValue
            data.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: $0) }
            return Result { () throws(JournalError) in try body(UnsafeRawBufferPointer(bytes)) }
        }.get()
    }
}

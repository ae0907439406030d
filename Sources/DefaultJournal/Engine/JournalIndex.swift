/// The entries of a suite in memory, in a form that the layer above chooses.
///
/// The engine calls it under its state lock, and readers must hold that lock too: see ``Journal/lockForReading()``. Buffers
/// are valid during the call only.
package protocol JournalIndex: AnyObject {
    /// Stores a value under `key`, comparing keys byte by byte.
    ///
    /// The prefix is the value's first byte, if it isn't in `value`.
    ///
    /// - Returns: The size of the replaced entry, key and value together; nil when the key was new.
    func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8?,
        value: UnsafeRawBufferPointer,
        from origin: ChangeOrigin
    ) -> Int?

    /// Removes the entry under `key`.
    ///
    /// - Returns: The size of the removed entry, key and value together; nil when there was none.
    func remove(key: UnsafeRawBufferPointer, from origin: ChangeOrigin) -> Int?

    /// Removes every entry.
    func removeAll(from origin: ChangeOrigin)

    /// Whether this value is stored under `key`.
    func holds(key: UnsafeRawBufferPointer, prefix: UInt8?, value: UnsafeRawBufferPointer) -> Bool

    /// Announces the entries of `count` bytes of records, so that the index can reserve memory for them.
    func prepare(forBytes count: Int)

    /// Remembers the present entries, until ``endComparison(limit:)``.
    ///
    /// Called before the journal is read again from its beginning, which sets all entries again.
    func beginComparison()

    /// Compares the remembered entries with the present ones, and forgets them.
    ///
    /// - Returns: Keys that have another value now, or none, sorted: the first ones up to a limit.
    func endComparison(limit: Int) -> [String]
}

/// Who has changed an entry.
package enum ChangeOrigin: Sendable {
    /// The calling thread, which has exclusive access.
    case thisThread
    /// Another process, or it isn't known: the journal was read.
    case journal
}

/// Applies operations to an index and counts the live bytes.
struct IndexVisitor: ReplayVisitor {
    let index: any JournalIndex
    let origin: ChangeOrigin
    var liveBytes = UInt64(JournalHeader.size)
    /// The keys whose newest value damage may have destroyed; nil if they are not collected.
    var damagedKeys: DamagedKeys?
    /// What the last record says about another journal, if it says that.
    private(set) var move: (salt: UInt64, end: UInt64)?

    mutating func visit(_ operation: Operation) {
        move = nil
        damagedKeys?.visit(operation)
        switch operation {
        case .set(let key, let prefix, let value):
            let replaced = index.set(key: key, prefix: prefix, value: value, from: origin)
            if let replaced { liveBytes = liveBytes &- Self.size(replaced) }
            liveBytes = liveBytes &+ Self.size(key.count + value.count + (prefix == nil ? 0 : 1))
        case .remove(let key):
            guard let replaced = index.remove(key: key, from: origin) else { return }
            liveBytes = liveBytes &- Self.size(replaced)
        case .removeAll:
            index.removeAll(from: origin)
            liveBytes = UInt64(JournalHeader.size)
        case .moved(let salt, let end):
            move = (salt, end)
        }
    }

    mutating func visitDamaged(_ payload: UnsafeRawBufferPointer) { damagedKeys?.add(payload) }

    /// Ends a comparison of the index, which was begun before the replay.
    func keys(ifDamaged isDamaged: Bool) -> JournalReport.DamagedKeys {
        let limit = isDamaged ? JournalReport.DamagedKeys.limit : 0
        return JournalReport.DamagedKeys(
            changed: index.endComparison(limit: limit),
            possible: damagedKeys?.names(limit: limit) ?? []
        )
    }

    /// The size of an entry's record, given that of its key and value.
    private static func size(_ content: Int) -> UInt64 {
        UInt64(Record.liveSize(payload: Operation.setOverhead + content))
    }
}

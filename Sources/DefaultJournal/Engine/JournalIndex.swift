/// The entries of a suite in memory, in a form that the layer above chooses.
///
/// The engine calls it under its state lock, and readers must hold that lock too: see ``Journal/lockForReading()``. Buffers
/// are valid during the call only.
package protocol JournalIndex: AnyObject {
    /// Stores `value` under `key`, comparing keys byte by byte.
    ///
    /// - Returns: The size of the replaced entry, key and value together; nil when the key was new.
    func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int?

    /// Removes the entry under `key`.
    ///
    /// - Returns: The size of the removed entry, key and value together; nil when there was none.
    func remove(key: UnsafeRawBufferPointer) -> Int?

    /// Removes every entry.
    func removeAll()

    /// Announces the entries of `count` bytes of records, so that the index can reserve memory for them.
    func prepare(forBytes count: Int)

    /// Remembers the present entries, until ``endComparison(limit:)``.
    ///
    /// Called before the journal is read again from its beginning, which sets all entries again.
    func beginComparison()

    /// Compares the remembered entries with the present ones, and forgets them.
    ///
    /// - Parameter limit: How many keys to return at most.
    /// - Returns: Keys that have another value now, or none, sorted.
    func endComparison(limit: Int) -> [String]
}

extension JournalIndex {
    /// Remembers nothing: an index need not be able to compare.
    package func beginComparison() {}

    /// Names no keys.
    package func endComparison(limit: Int) -> [String] { [] }
}

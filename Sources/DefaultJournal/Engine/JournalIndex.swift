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
}

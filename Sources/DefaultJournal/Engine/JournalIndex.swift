/// The entries of a suite in memory, which the layer above supplies in the shape it wants.
///
/// The engine calls it under its state lock, and so must whoever reads it: see ``Journal/lockForReading()``. Buffers are
/// valid during the call only.
package protocol JournalIndex: AnyObject {
    /// Stores `value` under `key`, comparing keys byte by byte.
    ///
    /// - Returns: The bytes that key and value of the replaced entry had together; nil when the key was new.
    func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int?

    /// Removes the entry under `key`.
    ///
    /// - Returns: The bytes that its key and value had together; nil when there was none.
    func remove(key: UnsafeRawBufferPointer) -> Int?

    /// Removes every entry.
    func removeAll()

    /// Says that the entries of so many bytes of records are about to be set, so that room can be made for them at once.
    func prepare(forBytes count: Int)
}

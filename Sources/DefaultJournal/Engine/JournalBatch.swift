/// Changes that are to be made together, in order.
package struct JournalBatch: Sendable {
    private var payload: [UInt8] = []
    /// The first change that can't be stored.
    private(set) var problem: JournalError.Kind?

    package init() {}

    /// Whether there is nothing to do.
    package var isEmpty: Bool { payload.isEmpty }

    /// Adds storing `value` under `key`.
    package mutating func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard accepts(key: key), value.count <= Operation.maximumValue else {
            problem = problem ?? .valueTooLarge(bytes: value.count)
            return
        }
        add(.set(key: key, value: value))
    }

    /// Adds removing the entry under `key`.
    package mutating func remove(key: UnsafeRawBufferPointer) {
        guard accepts(key: key) else { return }
        add(.remove(key: key))
    }

    /// Adds removing every entry; what was added before it has no effect then.
    package mutating func removeAll() {
        payload.removeAll(keepingCapacity: true)
        add(.removeAll)
    }

    private mutating func accepts(key: UnsafeRawBufferPointer) -> Bool {
        guard key.count > 0, key.count <= Operation.maximumKey else {
            problem = problem ?? .keyInvalid(bytes: key.count)
            return false
        }
        return true
    }

    private mutating func add(_ operation: Operation) {
        let size = operation.encodedSize
        let start = payload.count
        guard start + size <= Record.maximumPayload else {
            problem = problem ?? .batchTooLarge(bytes: start + size)
            return
        }
        payload.append(contentsOf: repeatElement(0, count: size))
        payload.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { operation.encode(to: base + start) }
        }
    }

    func withPayload(_ body: (UnsafeRawBufferPointer) throws(JournalError) -> Void) throws(JournalError) {
        let outcome = payload.withUnsafeBytes { bytes in
            Result { () throws(JournalError) in try body(bytes) }
        }
        try outcome.get()
    }
}

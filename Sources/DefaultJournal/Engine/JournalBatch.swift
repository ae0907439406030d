/// Changes that become visible together, in order.
package struct JournalBatch: Sendable {
    private var payload: [UInt8] = []
    /// The first change that can't be stored.
    private(set) var problem: JournalError.Kind?

    package init() {}

    /// Whether there are no changes.
    package var isEmpty: Bool { payload.isEmpty }

    /// Throws if no batch takes a value of this size, its first byte included.
    package static func check(valueSize: Int, path: String) throws(JournalError) {
        if valueSize > Operation.maximumValue { throw JournalError(Operation.tooLarge(valueSize), path: path) }
    }

    /// Adds storing a value under `key`.
    ///
    /// - Parameters:
    ///   - key: 1 to 65,535 bytes of UTF-8.
    ///   - prefix: The value's first byte, if the caller has it separately.
    ///   - value: The value's bytes, without the prefix if there is one.
    package mutating func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8? = nil,
        value: UnsafeRawBufferPointer
    ) {
        let size = Operation.setSize(key: key, prefix: prefix, value: value)
        let valueSize = size - Operation.setOverhead - key.count
        guard accepts(Operation.problem(key: key, valueSize: valueSize)) else { return }
        add(size) { Operation.encodeSet(key: key, prefix: prefix, value: value, to: $0) }
    }

    /// Adds removing the entry under `key`.
    package mutating func remove(key: UnsafeRawBufferPointer) {
        guard accepts(Operation.problem(key: key)) else { return }
        add(.remove(key: key))
    }

    /// Adds removing every entry; changes added before have no effect then.
    package mutating func removeAll() {
        payload.removeAll(keepingCapacity: true)
        add(.removeAll)
    }

    private mutating func accepts(_ found: JournalError.Kind?) -> Bool {
        problem = problem ?? found
        return found == nil
    }

    private mutating func add(_ operation: Operation) {
        add(operation.encodedSize, encode: operation.encode)
    }

    private mutating func add(_ size: Int, encode: (UnsafeMutableRawPointer) -> Void) {
        let start = payload.count
        guard start + size <= Record.maximumPayload else {
            problem = problem ?? .batchTooLarge(bytes: start + size)
            return
        }
        payload.append(contentsOf: repeatElement(0, count: size))
        payload.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { encode(base + start) }
        }
    }

    func withPayload(_ body: (UnsafeRawBufferPointer) throws(JournalError) -> Void) throws(JournalError) {
        let outcome = payload.withUnsafeBytes { bytes in
            Result { () throws(JournalError) in try body(bytes) }
        }
        try outcome.get()
    }
}

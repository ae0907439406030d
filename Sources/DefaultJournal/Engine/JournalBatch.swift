/// Changes that become visible together, in order.
package struct JournalBatch: Sendable {
    private var payload: [UInt8] = []
    /// The first change that can't be stored.
    private(set) var problem: JournalError.Kind?
    /// The limit of all changes together, in bytes; less for tests.
    var maximumSize = Record.maximumPayload

    package init() {}

    var isEmpty: Bool { payload.isEmpty }

    /// Throws if no batch takes a value of this size, its first byte included.
    package static func check(valueSize: Int, path: String) throws(JournalError) {
        if valueSize > Operation.maximumValue { throw JournalError(Operation.tooLarge(valueSize), path: path) }
    }

    /// Adds storing a value under `key`; the prefix is the value's first byte, if the caller has it separately.
    package mutating func set(key: UnsafeRawBufferPointer, prefix: UInt8? = nil, value: UnsafeRawBufferPointer) {
        add(.set(key: key, prefix: prefix, value: value))
    }

    package mutating func remove(key: UnsafeRawBufferPointer) { add(.remove(key: key)) }

    private mutating func add(_ operation: Operation) {
        let (start, size) = (payload.count, operation.encodedSize)
        let isTooLong = start + size > maximumSize
        if let found = operation.problem ?? (isTooLong ? .batchTooLarge(bytes: start + size) : nil) {
            problem = problem ?? found
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

/// Keys whose newest operation may have been in a damaged record.
///
/// Nothing in such a record can be trusted: a name may be damaged itself. A key is named if its bytes lie within the record
/// and are UTF-8, and no valid operation on it follows.
package struct DamagedKeys: Sendable {
    private var keys: [[UInt8]] = []

    /// So that a journal full of damage takes no memory for names.
    private static let maximum = 200

    init() {}

    /// Takes the keys of a damaged record, as far as they can be read.
    mutating func add(_ payload: UnsafeRawBufferPointer) {
        var cursor = 0
        while cursor < payload.count, keys.count < Self.maximum {
            let start: Int
            switch payload[cursor] {
            case 1: start = cursor + Operation.setOverhead
            case 2: start = cursor + Operation.removeOverhead
            default: return
            }
            guard start <= payload.count else { return }
            let length = Int(payload.littleEndian(at: cursor + 1, as: UInt16.self))
            // Keys that begin with NUL are the library's own.
            guard length > 0, length <= payload.count - start, payload[start] != 0 else { return }
            let key = Array(payload[start..<start + length])
            guard String(decoding: key, as: UTF8.self).utf8.elementsEqual(key) else { return }
            if !keys.contains(key) { keys.append(key) }
            if Operation.parse(payload, at: &cursor) == nil { return }
        }
    }

    /// Forgets the keys whose value a later operation gives.
    mutating func visit(_ operation: Operation) {
        guard !keys.isEmpty else { return }
        switch operation {
        case .set(let key, _, _), .remove(let key): keys.removeAll { $0.elementsEqual(key) }
        case .removeAll: keys = []
        case .moved: break
        }
    }

    func names(limit: Int) -> [String] { keys.prefix(limit).map { String(decoding: $0, as: UTF8.self) } }
}

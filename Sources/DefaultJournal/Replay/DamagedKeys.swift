/// Keys whose newest operation may have been in a damaged record.
///
/// Nothing in such a record can be trusted: a name may be damaged itself. A key is named if its bytes lie within the
/// record and are UTF-8, and no valid operation on it follows.
struct DamagedKeys {
    private var keys: [[UInt8]] = []

    /// The most keys that are kept, so that a journal full of damage takes little memory.
    private static let maximum = 200

    /// Takes the keys of a damaged record, or of its beginning, as far as they can be read.
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

    /// Forgets the keys whose value a later record's operations give.
    mutating func visit(_ payload: UnsafeRawBufferPointer) {
        if keys.isEmpty { return }
        Operation.forEach(in: payload) { operation in
            switch operation {
            case .set(let key, _, _), .remove(let key): keys.removeAll { $0.elementsEqual(key) }
            case .removeAll: keys = []
            case .moved: break
            }
        }
    }

    func names(limit: Int) -> [String] { keys.prefix(limit).map { String(decoding: $0, as: UTF8.self) } }
}

/// A journal that is about to replace another one, as the last record of that one says.
struct Successor {
    /// The journal's salt; 0 if it doesn't have the entries of the other one.
    let salt: UInt64
    /// The offset up to which it has these.
    let end: UInt64
}

/// One change of one entry, as it is in a record's payload.
///
/// | size | content |
/// | --- | --- |
/// | 1 | kind: 1 set, 2 remove, 3 remove all, 4 moved |
/// | 2 | key length, 1 to 65,535 (set and remove) |
/// | 4 | value length (set only) |
/// | | key bytes, then value bytes |
///
/// "Moved" is followed by two numbers of 8 bytes, the salt of another journal and an offset in it.
package enum Operation {
    /// Stores `value` under `key`; the prefix is the value's first byte where a caller has it separately.
    case set(key: UnsafeRawBufferPointer, prefix: UInt8? = nil, value: UnsafeRawBufferPointer)
    /// Removes the entry under `key`, if there is one.
    case remove(key: UnsafeRawBufferPointer)
    case removeAll
    /// Says that another file is about to replace this journal: up to an offset, it has the entries that this one has
    /// here.
    ///
    /// The salt is 0 if it has other entries.
    case moved(salt: UInt64, end: UInt64)

    /// The longest key, in bytes.
    static let maximumKey = Int(UInt16.max)
    /// The longest value, in bytes: 64 MiB, and one byte for its type in the layer above.
    package static let maximumValue = 64 << 20 + 1

    /// Bytes from which the size of any operation is known.
    static let headSize = setOverhead
    static let setOverhead = 7
    static let removeOverhead = 3
    static let movedSize = 17

    /// Why the operation can't be written; nil if it can be.
    @inline(__always)  // See Journal.acquire.
    var problem: JournalError.Kind? {
        switch self {
        case .set(let key, let prefix, let value):
            let size = value.count + (prefix == nil ? 0 : 1)
            return Self.problem(of: key) ?? (size > Self.maximumValue ? Self.tooLarge(size) : nil)
        case .remove(let key): return Self.problem(of: key)
        case .removeAll, .moved: return nil
        }
    }

    private static func problem(of key: UnsafeRawBufferPointer) -> JournalError.Kind? {
        key.isEmpty || key.count > maximumKey ? .keyInvalid(bytes: key.count) : nil
    }

    /// The refusal of a value, with the size that the layer above knows.
    static func tooLarge(_ valueSize: Int) -> JournalError.Kind { .valueTooLarge(bytes: valueSize - 1) }

    /// The journal that is about to replace this one, if the operation says so.
    var successor: Successor? {
        if case .moved(let salt, let end) = self { Successor(salt: salt, end: end) } else { nil }
    }

    /// Bytes that the operation takes in a payload.
    var encodedSize: Int {
        switch self {
        case .set(let key, let prefix, let value):
            Self.setOverhead + key.count + (prefix == nil ? 0 : 1) + value.count
        case .remove(let key): Self.removeOverhead + key.count
        case .removeAll: 1
        case .moved: Self.movedSize
        }
    }

    /// Writes the operation to `target`, which has room for ``encodedSize`` bytes.
    @inline(__always)  // See Journal.acquire.
    func encode(to target: UnsafeMutableRawPointer) {
        switch self {
        case .set(let key, let prefix, let value):
            target.storeBytes(of: 1, as: UInt8.self)
            target.storeLittleEndian(UInt16(truncatingIfNeeded: key.count), at: 1)
            target.storeLittleEndian(UInt32(truncatingIfNeeded: value.count + (prefix == nil ? 0 : 1)), at: 3)
            Self.copy(key, to: target + Self.setOverhead)
            var rest = target + Self.setOverhead + key.count
            if let prefix {
                rest.storeBytes(of: prefix, as: UInt8.self)
                rest += 1
            }
            Self.copy(value, to: rest)
        case .remove(let key):
            target.storeBytes(of: 2, as: UInt8.self)
            target.storeLittleEndian(UInt16(truncatingIfNeeded: key.count), at: 1)
            Self.copy(key, to: target + Self.removeOverhead)
        case .removeAll:
            target.storeBytes(of: 3, as: UInt8.self)
        case .moved(let salt, let end):
            target.storeBytes(of: 4, as: UInt8.self)
            target.storeLittleEndian(salt, at: 1)
            target.storeLittleEndian(end, at: 9)
        }
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
        guard let start = bytes.baseAddress else { return }
        target.copyMemory(from: start, byteCount: bytes.count)
    }

    /// Calls a body with each operation of a payload.
    static func forEach<Failure: Error>(
        in payload: UnsafeRawBufferPointer,
        _ body: (Operation) throws(Failure) -> Void
    ) throws(Failure) {
        var cursor = 0
        while let operation = parse(payload, at: &cursor) { try body(operation) }
    }

    /// Whether a payload consists of operations that this version knows.
    static func areValid(in payload: UnsafeRawBufferPointer) -> Bool {
        var cursor = 0
        while cursor < payload.count, parse(payload, at: &cursor) != nil {}
        return cursor == payload.count && cursor > 0
    }

    /// The size of an operation by its first bytes, of which ``headSize`` are enough.
    ///
    /// - Returns: The size, or nil for lengths that are never written, and for an operation that this version doesn't
    ///   know.
    static func size(head: UnsafeRawBufferPointer) -> Int? {
        switch head.first {
        case 1:
            guard head.count >= setOverhead else { return nil }
            let keyLength = Int(head.littleEndian(at: 1, as: UInt16.self))
            let valueLength = Int(head.littleEndian(at: 3, as: UInt32.self))
            return keyLength > 0 && valueLength <= maximumValue ? setOverhead + keyLength + valueLength : nil
        case 2:
            guard head.count >= removeOverhead else { return nil }
            let keyLength = Int(head.littleEndian(at: 1, as: UInt16.self))
            return keyLength > 0 ? removeOverhead + keyLength : nil
        case 3: return 1
        case 4: return movedSize
        default: return nil
        }
    }

    /// Reads the operation at `cursor` and moves `cursor` to its end.
    ///
    /// - Returns: The operation, or nil when there is none that this version knows.
    static func parse(_ payload: UnsafeRawBufferPointer, at cursor: inout Int) -> Operation? {
        guard cursor < payload.count, let size = size(head: UnsafeRawBufferPointer(rebasing: payload[cursor...])),
            size <= payload.count - cursor
        else { return nil }
        let operation = UnsafeRawBufferPointer(rebasing: payload[cursor..<cursor + size])
        cursor += size
        switch operation[0] {
        case 1:
            let valueStart = setOverhead + Int(operation.littleEndian(at: 1, as: UInt16.self))
            return .set(
                key: UnsafeRawBufferPointer(rebasing: operation[setOverhead..<valueStart]),
                value: UnsafeRawBufferPointer(rebasing: operation[valueStart...])
            )
        case 2: return .remove(key: UnsafeRawBufferPointer(rebasing: operation[removeOverhead...]))
        case 3: return .removeAll
        default:
            return .moved(
                salt: operation.littleEndian(at: 1, as: UInt64.self),
                end: operation.littleEndian(at: 9, as: UInt64.self)
            )
        }
    }
}

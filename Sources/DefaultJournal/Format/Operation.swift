/// One change of one entry, as a record's payload holds it.
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
    /// Says that another file is about to replace this journal: up to an offset, it has the entries that this one has here.
    ///
    /// The salt is 0 if it has other entries.
    case moved(salt: UInt64, end: UInt64)

    /// The longest key, in bytes.
    static let maximumKey = Int(UInt16.max)
    /// The longest value, in bytes: 64 MiB, and one byte for its type in the layer above.
    package static let maximumValue = 64 << 20 + 1

    static let setOverhead = 7
    static let removeOverhead = 3
    static let movedSize = 17

    /// Why the operation can't be written; nil if it can be.
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

    /// What the operation says about another journal, if it says that.
    var move: (salt: UInt64, end: UInt64)? {
        if case .moved(let salt, let end) = self { (salt, end) } else { nil }
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
    static func forEach(in payload: UnsafeRawBufferPointer, _ body: (Operation) -> Void) {
        var cursor = 0
        while let operation = parse(payload, at: &cursor) { body(operation) }
    }

    /// Whether all of a payload is operations that this version knows.
    static func areValid(in payload: UnsafeRawBufferPointer) -> Bool {
        var cursor = 0
        while cursor < payload.count, parse(payload, at: &cursor) != nil {}
        return cursor == payload.count && cursor > 0
    }

    /// Reads the operation at `cursor` and moves `cursor` to its end.
    ///
    /// - Returns: The operation, or nil when there is none that this version knows.
    // Compiled once: inlined, it takes half a kilobyte in each of its callers.
    @inline(never)
    static func parse(_ payload: UnsafeRawBufferPointer, at cursor: inout Int) -> Operation? {
        let left = payload.count - cursor
        guard left >= 1 else { return nil }
        switch payload[cursor] {
        case 1:
            guard left >= setOverhead else { return nil }
            let keyLength = Int(payload.littleEndian(at: cursor + 1, as: UInt16.self))
            let valueLength = Int(payload.littleEndian(at: cursor + 3, as: UInt32.self))
            guard keyLength > 0, left - setOverhead - keyLength >= valueLength else { return nil }
            let keyStart = cursor + setOverhead
            let valueStart = keyStart + keyLength
            cursor = valueStart + valueLength
            return .set(
                key: UnsafeRawBufferPointer(rebasing: payload[keyStart..<valueStart]),
                value: UnsafeRawBufferPointer(rebasing: payload[valueStart..<cursor])
            )
        case 2:
            guard left >= removeOverhead else { return nil }
            let keyLength = Int(payload.littleEndian(at: cursor + 1, as: UInt16.self))
            guard keyLength > 0, left - removeOverhead >= keyLength else { return nil }
            let keyStart = cursor + removeOverhead
            cursor = keyStart + keyLength
            return .remove(key: UnsafeRawBufferPointer(rebasing: payload[keyStart..<cursor]))
        case 3:
            cursor += 1
            return .removeAll
        case 4:
            guard left >= movedSize else { return nil }
            let salt = payload.littleEndian(at: cursor + 1, as: UInt64.self)
            let end = payload.littleEndian(at: cursor + 9, as: UInt64.self)
            cursor += movedSize
            return .moved(salt: salt, end: end)
        default:
            return nil
        }
    }
}

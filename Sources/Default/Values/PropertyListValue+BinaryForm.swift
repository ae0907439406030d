#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// How a value is stored in a journal. The article "File format" describes it for implementations in other languages.
// Existing files contain these bytes, so a change needs a new format version.
extension PropertyListValue {
    /// The first byte of a value, which identifies its type.
    enum Tag: UInt8 {
        case data = 1
        case string = 2
        case booleanFalse = 3
        case booleanTrue = 4
        case integer = 5
        case unsigned = 6
        case real = 7
        case date = 8
        case array = 9
        case dictionary = 10
    }

    /// The value as bytes, in the form that ``FileDefaults`` stores; for stores that store bytes.
    ///
    /// Equal values have equal bytes. <doc:FileFormat> describes them.
    public var binaryForm: Data { Data(bytes) }

    /// The value as bytes; see ``binaryForm``.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        encode(to: &bytes)
        return bytes
    }

    /// Calls a body with the bytes for the journal: the first, which identifies the type, and the rest.
    ///
    /// Without copies: each costs two changes of a count that all threads see.
    func withBytes(_ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Void) {
        switch self {
        case .data(let data):
            data.withUnsafeBytes { body(Tag.data.rawValue, $0) }
        case .string(var string):
            string.withUTF8 { body(Tag.string.rawValue, UnsafeRawBufferPointer($0)) }
        case .array, .dictionary:
            bytes.withUnsafeBytes { body($0[0], UnsafeRawBufferPointer(rebasing: $0[1...])) }
        case .boolean, .integer, .unsigned, .real, .date:
            let (tag, bits) = number
            withUnsafeBytes(of: bits?.littleEndian ?? 0) {
                body(tag.rawValue, UnsafeRawBufferPointer(rebasing: $0[..<(bits == nil ? 0 : 8)]))
            }
        }
    }

    /// The first byte and the bits of a number or a date; a Boolean has no bits.
    private var number: (tag: Tag, bits: UInt64?) {
        switch self {
        case .boolean(let boolean): (boolean ? .booleanTrue : .booleanFalse, nil)
        case .integer(let integer): (.integer, UInt64(bitPattern: integer))
        case .unsigned(let unsigned): (.unsigned, unsigned)
        case .real(let real): (.real, real.bitPattern)
        case .date(let date): (.date, date.timeIntervalSinceReferenceDate.bitPattern)
        case .data, .string, .array, .dictionary: preconditionFailure("The value is no number.")
        }
    }

    private func encode(to bytes: inout [UInt8]) {
        switch self {
        case .data(let data):
            bytes.append(Tag.data.rawValue)
            bytes.append(contentsOf: data)
        case .string(let string):
            bytes.append(Tag.string.rawValue)
            bytes.append(contentsOf: string.utf8)
        case .array(let elements):
            bytes.append(Tag.array.rawValue)
            for element in elements {
                bytes.appendCounted { element.encode(to: &$0) }
            }
        case .dictionary(let entries):
            bytes.append(Tag.dictionary.rawValue)
            // Sorted, so that equal values have equal bytes.
            for key in Array(entries.keys).inOrder(by: { $0.precedesInUTF8($1) }) {
                bytes.appendCounted { $0.append(contentsOf: key.utf8) }
                bytes.appendCounted { entries[key]?.encode(to: &$0) }
            }
        case .boolean, .integer, .unsigned, .real, .date:
            let (tag, bits) = number
            bytes.append(tag.rawValue)
            if let bits {
                withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
            }
        }
    }

    /// Creates a value from its bytes.
    ///
    /// The result is nil when the bytes are not those of a value, or when the value nests more than 256 levels.
    ///
    /// - Parameter binaryForm: The bytes, as returned by ``binaryForm``.
    public init?(binaryForm: Data) {
        guard let value = binaryForm.withUnsafeBytes({ Self.decode($0, depth: 0) }) else { return nil }
        self = value
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, depth: Int) -> PropertyListValue? {
        guard let tag = bytes.first.flatMap(Tag.init(rawValue:)) else { return nil }
        var rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
        switch tag {
        case .data: return .data(Data(rest))
        case .string: return String(strictUTF8: rest).map { .string($0) }
        case .booleanFalse, .booleanTrue: return rest.isEmpty ? .boolean(tag == .booleanTrue) : nil
        case .integer: return rest.bits.map { .integer(Int64(bitPattern: $0)) }
        case .unsigned: return rest.bits.map { .unsigned($0) }
        case .real: return rest.bits.map { .real(Double(bitPattern: $0)) }
        case .date: return rest.bits.map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case .array where depth < maximumDepth:
            var elements: [PropertyListValue] = []
            while !rest.isEmpty {
                guard let bytes = rest.takeCounted(), let element = decode(bytes, depth: depth + 1) else { return nil }
                elements.append(element)
            }
            return .array(elements)
        case .dictionary where depth < maximumDepth:
            var entries: [String: PropertyListValue] = [:]
            while !rest.isEmpty {
                guard let keyBytes = rest.takeCounted(), let key = String(strictUTF8: keyBytes),
                    let bytes = rest.takeCounted(), let value = decode(bytes, depth: depth + 1)
                else {
                    return nil
                }
                entries[key] = value
            }
            return .dictionary(entries)
        case .array, .dictionary: return nil
        }
    }
}

extension String {
    /// Creates a string from UTF-8; nil when the bytes are something else.
    ///
    /// The standard library's initializer that does this needs macOS 15.
    init?(strictUTF8 bytes: UnsafeRawBufferPointer) {
        // Each byte that isn't UTF-8 is replaced by others.
        self.init(decoding: bytes, as: UTF8.self)
        guard withUTF8({ UnsafeRawBufferPointer($0).isSame(as: bytes) }) else { return nil }
    }
}

extension [UInt8] {
    /// Appends a four-byte length, then the bytes that a body appends.
    fileprivate mutating func appendCounted(_ appendBytes: (inout Self) -> Void) {
        let start = count
        append(contentsOf: [0, 0, 0, 0])
        appendBytes(&self)
        let length = UInt32(truncatingIfNeeded: count - start - 4).littleEndian
        withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as a little-endian number; nil unless there are eight.
    fileprivate var bits: UInt64? {
        count == 8 ? UInt64(littleEndian: loadUnaligned(as: UInt64.self)) : nil
    }

    /// Removes a four-byte length and that many bytes, and returns the latter.
    fileprivate mutating func takeCounted() -> UnsafeRawBufferPointer? {
        guard count >= 4 else { return nil }
        let length = Int(UInt32(littleEndian: loadUnaligned(as: UInt32.self)))
        guard count - 4 >= length else { return nil }
        defer { self = UnsafeRawBufferPointer(rebasing: self[(4 + length)...]) }
        return UnsafeRawBufferPointer(rebasing: self[4..<4 + length])
    }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A property-list value with an explicit type: what a store holds for a key.
///
/// `Any` can hold objects that change later, objects that a property list can't hold, and objects whose type is
/// ambiguous (an `NSNumber` casts to `Bool` and to `Int`). Stores use this type instead, and
/// ``PropertyListConvertible`` types convert themselves to it.
public enum PropertyListValue: Hashable, Sendable {
    /// A string.
    case string(String)
    /// A Boolean. It is distinct from the numbers 0 and 1.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number over `Int64.max`; smaller ones are an ``integer(_:)``.
    case unsigned(UInt64)
    /// A floating-point number.
    case real(Double)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// An array.
    case array([PropertyListValue])
    /// A dictionary with strings as keys.
    case dictionary([String: PropertyListValue])

    /// Whether two values are equal.
    public static func == (one: PropertyListValue, other: PropertyListValue) -> Bool {
        // Compares bytes with `isSame`, which doesn't look at those of copies.
        switch (one, other) {
        case (.string(let one), .string(let other)): one == other
        case (.boolean(let one), .boolean(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.unsigned(let one), .unsigned(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.data(let one), .data(let other)): one.isSame(as: other)
        case (.date(let one), .date(let other)): one == other
        case (.array(let one), .array(let other)): one.count == other.count && zip(one, other).allSatisfy { $0 == $1 }
        case (.dictionary(let one), .dictionary(let other)):
            one.count == other.count && one.allSatisfy { key, value in other[key].map { $0 == value } ?? false }
        default: false
        }
    }
}

extension PropertyListValue: PropertyListConvertible {
    /// The value itself.
    public var propertyListValue: PropertyListValue { self }

    /// Creates a value from a stored value, which is any property-list value.
    public init?(propertyListValue: PropertyListValue) { self = propertyListValue }

    /// The maximum nesting of arrays and dictionaries: far more than settings need, far less than the stack allows.
    package static let maximumDepth = 256

    var isReal: Bool {
        if case .real = self { true } else { false }
    }

    /// Whether arrays and dictionaries nest deeper than a store can read back.
    package var isTooDeep: Bool { nestsDeeper(than: Self.maximumDepth) }

    private func nestsDeeper(than depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth == 0 || elements.contains { $0.nestsDeeper(than: depth - 1) }
        case .dictionary(let entries): depth == 0 || entries.values.contains { $0.nestsDeeper(than: depth - 1) }
        default: false
        }
    }

    /// Whether two values have the same binary form.
    ///
    /// Equal values need not have it: "é" has two, and 0 is equal to -0.0. And NaN is not equal to itself.
    func isSame(as other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let other)): one.hasSameUTF8(as: other)
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.data(let one), .data(let other)): one.isSame(as: other)
        case (.date, .date), (.array, .array), (.dictionary, .dictionary): bytes == other.bytes
        default: self == other
        }
    }
}

extension PropertyListValue? {
    /// Whether there are two values with the same binary form, or none.
    func isSame(as other: PropertyListValue?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isSame(as: other)
    }
}

extension [PropertyListValue?] {
    /// Whether all elements have the same binary form as those of another array.
    func areSame(as others: [PropertyListValue?]) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.isSame(as: $1) }
    }
}

// The conversions of UserDefaults's typed getters: numbers and strings are converted to each other, other types are
// not.
extension PropertyListValue {
    /// The result of `string(forKey:)`.
    var asString: String? {
        switch self {
        case .string(let string): string
        case .boolean(let boolean): boolean ? "1" : "0"
        case .integer(let integer): "\(integer)"
        case .unsigned(let unsigned): "\(unsigned)"
        case .real(let real): Self.text(of: real)
        default: nil
        }
    }

    /// The text of a number; that of a `Float`, 12.34 and not 12.34000015258789, where this is one.
    ///
    /// A stored `Float` has become a `Double`. A `Double` that has a fraction, needs more than 15 digits, and is a
    /// `Float` as well, was hardly anything else before.
    private static func text(of real: Double) -> String {
        if real.rounded() != real, let float = Float(exactly: real), digitCount(of: real) > 15 {
            return "\(float)"
        }
        return NumberText.text(of: real)
    }

    /// The number of digits from the first that isn't 0, without the exponent.
    private static func digitCount(of real: Double) -> Int {
        var count = 0
        for byte in "\(real)".utf8 {
            switch byte {
            case UInt8(ascii: "e"): return count
            case UInt8(ascii: "0"): count += count > 0 ? 1 : 0
            case UInt8(ascii: "1")...UInt8(ascii: "9"): count += 1
            default: break
            }
        }
        return count
    }

    /// The result of `integer(forKey:)`: the whole part, clamped to the range of `Int`; 0 for anything but a number.
    var asInteger: Int {
        switch self {
        case .string(let string): NumberText.integer(in: string)
        case .boolean(let boolean): boolean ? 1 : 0
        case .real(let real): real.isNaN ? 0 : Int(exactly: real.rounded(.towardZero)) ?? (real < 0 ? .min : .max)
        case .integer(let integer): Int(clamping: integer)
        case .unsigned(let unsigned): Int(clamping: unsigned)
        default: 0
        }
    }

    /// The result of `double(forKey:)`; 0 for anything but a number.
    var asDouble: Double {
        switch self {
        case .string(let string): NumberText.double(in: string)
        case .boolean(let boolean): boolean ? 1 : 0
        case .integer(let integer): Double(integer)
        case .unsigned(let unsigned): Double(unsigned)
        case .real(let real): real
        default: 0
        }
    }

    /// The result of `bool(forKey:)`: true for numbers other than 0, and for strings like "YES", "true" and "1".
    var asBool: Bool {
        switch self {
        case .string(let string): NumberText.boolean(in: string)
        default: asDouble != 0
        }
    }

    /// The result of `url(forKey:)`: an absolute URL as it was set, or a file URL for a path.
    var asURL: URL? {
        guard case .string(let string) = self else { return nil }
        guard string.hasPrefix("/") || string.hasPrefix("~") else { return URL(string: string) }
        let path = string.hasPrefix("~") ? NumberText.expandingTilde(in: string) : string
        return URL(fileURLWithPath: path, isDirectory: path.hasSuffix("/"))
    }

    /// Whether this is a number or a Boolean.
    private var isNumber: Bool {
        switch self {
        case .boolean, .integer, .unsigned, .real: true
        default: false
        }
    }

    /// Whether ``asInteger`` and ``asDouble`` find a number, which may be 0.
    var isNumeric: Bool {
        guard case .string(let string) = self else { return isNumber }
        var scanner = NumberScanner(string)
        scanner.skipSpaces()
        scanner.take("+-")
        scanner.take(".")
        return !scanner.takeDigits().isEmpty
    }

    /// Whether ``asBool`` finds a value that means true or false.
    var isBoolean: Bool {
        guard case .string(let string) = self else { return isNumber }
        var scanner = NumberScanner(string)
        scanner.skipSpaces()
        return isNumeric || !scanner.take("yYtTnNfF").isEmpty
    }

    // How a value is stored in a journal. The article "File format" describes it for implementations in other
    // languages. Existing files contain these bytes, so a change needs a new format version.

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
    /// The same value always has the same bytes; values that are equal as Swift's strings and numbers may have others,
    /// such as "é" in two forms, or the two zeros. <doc:FileFormat> describes them.
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
    func withBytes<Result>(_ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .data(let data):
            return data.withUnsafeBytes { body(Tag.data.rawValue, $0) }
        case .string(var string):
            return string.withUTF8 { body(Tag.string.rawValue, UnsafeRawBufferPointer($0)) }
        case .array, .dictionary:
            return bytes.withUnsafeBytes { body($0[0], UnsafeRawBufferPointer(rebasing: $0[1...])) }
        case .boolean, .integer, .unsigned, .real, .date:
            let (tag, bits) = number
            return withUnsafeBytes(of: bits?.littleEndian ?? 0) {
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
            for key in entries.keys.sorted(by: { $0.precedesInUTF8($1) }) {
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

    /// A number, a Boolean or a date in its binary form; nil for anything else.
    init?(number bytes: UnsafeRawBufferPointer) {
        guard let tag = bytes.first.flatMap(Tag.init(rawValue:)) else { return nil }
        let bits = UnsafeRawBufferPointer(rebasing: bytes.dropFirst()).bits
        switch (tag, bits) {
        case (.booleanFalse, nil) where bytes.count == 1: self = .boolean(false)
        case (.booleanTrue, nil) where bytes.count == 1: self = .boolean(true)
        case (.integer, let bits?): self = .integer(Int64(bitPattern: bits))
        case (.unsigned, let bits?): self = .unsigned(bits)
        case (.real, let bits?): self = .real(Double(bitPattern: bits))
        case (.date, let bits?): self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        default: return nil
        }
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, depth: Int) -> PropertyListValue? {
        guard let tag = bytes.first.flatMap(Tag.init(rawValue:)) else { return nil }
        var rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
        switch tag {
        case .data: return .data(Data(rest))
        case .string: return String(strictUTF8: rest).map { .string($0) }
        case .booleanFalse, .booleanTrue, .integer, .unsigned, .real, .date: return PropertyListValue(number: bytes)
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
                else { return nil }
                entries[key] = value
            }
            return .dictionary(entries)
        case .array, .dictionary: return nil
        }
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
    fileprivate var bits: UInt64? { count == 8 ? UInt64(littleEndian: loadUnaligned(as: UInt64.self)) : nil }

    /// Removes a four-byte length and that many bytes, and returns the latter.
    fileprivate mutating func takeCounted() -> UnsafeRawBufferPointer? {
        guard count >= 4 else { return nil }
        let length = Int(UInt32(littleEndian: loadUnaligned(as: UInt32.self)))
        guard count - 4 >= length else { return nil }
        defer { self = UnsafeRawBufferPointer(rebasing: self[(4 + length)...]) }
        return UnsafeRawBufferPointer(rebasing: self[4..<4 + length])
    }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A property-list value with an explicit type: what a store holds for a key.
///
/// `Any` can hold objects that change later, objects that a property list can't hold, and objects whose type is ambiguous
/// (an `NSNumber` casts to `Bool` and to `Int`). Stores use this type instead, and ``PropertyListConvertible`` types convert
/// themselves to it.
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
}

extension PropertyListValue {
    /// Whether two values are equal.
    public static func == (one: PropertyListValue, other: PropertyListValue) -> Bool {
        // Made by the compiler, this would be six times as large.
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
    public init?(propertyListValue: PropertyListValue) {
        self = propertyListValue
    }
}

extension PropertyListValue {
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
}

extension PropertyListValue {
    /// Whether two values have the same binary form.
    ///
    /// Equal values need not have it: "é" has two, and 0 is equal to -0.0. And NaN is not equal to itself.
    // Compiled once: inlined, it takes three kilobytes in each of its callers.
    @inline(never)
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
        guard let self, let other else {
            return self == nil && other == nil
        }
        return self.isSame(as: other)
    }
}

extension [PropertyListValue?] {
    /// Whether all elements have the same binary form as those of another array.
    func areSame(as others: [PropertyListValue?]) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.isSame(as: $1) }
    }
}

// The conversions of UserDefaults's typed getters: numbers and strings are converted to each other, other types are not.
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
    /// A stored `Float` has become a `Double`. A `Double` that has a fraction, needs more than 15 digits, and is a `Float` as well,
    /// was hardly anything else before.
    private static func text(of real: Double) -> String {
        if real.rounded() != real, let float = Float(exactly: real) {
            let digits = "\(real)".split(separator: "e")[0].filter(\.isNumber).drop { $0 == "0" }
            if digits.count > 15 {
                return "\(float)"
            }
        }
        return NumberText.text(of: real)
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
        if string.hasPrefix("/") {
            return URL(fileURLWithPath: string, isDirectory: string.hasSuffix("/"))
        }
        if string.hasPrefix("~") {
            let path = NumberText.expandingTilde(in: string)
            return URL(fileURLWithPath: path, isDirectory: path.hasSuffix("/"))
        }
        return URL(string: string)
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
        guard case .string(let string) = self else {
            return isNumber
        }
        var digits = string[...]
        digits.skip(while: \.isWhitespace)
        if digits.first == "+" || digits.first == "-" {
            digits.removeFirst()
        }
        if digits.first == "." {
            digits.removeFirst()
        }
        return digits.first?.isASCII == true && digits.first?.isNumber == true
    }

    /// Whether ``asBool`` finds a value that means true or false.
    var isBoolean: Bool {
        guard case .string(let string) = self else {
            return isNumber
        }
        var rest = string[...]
        rest.skip(while: \.isWhitespace)
        let word = rest.lowercased()
        return isNumeric || word.hasPrefix("y") || word.hasPrefix("t") || word.hasPrefix("n") || word.hasPrefix("f")
    }
}

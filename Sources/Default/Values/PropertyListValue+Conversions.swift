#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
            let digits = "\(real)".prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }
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

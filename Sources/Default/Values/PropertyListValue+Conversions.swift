internal import Foundation

// The conversions of UserDefaults's typed getters: numbers and strings are converted to each other, other types are not.
extension PropertyListValue {
    /// The result of `string(forKey:)`.
    var asString: String? {
        switch self {
        case .string(let string): string
        case .real(let real): Self.text(of: real)
        default: asNumber?.stringValue
        }
    }

    /// The text of a number; that of a `Float`, 12.34 and not 12.34000015258789, where this is one.
    ///
    /// A stored `Float` has become a `Double`. A `Double` that has a fraction, needs more than 15 digits, and is a `Float` as well,
    /// was hardly anything else before.
    private static func text(of real: Double) -> String {
        let float = Float(exactly: real)
        let isShort = real.rounded() == real || Double(String(format: "%.15g", real)) == real
        return float.flatMap { isShort ? nil : "\($0)" } ?? NSNumber(value: real).stringValue
    }

    /// The result of `integer(forKey:)`: the whole part, clamped to the range of `Int`; 0 for anything but a number.
    var asInteger: Int {
        switch self {
        case .string(let string): (string as NSString).integerValue
        case .real(let real): real.isNaN ? 0 : Int(exactly: real.rounded(.towardZero)) ?? (real < 0 ? .min : .max)
        case .integer(let integer): Int(clamping: integer)
        case .unsigned(let unsigned): Int(clamping: unsigned)
        default: asNumber?.intValue ?? 0
        }
    }

    /// The result of `double(forKey:)`; 0 for anything but a number.
    var asDouble: Double {
        switch self {
        case .string(let string): (string as NSString).doubleValue
        default: asNumber?.doubleValue ?? 0
        }
    }

    /// The result of `bool(forKey:)`: true for numbers other than 0, and for strings like "YES", "true" and "1".
    var asBool: Bool {
        switch self {
        case .string(let string): (string as NSString).boolValue
        case .real(let real): real != 0
        default: asNumber?.boolValue ?? false
        }
    }

    /// The result of `url(forKey:)`: an absolute URL as it was set, or a file URL for a path.
    var asURL: URL? {
        guard case .string(let string) = self else { return nil }
        if string.hasPrefix("/") {
            return URL(fileURLWithPath: string, isDirectory: string.hasSuffix("/"))
        }
        if string.hasPrefix("~") {
            let path = (string as NSString).expandingTildeInPath
            return URL(fileURLWithPath: path, isDirectory: path.hasSuffix("/"))
        }
        return URL(string: string)
    }

    /// The number, Booleans included; strings are not numbers.
    var asNumber: NSNumber? {
        switch self {
        case .boolean(let boolean): NSNumber(value: boolean)
        case .integer(let integer): NSNumber(value: integer)
        case .unsigned(let unsigned): NSNumber(value: unsigned)
        case .real(let real): NSNumber(value: real)
        default: nil
        }
    }

    /// Whether ``asInteger`` and ``asDouble`` find a number, which may be 0.
    var isNumeric: Bool {
        guard case .string(let string) = self else {
            return asNumber != nil
        }
        var digits = string.drop(while: \.isWhitespace)
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
            return asNumber != nil
        }
        let word = string.drop(while: \.isWhitespace).lowercased()
        return isNumeric || word.hasPrefix("y") || word.hasPrefix("t") || word.hasPrefix("n") || word.hasPrefix("f")
    }
}

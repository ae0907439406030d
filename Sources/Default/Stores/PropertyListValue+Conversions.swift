internal import Foundation

// The conversions of UserDefaults's typed getters: numbers and strings stand in for each other, nothing else does.
extension PropertyListValue {
    /// What `string(forKey:)` gives.
    var asString: String? {
        switch self {
        case .string(let string): string
        default: number?.stringValue
        }
    }

    /// What `integer(forKey:)` gives: whole part, kept within the range of `Int`; 0 for what is no number.
    var asInteger: Int {
        switch self {
        case .string(let string): (string as NSString).integerValue
        case .real(let real): real.isNaN ? 0 : Int(exactly: real.rounded(.towardZero)) ?? (real < 0 ? .min : .max)
        case .unsigned: .max
        default: number?.intValue ?? 0
        }
    }

    /// What `double(forKey:)` gives; 0 for what is no number.
    var asDouble: Double {
        switch self {
        case .string(let string): (string as NSString).doubleValue
        default: number?.doubleValue ?? 0
        }
    }

    /// What `bool(forKey:)` gives: true for numbers but 0, and for strings like "YES", "true" and "1".
    var asBool: Bool {
        switch self {
        case .string(let string): (string as NSString).boolValue
        case .real(let real): real != 0
        default: number?.boolValue ?? false
        }
    }

    /// What `url(forKey:)` gives: an absolute URL as it was set, and a path as a file URL.
    var asURL: URL? {
        guard case .string(let string) = self else {
            return nil
        }
        if string.hasPrefix("/") {
            return URL(filePath: string)
        }
        if string.hasPrefix("~") {
            return URL(filePath: (string as NSString).expandingTildeInPath)
        }
        return URL(string: string)
    }

    private var number: NSNumber? {
        switch self {
        case .boolean(let boolean): NSNumber(value: boolean)
        case .integer(let integer): NSNumber(value: integer)
        case .unsigned(let unsigned): NSNumber(value: unsigned)
        case .real(let real): NSNumber(value: real)
        default: nil
        }
    }
}

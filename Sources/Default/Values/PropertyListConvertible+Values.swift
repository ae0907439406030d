#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension String: PropertyListConvertible {
    /// The string.
    public var propertyListValue: PropertyListValue { .string(self) }

    /// Creates a string from a stored value; the result is nil when the value is not a string.
    public init?(propertyListValue: PropertyListValue) {
        guard case .string(let string) = propertyListValue else { return nil }
        self = string
    }
}

extension Data: PropertyListConvertible {
    /// The bytes.
    public var propertyListValue: PropertyListValue { .data(self) }

    /// Creates `Data` from a stored value; the result is nil when the value is not `Data`.
    public init?(propertyListValue: PropertyListValue) {
        guard case .data(let data) = propertyListValue else { return nil }
        self = data
    }
}

extension Date: PropertyListConvertible {
    /// The date.
    public var propertyListValue: PropertyListValue { .date(self) }

    /// Creates a date from a stored value; the result is nil when the value is not a date.
    public init?(propertyListValue: PropertyListValue) {
        guard case .date(let date) = propertyListValue else { return nil }
        self = date
    }
}

extension URL: PropertyListConvertible {
    /// The absolute string.
    public var propertyListValue: PropertyListValue { .string(absoluteString) }

    /// Creates a URL from a stored string; the result is nil when the value is not a string, or when the string is not a URL.
    public init?(propertyListValue: PropertyListValue) {
        // Foundation escapes a quotation mark, which begins no URL, but the JSON of one that another library stored.
        guard case .string(let string) = propertyListValue, string.utf8.first != UInt8(ascii: "\"") else { return nil }
        self.init(string: string)
    }
}

extension UUID: PropertyListConvertible {
    /// The UUID's string, in upper case.
    public var propertyListValue: PropertyListValue { .string(uuidString) }

    /// Creates a UUID from a stored string, in upper or lower case; the result is nil for anything else.
    public init?(propertyListValue: PropertyListValue) {
        guard case .string(let string) = propertyListValue else { return nil }
        self.init(uuidString: string)
    }
}

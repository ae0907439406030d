public import Foundation

extension String: PropertyListConvertible {
    /// The string.
    public var propertyListValue: PropertyListValue { .string(self) }

    /// Takes a string from a store.
    ///
    /// The result is nil when it is not a string.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .string(let string) = propertyListValue else {
            return nil
        }
        self = string
    }
}

extension Data: PropertyListConvertible {
    /// The bytes.
    public var propertyListValue: PropertyListValue { .data(self) }

    /// Takes bytes from a store.
    ///
    /// The result is nil when it is no `Data`.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .data(let data) = propertyListValue else {
            return nil
        }
        self = data
    }
}

extension Date: PropertyListConvertible {
    /// The date.
    public var propertyListValue: PropertyListValue { .date(self) }

    /// Takes a date from a store.
    ///
    /// The result is nil when it is not a date.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .date(let date) = propertyListValue else {
            return nil
        }
        self = date
    }
}

extension URL: PropertyListConvertible {
    /// The absolute string.
    public var propertyListValue: PropertyListValue { .string(absoluteString) }

    /// Takes a URL's string from a store.
    ///
    /// The result is nil when it is not a string, or not that of a URL.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .string(let string) = propertyListValue else {
            return nil
        }
        self.init(string: string)
    }
}

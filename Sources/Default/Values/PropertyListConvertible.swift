/// A type whose values are stored as property-list values, so that `object(forKey:)`, `string(forKey:)` and the like can
/// read and write them too.
///
/// `String`, `Bool`, integers, `Float`, `Double`, `Data`, `Date`, `URL`, and arrays and string-keyed dictionaries of those
/// conform. Typed keys and containers store every other `Codable` type as JSON `Data`. Conform your own type to choose how
/// it is stored:
///
/// ```swift
/// struct Color: PropertyListConvertible {
///     var hexadecimal: String
///
///     var propertyListValue: PropertyListValue { .string(hexadecimal) }
///
///     init?(propertyListValue: PropertyListValue) {
///         guard case .string(let text) = propertyListValue else { return nil }
///         hexadecimal = text
///     }
/// }
/// ```
///
/// An enum or option set with such a raw value needs the conformance only when it is an element of an array or a dictionary.
/// Both members have default implementations then: `extension Theme: PropertyListConvertible {}`.
public protocol PropertyListConvertible: SendableMetatype {
    /// The value as a property-list value.
    var propertyListValue: PropertyListValue { get }

    /// Creates a value from a stored value.
    ///
    /// The result is nil when the stored value can't be converted to this type. It stays stored, and an event reports it.
    ///
    /// - Parameter propertyListValue: The stored value.
    init?(propertyListValue: PropertyListValue)
}

extension PropertyListConvertible where Self: RawRepresentable, RawValue: PropertyListConvertible {
    /// The raw value.
    public var propertyListValue: PropertyListValue { rawValue.propertyListValue }

    /// Creates a value from a stored raw value.
    ///
    /// The result is nil when the stored value is not a raw value of this type.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        guard let rawValue = RawValue(propertyListValue: propertyListValue) else { return nil }
        self.init(rawValue: rawValue)
    }
}

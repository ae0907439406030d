/// A type whose values stores keep as property-list values, so that they are readable with `object(forKey:)`,
/// `string(forKey:)` and the like, and the other way round.
///
/// `String`, `Bool`, integers, `Float`, `Double`, `Data`, `Date`, `URL`, and arrays and string-keyed dictionaries of those are
/// such types. Typed keys and containers store every other `Codable` type as JSON `Data`; conform a type of yours to choose
/// its form yourself:
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
/// An enum or option set with such a raw value needs the conformance only as an element of an array or a dictionary, and
/// gets both members without code: `extension Theme: PropertyListConvertible {}`.
public protocol PropertyListConvertible: SendableMetatype {
    /// The value as a store keeps it.
    var propertyListValue: PropertyListValue { get }

    /// Takes a value from a store.
    ///
    /// The result is nil for what is not a value of this type; it stays stored, and is reported.
    ///
    /// - Parameter propertyListValue: What is stored.
    init?(propertyListValue: PropertyListValue)
}

extension PropertyListConvertible where Self: RawRepresentable, RawValue: PropertyListConvertible {
    /// The raw value.
    public var propertyListValue: PropertyListValue { rawValue.propertyListValue }

    /// Takes a raw value from a store.
    ///
    /// The result is nil when it is not a raw value of this type.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard let rawValue = RawValue(propertyListValue: propertyListValue) else {
            return nil
        }
        self.init(rawValue: rawValue)
    }
}

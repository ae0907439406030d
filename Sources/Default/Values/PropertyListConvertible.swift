#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type whose values are stored as property-list values, so that `object(forKey:)`, `string(forKey:)` and the like
/// can read and write them too.
///
/// `String`, `Bool`, integers, `Float`, `Double`, `Data`, `Date`, `URL`, and arrays and string-keyed dictionaries of
/// those conform. Typed keys and containers store every other `Codable` type as JSON `Data`. Conform your own type to
/// choose how it is stored:
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
/// An enum or option set with such a raw value needs the conformance only when it is an element of an array or a
/// dictionary. Both members have default implementations then: `extension Theme: PropertyListConvertible {}`.
public protocol PropertyListConvertible: SendableMetatype {
    /// The value as a property-list value.
    var propertyListValue: PropertyListValue { get }

    /// Creates a value from a stored value.
    ///
    /// The result is nil when the stored value can't be converted to this type. It stays stored, and an event reports
    /// it.
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

    /// Creates a URL from a stored string; the result is nil when the value is not a string, or when the string is not
    /// a URL.
    public init?(propertyListValue: PropertyListValue) {
        // Foundation escapes a quotation mark, which begins no URL, but the JSON of one that another library stored.
        guard case .string(let string) = propertyListValue, !string.hasPrefix("\"") else { return nil }
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

// A number can be read as any numeric type that represents it exactly, and as a Boolean. So can a Boolean as 0 or 1,
// and the whole text of a launch argument, or of a string that `defaults write` stored.

extension PropertyListConvertible where Self: FixedWidthInteger {
    /// The number.
    public var propertyListValue: PropertyListValue {
        if let integer = Int64(exactly: self) {
            .integer(integer)
        } else {
            // The integer types below have at most 64 bits, so this value is over Int64.max.
            .unsigned(UInt64(truncatingIfNeeded: self))
        }
    }

    /// Creates a number from a stored value.
    ///
    /// A Boolean is 1 or 0, and a string counts as the number that it consists of: "5", not "5 apples". The result is
    /// nil when the value is not a whole number, or when this type can't represent it.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .integer(let integer): self.init(exactly: integer)
        case .unsigned(let unsigned): self.init(exactly: unsigned)
        case .boolean(let boolean): self = boolean ? 1 : 0
        default:
            guard let number = propertyListValue.wholeNumber else { return nil }
            self.init(propertyListValue: number)
        }
    }
}

extension Int: PropertyListConvertible {}
extension Int8: PropertyListConvertible {}
extension Int16: PropertyListConvertible {}
extension Int32: PropertyListConvertible {}
extension Int64: PropertyListConvertible {}
extension UInt: PropertyListConvertible {}
extension UInt8: PropertyListConvertible {}
extension UInt16: PropertyListConvertible {}
extension UInt32: PropertyListConvertible {}
extension UInt64: PropertyListConvertible {}

extension Double: PropertyListConvertible {
    /// The number.
    public var propertyListValue: PropertyListValue { .real(self) }

    /// Creates a number from a stored value.
    ///
    /// A Boolean is 1 or 0, and a string counts as the number that it consists of: "2.5", not "2.5 l". The result is
    /// nil when the value is not a number, or when it is a whole number that this type can't represent exactly.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .real(let real): self = real
        case .integer(let integer): self.init(exactly: integer)
        case .unsigned(let unsigned): self.init(exactly: unsigned)
        case .boolean(let boolean): self = boolean ? 1 : 0
        case .string(let text):
            guard let number = PropertyListValue(number: text) else { return nil }
            self.init(propertyListValue: number)
        default: return nil
        }
    }
}

extension Float: PropertyListConvertible {
    /// The number, in double precision.
    public var propertyListValue: PropertyListValue { .real(Double(self)) }

    /// Creates a number from a stored value, rounded to single precision; the result is nil when the value is not a
    /// number, or is too large.
    public init?(propertyListValue: PropertyListValue) {
        guard let double = Double(propertyListValue: propertyListValue) else { return nil }
        self.init(double)
        // A finite number that became infinite would be lost at the next write.
        guard isFinite == double.isFinite else { return nil }
    }
}

extension Bool: PropertyListConvertible {
    /// The Boolean.
    public var propertyListValue: PropertyListValue { .boolean(self) }

    /// Creates a Boolean from a stored value.
    ///
    /// Any number but 0 is true. Of strings, those that consist of a number, or of "yes", "true", "y", "t", "no",
    /// "false", "n" or "f" in any case, are Booleans. The result is nil for anything else.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .boolean(let boolean): self = boolean
        case .integer(let integer): self = integer != 0
        case .unsigned(let unsigned): self = unsigned != 0
        case .real(let real): self = real != 0
        case .string(let text):
            switch text.lowercased() {
            case "yes", "true", "y", "t": self = true
            case "no", "false", "n", "f": self = false
            default:
                guard let number = PropertyListValue(number: text) else { return nil }
                self.init(propertyListValue: number)
            }
        default: return nil
        }
    }
}

extension PropertyListValue {
    /// The whole number of at most 64 bits that a floating-point number or a text represents; nil for anything else.
    fileprivate var wholeNumber: PropertyListValue? {
        switch self {
        case .real(let real): Int64(exactly: real).map { .integer($0) } ?? UInt64(exactly: real).map { .unsigned($0) }
        // Digits of more than 64 bits may be rounded to the least number of 64.
        case .string(let text) where Double(text) == -0x1p63: Int64(text).map { .integer($0) }
        case .string(let text): PropertyListValue(number: text).flatMap { $0.isReal ? $0.wholeNumber : $0 }
        default: nil
        }
    }

    /// The number that a text consists of; nil for any other text.
    ///
    /// Swift also reads "inf", "nan" and hexadecimal numbers, which no setting means.
    fileprivate init?(number text: String) {
        for byte in text.utf8 where !"0123456789+-.eE".utf8.contains(byte) {
            return nil
        }
        if let integer = Int64(text) {
            self = .integer(integer)
        } else if let unsigned = UInt64(text) {
            self = .unsigned(unsigned)
        } else if let real = Double(text), real.isFinite {
            self = .real(real)
        } else {
            return nil
        }
    }
}

extension PropertyListCollection where StoredElement: PropertyListConvertible {
    /// The elements as property-list values; those of a set are sorted, so that equal sets are stored as equal arrays.
    public var propertyListValue: PropertyListValue { propertyListValue(of: \.propertyListValue) }

    /// Creates a collection from a stored value; the result is nil for anything else, and when any element can't be
    /// converted.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        do {
            try self.init(propertyListValue: propertyListValue) { stored in
                guard let element = StoredElement(propertyListValue: stored) else { throw UnusableElement() }
                return element
            }
        } catch {
            return nil
        }
    }
}

private struct UnusableElement: Error {}

extension Array: PropertyListConvertible where Element: PropertyListConvertible {}
extension Dictionary: PropertyListConvertible where Key == String, Value: PropertyListConvertible {}
extension Set: PropertyListConvertible where Element: PropertyListConvertible {}

extension Range: PropertyListConvertible where Bound: PropertyListConvertible {
    /// An array of the two bounds, the lower one first.
    public var propertyListValue: PropertyListValue { [lowerBound, upperBound].propertyListValue }

    /// Creates a range from a stored array of two bounds; the result is nil for anything else, and when the upper bound
    /// is less than the lower one.
    public init?(propertyListValue: PropertyListValue) {
        guard let bounds = [Bound](propertyListValue: propertyListValue), bounds.count == 2, bounds[0] <= bounds[1]
        else { return nil }
        self = bounds[0]..<bounds[1]
    }
}

extension ClosedRange: PropertyListConvertible where Bound: PropertyListConvertible {
    /// An array of the two bounds, the lower one first.
    public var propertyListValue: PropertyListValue { [lowerBound, upperBound].propertyListValue }

    /// Creates a range from a stored array of two bounds; the result is nil for anything else, and when the upper bound
    /// is less than the lower one.
    public init?(propertyListValue: PropertyListValue) {
        guard let range = Range<Bound>(propertyListValue: propertyListValue) else { return nil }
        self = range.lowerBound...range.upperBound
    }
}

/// A collection that is stored as a property-list array or dictionary if each of its elements is stored as a
/// property-list value.
///
/// Arrays, sets and string-keyed dictionaries conform. So an array of enums is stored as an array of raw values, and an
/// array of `NSSecureCoding` objects as an array of archives. A collection of your own that conforms, and is
/// ``EmptyValueProviding``, can be the value of a typed key in the same way:
///
/// ```swift
/// struct Recents<Element>: PropertyListCollection, EmptyValueProviding {
///     var elements: [Element] = []
///
///     init() {}
///
///     func propertyListValue(
///         of element: (Element) throws -> PropertyListValue
///     ) rethrows -> PropertyListValue {
///         .array(try elements.map(element))
///     }
///
///     init?(
///         propertyListValue: PropertyListValue,
///         element: (PropertyListValue) throws -> Element
///     ) rethrows {
///         guard case .array(let values) = propertyListValue else { return nil }
///         elements = try values.map(element)
///     }
/// }
/// ```
public protocol PropertyListCollection {
    /// The type of the elements; of a dictionary, the type of its values.
    associatedtype StoredElement

    /// The collection as an array or a dictionary.
    ///
    /// - Parameter element: Converts an element.
    /// - Returns: The array or dictionary.
    /// - Throws: What the conversion throws.
    func propertyListValue(of element: (StoredElement) throws -> PropertyListValue) rethrows -> PropertyListValue

    /// Creates a collection from a stored value.
    ///
    /// The result is nil when the stored value is not such an array or dictionary. It stays stored, and an event
    /// reports it.
    ///
    /// - Parameters:
    ///   - propertyListValue: The stored value.
    ///   - element: Converts an element.
    /// - Throws: What the conversion throws.
    init?(propertyListValue: PropertyListValue, element: (PropertyListValue) throws -> StoredElement) rethrows
}

extension Array: PropertyListCollection {
    /// The array of the converted elements.
    public func propertyListValue(of element: (Element) throws -> PropertyListValue) rethrows -> PropertyListValue {
        .array(try map(element))
    }

    /// Creates an array from the elements of a stored one; the result is nil for anything else.
    public init?(propertyListValue: PropertyListValue, element: (PropertyListValue) throws -> Element) rethrows {
        guard case .array(let values) = propertyListValue else { return nil }
        self = try values.map(element)
    }
}

extension Set: PropertyListCollection {
    /// The array of the converted elements, sorted so that equal sets are stored as equal arrays.
    public func propertyListValue(of element: (Element) throws -> PropertyListValue) rethrows -> PropertyListValue {
        .array(try map(element).sorted { $0.precedes($1) })
    }

    /// Creates a set from the elements of a stored array; the result is nil for anything else.
    public init?(propertyListValue: PropertyListValue, element: (PropertyListValue) throws -> Element) rethrows {
        guard case .array(let values) = propertyListValue else { return nil }
        self = Set(try values.map(element))
    }
}

extension Dictionary: PropertyListCollection where Key == String {
    /// The dictionary with the converted values.
    public func propertyListValue(of element: (Value) throws -> PropertyListValue) rethrows -> PropertyListValue {
        .dictionary(try mapValues(element))
    }

    /// Creates a dictionary from the values of a stored one; the result is nil for anything else.
    public init?(propertyListValue: PropertyListValue, element: (PropertyListValue) throws -> Value) rethrows {
        guard case .dictionary(let entries) = propertyListValue else { return nil }
        self = try entries.mapValues(element)
    }
}

extension PropertyListValue {
    /// An order in which the elements of a set are stored: numbers and strings by value, others by their bytes.
    func precedes(_ other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let other)): one < other
        case (.integer(let one), .integer(let other)): one < other
        case (.real(let one), .real(let other)) where one < other || one > other: one < other
        default: bytes.lexicographicallyPrecedes(other.bytes)
        }
    }
}

/// A collection that is stored as a property-list array or dictionary if each of its elements is stored as a property-list
/// value.
///
/// Arrays, sets and string-keyed dictionaries conform. So an array of enums is stored as an array of raw values, and an array
/// of `NSSecureCoding` objects as an array of archives. A collection of your own that conforms, and is
/// ``EmptyValueProviding``, can be the value of a typed key in the same way:
///
/// ```swift
/// struct Recents<Element>: PropertyListCollection {
///     var elements: [Element] = []
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
    /// The result is nil when the stored value is not such an array or dictionary. It stays stored, and an event reports it.
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
        .array(try map(element).inOrder { $0.precedes($1) })
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

/// An optional, for code that knows a type only at run time.
protocol OptionalType {
    static var wrappedType: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrappedType: Any.Type { Wrapped.self }
}

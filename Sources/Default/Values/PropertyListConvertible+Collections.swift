extension Array: PropertyListConvertible where Element: PropertyListConvertible {
    /// The elements as property-list values.
    public var propertyListValue: PropertyListValue { .array(map(\.propertyListValue)) }

    /// Creates an array from a stored value; the result is nil for anything else, and when any element can't be converted.
    public init?(propertyListValue: PropertyListValue) {
        guard case .array(let values) = propertyListValue else { return nil }
        self = []
        reserveCapacity(values.count)
        for value in values {
            guard let element = Element(propertyListValue: value) else { return nil }
            append(element)
        }
    }
}

extension Dictionary: PropertyListConvertible where Key == String, Value: PropertyListConvertible {
    /// The entries as property-list values.
    public var propertyListValue: PropertyListValue { .dictionary(mapValues(\.propertyListValue)) }

    /// Creates a dictionary from a stored value; the result is nil for anything else, and when any value can't be converted.
    public init?(propertyListValue: PropertyListValue) {
        guard case .dictionary(let entries) = propertyListValue else { return nil }
        self.init(minimumCapacity: entries.count)
        for (key, entry) in entries {
            guard let value = Value(propertyListValue: entry) else { return nil }
            self[key] = value
        }
    }
}

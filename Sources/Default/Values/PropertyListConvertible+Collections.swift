extension Array: PropertyListConvertible where Element: PropertyListConvertible {
    /// The elements, each as a store keeps it.
    public var propertyListValue: PropertyListValue { .array(map(\.propertyListValue)) }

    /// Takes an array from a store.
    ///
    /// The result is nil when it is not an array, or one with an element that is not of this type: no element is left out.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .array(let values) = propertyListValue else {
            return nil
        }
        self = []
        reserveCapacity(values.count)
        for value in values {
            guard let element = Element(propertyListValue: value) else {
                return nil
            }
            append(element)
        }
    }
}

extension Dictionary: PropertyListConvertible where Key == String, Value: PropertyListConvertible {
    /// The entries, each as a store keeps it.
    public var propertyListValue: PropertyListValue { .dictionary(mapValues(\.propertyListValue)) }

    /// Takes a dictionary from a store.
    ///
    /// The result is nil when it is not a dictionary, or one with a value that is not of this type: no entry is left out.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .dictionary(let entries) = propertyListValue else {
            return nil
        }
        self.init(minimumCapacity: entries.count)
        for (key, entry) in entries {
            guard let value = Value(propertyListValue: entry) else {
                return nil
            }
            self[key] = value
        }
    }
}

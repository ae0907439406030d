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

extension Set: PropertyListConvertible where Element: PropertyListConvertible {
    /// The elements as an array of property-list values, sorted so that equal sets are stored as equal arrays.
    public var propertyListValue: PropertyListValue {
        propertyListValue(of: \.propertyListValue)
    }

    /// Creates a set from a stored array; the result is nil for anything else, and when any element can't be converted.
    public init?(propertyListValue: PropertyListValue) {
        guard let elements = [Element](propertyListValue: propertyListValue) else { return nil }
        self.init(elements)
    }
}

extension Range: PropertyListConvertible where Bound: PropertyListConvertible {
    /// An array of the two bounds, the lower one first.
    public var propertyListValue: PropertyListValue {
        .array([lowerBound.propertyListValue, upperBound.propertyListValue])
    }

    /// Creates a range from a stored array of two bounds; the result is nil for anything else, and when the upper bound is
    /// less than the lower one.
    public init?(propertyListValue: PropertyListValue) {
        guard let bounds = [Bound](propertyListValue: propertyListValue), bounds.count == 2, bounds[0] <= bounds[1]
        else {
            return nil
        }
        self = bounds[0]..<bounds[1]
    }
}

extension ClosedRange: PropertyListConvertible where Bound: PropertyListConvertible {
    /// An array of the two bounds, the lower one first.
    public var propertyListValue: PropertyListValue {
        .array([lowerBound.propertyListValue, upperBound.propertyListValue])
    }

    /// Creates a range from a stored array of two bounds; the result is nil for anything else, and when the upper bound is
    /// less than the lower one.
    public init?(propertyListValue: PropertyListValue) {
        guard let bounds = [Bound](propertyListValue: propertyListValue), bounds.count == 2, bounds[0] <= bounds[1]
        else {
            return nil
        }
        self = bounds[0]...bounds[1]
    }
}

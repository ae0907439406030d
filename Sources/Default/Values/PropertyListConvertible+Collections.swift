extension PropertyListCollection where StoredElement: PropertyListConvertible {
    /// The elements as property-list values; those of a set are sorted, so that equal sets are stored as equal arrays.
    public var propertyListValue: PropertyListValue { propertyListValue(of: \.propertyListValue) }

    /// Creates a collection from a stored value; the result is nil for anything else, and when any element can't be converted.
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
    public var propertyListValue: PropertyListValue {
        [lowerBound, upperBound].propertyListValue
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
        [lowerBound, upperBound].propertyListValue
    }

    /// Creates a range from a stored array of two bounds; the result is nil for anything else, and when the upper bound is
    /// less than the lower one.
    public init?(propertyListValue: PropertyListValue) {
        guard let range = Range<Bound>(propertyListValue: propertyListValue) else { return nil }
        self = range.lowerBound...range.upperBound
    }
}

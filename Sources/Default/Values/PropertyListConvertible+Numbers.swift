// A number can be read as any numeric type that represents it exactly. Booleans and strings are not numbers.

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

    /// Creates a number from a stored value; the result is nil when the value is not a whole number, or when this type can't
    /// represent it.
    public init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .integer(let integer): self.init(exactly: integer)
        case .unsigned(let unsigned): self.init(exactly: unsigned)
        case .real(let real): self.init(exactly: real)
        default: return nil
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
    /// The result is nil when the value is not a number, or when it is a whole number that this type can't represent
    /// exactly.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .real(let real): self = real
        case .integer(let integer): self.init(exactly: integer)
        case .unsigned(let unsigned): self.init(exactly: unsigned)
        default: return nil
        }
    }
}

extension Float: PropertyListConvertible {
    /// The number, in double precision.
    public var propertyListValue: PropertyListValue { .real(Double(self)) }

    /// Creates a number from a stored value, rounded to single precision; the result is nil when the value is not a number.
    public init?(propertyListValue: PropertyListValue) {
        guard let double = Double(propertyListValue: propertyListValue) else { return nil }
        self.init(double)
    }
}

extension Bool: PropertyListConvertible {
    /// The Boolean.
    public var propertyListValue: PropertyListValue { .boolean(self) }

    /// Creates a Boolean from a stored value; the result is nil for anything else, numbers and strings included.
    public init?(propertyListValue: PropertyListValue) {
        guard case .boolean(let boolean) = propertyListValue else { return nil }
        self = boolean
    }
}

// A number is read as any numeric type that can represent it exactly; Booleans and strings are not numbers.

extension PropertyListConvertible where Self: FixedWidthInteger {
    /// The number.
    public var propertyListValue: PropertyListValue {
        if let integer = Int64(exactly: self) {
            .integer(integer)
        } else {
            // The integers below have at most 64 bits: what is left is over Int64.max.
            .unsigned(UInt64(truncatingIfNeeded: self))
        }
    }

    /// Takes a number from a store.
    ///
    /// The result is nil when it is not a whole number, or one that this type can't hold.
    ///
    /// - Parameter propertyListValue: What is stored.
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

    /// Takes a number from a store.
    ///
    /// The result is nil when it is not a number, or a whole one that this type can't hold exactly.
    ///
    /// - Parameter propertyListValue: What is stored.
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

    /// Takes a number from a store, rounded to single precision.
    ///
    /// The result is nil when it is not a number.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard let double = Double(propertyListValue: propertyListValue) else {
            return nil
        }
        self.init(double)
    }
}

extension Bool: PropertyListConvertible {
    /// The Boolean.
    public var propertyListValue: PropertyListValue { .boolean(self) }

    /// Takes a Boolean from a store.
    ///
    /// The result is nil when it is not a Boolean; numbers and strings are not.
    ///
    /// - Parameter propertyListValue: What is stored.
    public init?(propertyListValue: PropertyListValue) {
        guard case .boolean(let boolean) = propertyListValue else {
            return nil
        }
        self = boolean
    }
}

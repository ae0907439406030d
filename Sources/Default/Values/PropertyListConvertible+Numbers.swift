// A number can be read as any numeric type that represents it exactly, and as a Boolean. So can a Boolean as 0 or 1, and the
// whole text of a launch argument, or of a string that `defaults write` stored.

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
    /// A Boolean is 1 or 0, and a string counts as the number that it consists of: "5", not "5 apples". The result is nil
    /// when the value is not a whole number, or when this type can't represent it.
    ///
    /// - Parameter propertyListValue: The stored value.
    public init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .integer(let integer): self.init(exactly: integer)
        case .unsigned(let unsigned): self.init(exactly: unsigned)
        case .real(let real): self.init(exactly: real)
        case .boolean(let boolean): self = boolean ? 1 : 0
        case .string(let text):
            guard let number = PropertyListValue(number: text) else { return nil }
            self.init(propertyListValue: number)
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
    /// A Boolean is 1 or 0, and a string counts as the number that it consists of: "2.5", not "2.5 l". The result is nil
    /// when the value is not a number, or when it is a whole number that this type can't represent exactly.
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

    /// Creates a number from a stored value, rounded to single precision; the result is nil when the value is not a number.
    public init?(propertyListValue: PropertyListValue) {
        guard let double = Double(propertyListValue: propertyListValue) else { return nil }
        self.init(double)
    }
}

extension Bool: PropertyListConvertible {
    /// The Boolean.
    public var propertyListValue: PropertyListValue { .boolean(self) }

    /// Creates a Boolean from a stored value.
    ///
    /// Any number but 0 is true. Of strings, those that consist of a number, or of "yes", "true", "y", "t", "no", "false",
    /// "n" or "f" in any case, are Booleans. The result is nil for anything else.
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
    /// The number that a text consists of; nil for any other text.
    ///
    /// Swift also reads "inf", "nan" and hexadecimal numbers, which no setting means.
    fileprivate init?(number text: String) {
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        if let integer = Int64(digits: text) {
            self = .integer(integer)
        } else if let unsigned = UInt64(digits: text) {
            self = .unsigned(unsigned)
        } else if let real = Double(text), real.isFinite {
            self = .real(real)
        } else {
            return nil
        }
    }
}

#if Foundation
internal import Foundation

extension PropertyListValue {
    /// Creates a value from a number or a Boolean, as Swift types or `NSNumber`; nil for other objects.
    init?(number object: Any) {
        guard let number = object as? NSNumber else { return nil }
        // The only way to distinguish a Bool from an Int8 on every platform: their objCType is the same.
        if type(of: number) == type(of: NSNumber(value: true)) {
            self = .boolean(number.boolValue)
        } else if let integer = number as? Int64 {
            self = number.isFloatingPoint ? .real(number.doubleValue) : .integer(integer)
        } else if let unsigned = number as? UInt64, !number.isFloatingPoint {
            self = .unsigned(unsigned)
        } else {
            self = .real(number.doubleValue)
        }
    }

    /// The number, Booleans included; strings are not numbers.
    var asNumber: NSNumber? {
        switch self {
        case .boolean(let boolean): NSNumber(value: boolean)
        case .integer(let integer): NSNumber(value: integer)
        case .unsigned(let unsigned): NSNumber(value: unsigned)
        case .real(let real): NSNumber(value: real)
        default: nil
        }
    }
}

extension NSNumber {
    fileprivate var isFloatingPoint: Bool {
        // "f" and "d", as in Objective-C's type encodings.
        objCType[0] == 0x66 || objCType[0] == 0x64
    }
}
#else
internal import FoundationEssentials

extension PropertyListValue {
    /// Creates a value from a number or a Boolean; nil for objects, `NSNumber` included: in a program that imports
    /// Foundation it could be cast to several of these types, and only Foundation says which it has.
    init?(number object: Any) {
        guard !(type(of: object) is AnyObject.Type) else { return nil }
        switch object {
        case let boolean as Bool: self = .boolean(boolean)
        case let double as Double: self = .real(double)
        case let float as Float: self = .real(Double(float))
        case let decimal as Decimal: self = .real(Double("\(decimal)") ?? .nan)
        case is Int, is Int64, is Int32, is Int16, is Int8, is UInt, is UInt64, is UInt32, is UInt16, is UInt8:
            guard let integer = object as? any FixedWidthInteger else { return nil }
            self = Int64(exactly: integer).map { .integer($0) } ?? .unsigned(UInt64(integer))
        default: return nil
        }
    }
}
#endif

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type with an empty value (0, false, or an empty collection), so that a key for it needs no default.
///
/// A key for a type that does not conform, such as `Date`, does not compile without `default:`, unless it is a key for an
/// optional.
public protocol EmptyValueProviding {
    /// The empty value: 0, false, or an empty collection. A key evaluates it once.
    static var emptyValue: Self { get }
}

extension EmptyValueProviding where Self: Numeric {
    /// 0.
    public static var emptyValue: Self { 0 }
}

extension Int: EmptyValueProviding {}
extension Int8: EmptyValueProviding {}
extension Int16: EmptyValueProviding {}
extension Int32: EmptyValueProviding {}
extension Int64: EmptyValueProviding {}
extension UInt: EmptyValueProviding {}
extension UInt8: EmptyValueProviding {}
extension UInt16: EmptyValueProviding {}
extension UInt32: EmptyValueProviding {}
extension UInt64: EmptyValueProviding {}
extension Float: EmptyValueProviding {}
extension Double: EmptyValueProviding {}

extension Decimal: EmptyValueProviding {
    /// 0.
    public static var emptyValue: Decimal { Decimal() }
}

extension EmptyValueProviding where Self: RangeReplaceableCollection {
    /// No elements.
    public static var emptyValue: Self { Self() }
}

extension String: EmptyValueProviding {}
extension Data: EmptyValueProviding {}
extension Array: EmptyValueProviding {}

extension Dictionary: EmptyValueProviding {
    /// No entries.
    public static var emptyValue: [Key: Value] { [:] }
}

extension Set: EmptyValueProviding {
    /// The empty set.
    public static var emptyValue: Set { [] }
}

extension Bool: EmptyValueProviding {
    /// False.
    public static var emptyValue: Bool { false }
}

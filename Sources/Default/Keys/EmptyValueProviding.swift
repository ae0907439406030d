public import Foundation

/// A type with an empty value (0, false, or an empty collection), so that a key for it needs no default.
///
/// A key for a type that does not conform, such as `Date`, does not compile without `default:`, unless it is a key for an
/// optional.
public protocol EmptyValueProviding: SendableMetatype {
    /// The empty value: 0, false, or an empty collection.
    static var emptyValue: Self { get }
}

extension String: EmptyValueProviding {
    /// The empty string.
    public static var emptyValue: String { "" }
}

extension Int: EmptyValueProviding {
    /// 0.
    public static var emptyValue: Int { 0 }
}

extension Double: EmptyValueProviding {
    /// 0.
    public static var emptyValue: Double { 0 }
}

extension Bool: EmptyValueProviding {
    /// False.
    public static var emptyValue: Bool { false }
}

extension Data: EmptyValueProviding {
    /// No bytes.
    public static var emptyValue: Data { Data() }
}

extension Array: EmptyValueProviding {
    /// No elements.
    public static var emptyValue: [Element] { [] }
}

extension Dictionary: EmptyValueProviding {
    /// No entries.
    public static var emptyValue: [Key: Value] { [:] }
}

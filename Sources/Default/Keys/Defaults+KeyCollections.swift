#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Keys for collections of enums, option sets and objects, which are stored as collections of what the elements are
// stored as. Nothing but `Codable` need be said of other collections.

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding, Value.StoredElement: RawRepresentable,
    Value.StoredElement.RawValue: PropertyListConvertible
{
    /// Creates a key for a collection of enums or option sets, which is stored as a collection of raw values.
    public convenience init(_ name: String, default value: sending Value = Value()) {
        self.init(name, bridge: .collection(of: .rawValue(by: .native)), constant: value)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding & PropertyListConvertible,
    Value.StoredElement: RawRepresentable,
    Value.StoredElement.RawValue: PropertyListConvertible
{
    /// Creates a key for a collection of enums or option sets that define how they are stored.
    public convenience init(_ name: String, default value: sending Value = Value()) {
        self.init(name, bridge: .native, constant: value)
    }
}

// Keys for collections of those collections: `[[Theme]]`, `[String: [Theme]]`, `[[String: NSUUID]]`.

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding, Value.StoredElement: PropertyListCollection,
    Value.StoredElement.StoredElement: RawRepresentable,
    Value.StoredElement.StoredElement.RawValue: PropertyListConvertible
{
    /// Creates a key for a collection of collections of enums or option sets, which are stored as raw values.
    public convenience init(_ name: String, default value: sending Value = Value()) {
        self.init(name, bridge: .collection(of: .collection(of: .rawValue(by: .native))), constant: value)
    }
}

extension Defaults.Key {
    /// Creates a key for an optional collection of enums or option sets, which is stored as a collection of raw values.
    public convenience init<List: PropertyListCollection>(
        _ name: String,
        default value: sending Value = nil
    ) where Value == List?, List.StoredElement: RawRepresentable, List.StoredElement.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<List>.collection(of: .rawValue(by: .native)).optional, constant: value)
    }

    /// Creates a key for an optional collection of enums or option sets that define how they are stored.
    public convenience init<List: PropertyListCollection & PropertyListConvertible>(
        _ name: String,
        default value: sending Value = nil
    ) where Value == List?, List.StoredElement: RawRepresentable, List.StoredElement.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<List>.native.optional, constant: value)
    }

    /// Creates a key for an optional collection of collections of enums or option sets, which are stored as raw values.
    public convenience init<List: PropertyListCollection>(
        _ name: String,
        default value: sending Value = nil
    )
    where
        Value == List?, List.StoredElement: PropertyListCollection,
        List.StoredElement.StoredElement: RawRepresentable,
        List.StoredElement.StoredElement.RawValue: PropertyListConvertible
    {
        let bridge = ValueBridge<List>.collection(of: .collection(of: .rawValue(by: .native)))
        self.init(name, bridge: bridge.optional, constant: value)
    }
}

// Keys for anything that a property list can hold. Storing anything else is reported with the code `unsupportedValue`.

extension Defaults.Key where Value == [Any] {
    /// Creates a key for an array of property-list objects of any type.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value = []) {
        self.init(name, bridge: .propertyListObject { $0 as? [Any] }, default: makeDefault)
    }
}

extension Defaults.Key where Value == [String: Any] {
    /// Creates a key for a dictionary of property-list objects of any type.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value = [:]) {
        self.init(name, bridge: .propertyListObject { $0 as? [String: Any] }, default: makeDefault)
    }
}

extension Defaults.Key where Value == Any? {
    /// Creates a key for a property-list object of any type; nil while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil) {
        self.init(name, bridge: ValueBridge<Any>.propertyListObject { $0 }.optional, default: makeDefault)
    }
}

/// A type whose `init()` creates an empty value (0, false, or an empty collection), so that a key for it needs no
/// default.
///
/// A key for a type that does not conform, such as `Date`, does not compile without `default:`, unless it is a key for
/// an optional.
public protocol EmptyValueProviding {
    /// Creates the empty value: 0, false, or an empty collection. A key creates it once.
    init()
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
extension Decimal: EmptyValueProviding {}
extension Bool: EmptyValueProviding {}
extension String: EmptyValueProviding {}
extension Data: EmptyValueProviding {}
extension Array: EmptyValueProviding {}
extension Dictionary: EmptyValueProviding {}
extension Set: EmptyValueProviding {}

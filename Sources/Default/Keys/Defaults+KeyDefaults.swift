public import Foundation

// The initializers of Defaults+Key.swift and Defaults+KeyCollections.swift with a closure: `Key<Date>("now") { Date() }`. It is
// called at each read while nothing is stored.

extension Defaults.Key where Value: PropertyListConvertible {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: RawRepresentable, Value.RawValue: PropertyListConvertible {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .rawValue(by: .native), default: makeDefault)
    }
}

extension Defaults.Key
where Value: RawRepresentable & PropertyListConvertible, Value.RawValue: PropertyListConvertible {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: NSObject & NSSecureCoding {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .object, default: makeDefault)
    }
}

extension Defaults.Key where Value: Codable {
    /// Creates a key with a default that is created at each read while nothing is stored.
    @_disfavoredOverload
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .stored(), default: makeDefault)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding, Value.StoredElement: RawRepresentable,
    Value.StoredElement.RawValue: PropertyListConvertible
{
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .collection(of: .rawValue(by: .native)), default: makeDefault)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding & PropertyListConvertible,
    Value.StoredElement: RawRepresentable,
    Value.StoredElement.RawValue: PropertyListConvertible
{
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key
where Value: PropertyListCollection & EmptyValueProviding, Value.StoredElement: NSObject & NSSecureCoding {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .collection(of: .object), default: makeDefault)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding, Value.StoredElement: PropertyListCollection,
    Value.StoredElement.StoredElement: RawRepresentable,
    Value.StoredElement.StoredElement.RawValue: PropertyListConvertible
{
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .collection(of: .collection(of: .rawValue(by: .native))), default: makeDefault)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding, Value.StoredElement: PropertyListCollection,
    Value.StoredElement.StoredElement: NSObject & NSSecureCoding
{
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .collection(of: .collection(of: .object)), default: makeDefault)
    }
}

extension Defaults.Key where Value == [Any] {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .propertyListObject { $0 as? [Any] }, default: makeDefault)
    }
}

extension Defaults.Key where Value == [String: Any] {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .propertyListObject { $0 as? [String: Any] }, default: makeDefault)
    }
}

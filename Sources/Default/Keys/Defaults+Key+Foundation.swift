#if Foundation
public import Foundation

extension Defaults.Key where Value: NSObject & NSSecureCoding {
    /// Creates a key for Foundation's property-list objects, or for other objects, which are stored as keyed archives.
    ///
    /// On Linux, an object of a private, nested or generic class can't be archived: storing it is
    /// reported with the code ``DefaultsError/Code/encodingFailed``.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .object, default: makeDefault)
    }

    /// Creates a key with a default that is created at each read while nothing is stored.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .object, default: makeDefault)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding & SendableMetatype,
    Value.StoredElement: NSObject & NSSecureCoding
{
    /// Creates a key for a collection of objects, which is stored as a collection of property-list objects or archives.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = Value()
    ) {
        self.init(name, bridge: .collection(of: .object), default: makeDefault)
    }
}

extension Defaults.Key
where
    Value: PropertyListCollection & EmptyValueProviding & SendableMetatype,
    Value.StoredElement: PropertyListCollection,
    Value.StoredElement.StoredElement: NSObject & NSSecureCoding
{
    /// Creates a key for a collection of collections of objects, which are stored as property-list objects or archives.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = Value()
    ) {
        self.init(name, bridge: .collection(of: .collection(of: .object)), default: makeDefault)
    }
}

extension Defaults.Key {
    /// Creates a key for an optional object; Foundation's property-list objects are stored as they are, others as keyed
    /// archives.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init<Object: NSObject & NSSecureCoding>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Object? {
        self.init(name, bridge: ValueBridge<Object>.object.optional, default: makeDefault)
    }

    /// Creates a key for an optional collection of objects, stored as a collection of property-list objects or
    /// archives.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init<List: PropertyListCollection & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == List?, List.StoredElement: NSObject & NSSecureCoding {
        self.init(name, bridge: ValueBridge<List>.collection(of: .object).optional, default: makeDefault)
    }

    /// Creates a key for an optional collection of collections of objects, stored as property-list objects or archives.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init<List: PropertyListCollection & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    )
    where
        Value == List?, List.StoredElement: PropertyListCollection,
        List.StoredElement.StoredElement: NSObject & NSSecureCoding
    {
        self.init(
            name,
            bridge: ValueBridge<List>.collection(of: .collection(of: .object)).optional,
            default: makeDefault
        )
    }
}

extension Defaults.Key where Value == NSData {
    /// Creates a key that reads as no bytes while nothing is stored.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(_ name: String) { self.init(name, default: NSData()) }
}

extension Defaults.Key where Value == NSString {
    /// Creates a key that reads as the empty string while nothing is stored.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(_ name: String) { self.init(name, default: NSString()) }
}

extension Defaults.Key where Value == NSArray {
    /// Creates a key that reads as an empty array while nothing is stored.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(_ name: String) { self.init(name, default: NSArray()) }
}

extension Defaults.Key where Value == NSDictionary {
    /// Creates a key that reads as an empty dictionary while nothing is stored.
    ///
    /// This needs the package's trait `Foundation`.
    public convenience init(_ name: String) { self.init(name, default: NSDictionary()) }
}
#endif

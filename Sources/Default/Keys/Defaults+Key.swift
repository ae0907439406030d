public import Foundation

extension Defaults {
    /// The base class of all keys, and the namespace in which keys are declared.
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     static let launchCount = Defaults.Key<Int>("launchCount")
    /// }
    /// Defaults[.launchCount] += 1
    /// ```
    ///
    /// Keys are equal when the bytes of their names are equal. A key is not bound to a store and may be used with several.
    public class Keys: @unchecked Sendable {
        // Keys and their subclasses are immutable.

        /// The name that values are stored under: 1 to 65,535 bytes of UTF-8 without NUL.
        ///
        /// Each access with any other name is reported, reads the default and stores nothing.
        public let name: String

        fileprivate init(name: String) {
            self.name = name
        }
    }

    /// A name, the type of the values stored under it, and the value that is read while nothing is stored.
    ///
    /// The type determines how values are stored. ``PropertyListConvertible`` types (`String`, `Bool`, numbers, `Data`,
    /// `Date`, `URL`, and arrays and dictionaries of those) are stored as property-list values, enums and option sets as
    /// such a raw value, other `Codable` types as JSON `Data`, and `NSSecureCoding` classes as keyed archives. Setting nil
    /// for an optional removes the stored value.
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     static let volume = Defaults.Key<Double>("volume")                       // 0 while nothing is stored
    ///     static let theme = Defaults.Key<Theme>("theme", default: .light)
    ///     static let installed = Defaults.Key<Date>("installed", default: Date())  // evaluated at each read
    ///     static let palette = Defaults.Key<Palette?>("palette")                   // nil while nothing is stored
    /// }
    /// ```
    ///
    /// A default is never stored. If a later version changes it, all users without a stored value get the new default.
    public final class Key<Value>: Keys, @unchecked Sendable {
        // The default is created by a Sendable function.

        let bridge: ValueBridge<Value>
        private let makeDefault: @Sendable () -> Value

        /// The value that is read while nothing is stored, and when the stored value can't be read.
        public var defaultValue: Value { makeDefault() }

        init(_ name: String, bridge: ValueBridge<Value>, default makeDefault: @escaping @Sendable () -> Value) {
            self.bridge = bridge
            self.makeDefault = makeDefault
            super.init(name: name)
        }
    }
}

/// A key with the type of its values: an alias of ``Defaults/Key``.
public typealias DefaultsKey = Defaults.Key

/// The namespace in which keys are declared: an alias of ``Defaults/Keys``.
public typealias DefaultsKeys = Defaults.Keys

extension Defaults.Keys: Hashable {
    /// Whether two keys have the same name.
    public static func == (lhs: Defaults.Keys, rhs: Defaults.Keys) -> Bool {
        StoreKey(unchecked: lhs.name) == StoreKey(unchecked: rhs.name)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        StoreKey(unchecked: name).hash(into: &hasher)
    }
}

// The initializers differ in how values are stored. If several of them fit a type, it is stored as a property-list value,
// otherwise as its raw value, otherwise as JSON.

extension Defaults.Key where Value: PropertyListConvertible {
    /// Creates a key for values that are stored as property-list values.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: RawRepresentable, Value.RawValue: PropertyListConvertible {
    /// Creates a key for an enum or an option set, which is stored as its raw value.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .rawValue(by: .native), default: makeDefault)
    }
}

extension Defaults.Key
where Value: RawRepresentable & PropertyListConvertible, Value.RawValue: PropertyListConvertible {
    /// Creates a key for an enum or an option set that defines how it is stored.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: NSObject & NSSecureCoding {
    /// Creates a key for objects that are stored as keyed archives.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .archive, default: makeDefault)
    }
}

extension Defaults.Key where Value: Codable {
    /// Creates a key for values that are stored as JSON `Data`, or as their raw value if that is a property-list type.
    @_disfavoredOverload
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .stored(), default: makeDefault)
    }
}

// Keys for optionals: setting nil removes the stored value. Nil is the default unless the key has another.
extension Defaults.Key {
    /// Creates a key for an optional value that is stored as a property-list value.
    public convenience init<Native: PropertyListConvertible>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Native? {
        self.init(name, bridge: ValueBridge<Native>.native.optional, default: makeDefault)
    }

    /// Creates a key for an optional enum or option set, which is stored as its raw value.
    public convenience init<Raw: RawRepresentable & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Raw?, Raw.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<Raw>.rawValue(by: .native).optional, default: makeDefault)
    }

    /// Creates a key for an optional enum or option set that defines how it is stored.
    public convenience init<Raw: RawRepresentable & PropertyListConvertible>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Raw?, Raw.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<Raw>.native.optional, default: makeDefault)
    }

    /// Creates a key for an optional object that is stored as a keyed archive.
    public convenience init<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Object? {
        self.init(name, bridge: ValueBridge<Object>.archive.optional, default: makeDefault)
    }

    /// Creates a key for an optional value that is stored as JSON `Data`, or as its raw value if that is a property-list
    /// type.
    @_disfavoredOverload
    public convenience init<Other: Codable & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Other? {
        self.init(name, bridge: ValueBridge<Other>.storedInside().optional, default: makeDefault)
    }
}

// Keys that need no default.
extension Defaults.Key where Value: EmptyValueProviding & PropertyListConvertible {
    /// Creates a key that reads as 0, false or empty while nothing is stored.
    public convenience init(_ name: String) {
        self.init(name, bridge: .native, default: { Value.emptyValue })
    }
}

extension Defaults.Key where Value: EmptyValueProviding & Codable {
    /// Creates a key for an array or dictionary that is stored as JSON `Data`, and reads as empty while nothing is stored.
    @_disfavoredOverload
    public convenience init(_ name: String) {
        self.init(name, bridge: .stored(), default: { Value.emptyValue })
    }
}

public import Foundation

extension Defaults {
    /// What all keys have in common, and where keys are declared.
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     static let launchCount = Defaults.Key<Int>("launchCount")
    /// }
    /// Defaults[.launchCount] += 1
    /// ```
    ///
    /// Keys are equal when their names are, byte for byte. A key belongs to no store: the same one may be used in several.
    public class Keys: @unchecked Sendable {
        // Nothing in a key changes once it is made; what a subclass adds doesn't either.

        /// What values are stored under: 1 to 65,535 bytes of UTF-8 without NUL.
        ///
        /// Any other name is reported by each access, which reads the default and stores nothing.
        public let name: String

        fileprivate init(name: String) {
            self.name = name
        }
    }

    /// A name with the type of what is stored under it, and the value that is read while nothing is.
    ///
    /// How values are stored follows from their type: as they are when they are ``PropertyListConvertible``, which `String`,
    /// `Bool`, numbers, `Data`, `Date`, `URL`, and arrays and dictionaries of those are; enums and option sets as such a
    /// raw value; other `Codable` types as JSON `Data`; `NSSecureCoding` classes as keyed archives. A key for an optional
    /// stores nil by removing what is there.
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     static let volume = Defaults.Key<Double>("volume")                       // 0 while nothing is stored
    ///     static let theme = Defaults.Key<Theme>("theme", default: .light)
    ///     static let installed = Defaults.Key<Date>("installed", default: Date())  // made anew at each read
    ///     static let palette = Defaults.Key<Palette?>("palette")                   // nil while nothing is stored
    /// }
    /// ```
    ///
    /// A default is never stored, so changing it in a later version changes what everybody sees who has stored nothing.
    public final class Key<Value>: Keys, @unchecked Sendable {
        // The default is made by a Sendable function.

        let bridge: ValueBridge<Value>
        private let makeDefault: @Sendable () -> Value

        /// What is read while nothing is stored, and when what is stored can't be read.
        public var defaultValue: Value { makeDefault() }

        init(_ name: String, bridge: ValueBridge<Value>, default makeDefault: @escaping @Sendable () -> Value) {
            self.bridge = bridge
            self.makeDefault = makeDefault
            super.init(name: name)
        }
    }
}

/// A key with the type of its values: another name of ``Defaults/Key``.
public typealias DefaultsKey = Defaults.Key

/// Where keys are declared: another name of ``Defaults/Keys``.
public typealias DefaultsKeys = Defaults.Keys

extension Defaults.Keys: Hashable {
    /// Whether two keys have the same name.
    ///
    /// - Parameters:
    ///   - lhs: A key.
    ///   - rhs: Another one.
    /// - Returns: Whether the names are the same bytes.
    public static func == (lhs: Defaults.Keys, rhs: Defaults.Keys) -> Bool {
        StoreKey(unchecked: lhs.name) == StoreKey(unchecked: rhs.name)
    }

    /// Hashes the name.
    ///
    /// - Parameter hasher: What to feed.
    public func hash(into hasher: inout Hasher) {
        StoreKey(unchecked: name).hash(into: &hasher)
    }
}

// The initializers differ in how values are stored. A type that several of them fit goes as it is, else as its raw value,
// else as JSON.

extension Defaults.Key where Value: PropertyListConvertible {
    /// Makes a key for values that are stored as they are.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored; evaluated at each such read.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: RawRepresentable, Value.RawValue: PropertyListConvertible {
    /// Makes a key for an enum or an option set, which is stored as its raw value.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored; evaluated at each such read.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .rawValue(by: .native), default: makeDefault)
    }
}

extension Defaults.Key
where Value: RawRepresentable & PropertyListConvertible, Value.RawValue: PropertyListConvertible {
    /// Makes a key for an enum or an option set that says itself how it is stored.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored; evaluated at each such read.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: NSObject & NSSecureCoding {
    /// Makes a key for objects that are stored as keyed archives.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored; evaluated at each such read.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .archive, default: makeDefault)
    }
}

extension Defaults.Key where Value: Codable {
    /// Makes a key for values that are stored as JSON `Data`, or as their raw value if that is a native one.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored; evaluated at each such read.
    @_disfavoredOverload
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .stored(), default: makeDefault)
    }
}

// Keys for optionals: nil is stored by removing what is there, and read while nothing is stored unless the key says otherwise.
extension Defaults.Key {
    /// Makes a key for an optional value that is stored as they are.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored, nil by default; evaluated at each such read.
    public convenience init<Native: PropertyListConvertible>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Native? {
        self.init(name, bridge: ValueBridge<Native>.native.optional, default: makeDefault)
    }

    /// Makes a key for an optional enum or option set, which is stored as its raw value.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored, nil by default; evaluated at each such read.
    public convenience init<Raw: RawRepresentable & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Raw?, Raw.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<Raw>.rawValue(by: .native).optional, default: makeDefault)
    }

    /// Makes a key for an optional enum or option set that says itself how it is stored.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored, nil by default; evaluated at each such read.
    public convenience init<Raw: RawRepresentable & PropertyListConvertible>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Raw?, Raw.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<Raw>.native.optional, default: makeDefault)
    }

    /// Makes a key for an optional object that is stored as a keyed archive.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored, nil by default; evaluated at each such read.
    public convenience init<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Object? {
        self.init(name, bridge: ValueBridge<Object>.archive.optional, default: makeDefault)
    }

    /// Makes a key for an optional value that is stored as JSON `Data`, or as its raw value if that is a native one.
    ///
    /// - Parameters:
    ///   - name: What values are stored under.
    ///   - makeDefault: What is read while nothing is stored, nil by default; evaluated at each such read.
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
    /// Makes a key that reads as 0, false or empty while nothing is stored.
    ///
    /// - Parameter name: What values are stored under.
    public convenience init(_ name: String) {
        self.init(name, bridge: .native, default: { Value.emptyValue })
    }
}

extension Defaults.Key where Value: EmptyValueProviding & Codable {
    /// Makes a key for an array or dictionary that is stored as JSON `Data`, and empty while nothing is stored.
    ///
    /// - Parameter name: What values are stored under.
    @_disfavoredOverload
    public convenience init(_ name: String) {
        self.init(name, bridge: .stored(), default: { Value.emptyValue })
    }
}

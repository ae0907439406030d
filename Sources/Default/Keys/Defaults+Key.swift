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
    /// Keys are equal when the bytes of their names are equal. A key is not bound to a store and may be used with
    /// several.
    public class Keys: @unchecked Sendable {
        // Keys and their subclasses are immutable.

        /// The name that values are stored under: 1 to 65,535 bytes of UTF-8 without NUL.
        ///
        /// Each access with any other name is reported, reads the default and stores nothing.
        ///
        /// It isn't called `name`, since an extension that declares a key of that name would hide it.
        public let storedName: String

        fileprivate init(storedName: String) { self.storedName = storedName }

        /// Stores a value that another library stored in the own form of the key's type.
        ///
        /// - Returns: Whether a value was converted.
        /// - Throws: `invalidKey`, or errors of the store.
        func convertForm(in store: any DefaultsStore) throws(DefaultsError) -> Bool { false }
    }

    /// A name, the type of the values stored under it, and the value that is read while nothing is stored.
    ///
    /// The type determines how values are stored. ``PropertyListConvertible`` types (`String`, `Bool`, numbers, `Data`,
    /// `Date`, `URL`, `UUID`, and arrays, sets, ranges and dictionaries of those) are stored as property-list values,
    /// and so are Foundation's classes for them, `[Any]`, `[String: Any]` and `Any?`. Enums and option sets are stored
    /// as such a raw value, other `Codable` types as JSON `Data`, and other `NSSecureCoding` classes as keyed archives.
    /// Setting nil for an optional removes the stored value.
    ///
    /// What other libraries stored in other forms is read too; see <doc:ComingFromOtherLibraries>.
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     // While nothing is stored: 0, .light, the time of the read, nil.
    ///     static let volume = Defaults.Key<Double>("volume")
    ///     static let theme = Defaults.Key<Theme>("theme", default: .light)
    ///     static let installed = Defaults.Key<Date>("installed") { Date() }
    ///     static let palette = Defaults.Key<Palette?>("palette")
    /// }
    /// ```
    ///
    /// A default is evaluated when the key is created, or at each read if it is a closure or an object. It is never
    /// stored: if a later version changes it, all users without a stored value get the new default.
    ///
    /// A stored value that lacks properties is filled in from the default, once in a process for its name, type and
    /// bytes. So declare a name and type once, or with one default: of two keys that differ in that alone, in whichever
    /// suites, the one that is read first decides with what such a value is filled in for both.
    public final class Key<Value>: Keys, @unchecked Sendable {
        // The default is created by a Sendable function, or is a value that nothing else refers to.

        let bridge: ValueBridge<Value>
        private let makeDefault: @Sendable () -> Value

        /// The value that is read while nothing is stored, and when the stored value can't be read.
        public var defaultValue: Value { makeDefault() }

        init(_ name: String, bridge: ValueBridge<Value>, default makeDefault: @escaping @Sendable () -> Value) {
            self.bridge = bridge
            self.makeDefault = makeDefault
            super.init(storedName: name)
        }

        /// Creates a key whose default is the same value at each read.
        convenience init(_ name: String, bridge: ValueBridge<Value>, constant: Value) {
            // Callers give empty values, and those that they were sent.
            nonisolated(unsafe) let constant = constant
            self.init(name, bridge: bridge, default: { constant })
        }

        override func convertForm(in store: any DefaultsStore) throws(DefaultsError) -> Bool {
            try KeyAccess(storedName, in: store).convertForm(by: bridge)
        }
    }
}

extension Defaults.Keys {
    /// A key with the type of its values: `Key<Int>("count")` in an extension of `Defaults.Keys`.
    public typealias Key = Defaults.Key
}

/// A key with the type of its values: an alias of ``Defaults/Key``.
public typealias DefaultsKey = Defaults.Key

/// The namespace in which keys are declared: an alias of ``Defaults/Keys``.
public typealias DefaultsKeys = Defaults.Keys

extension Defaults.Keys: Hashable {
    /// Whether two keys have the same name.
    public static func == (lhs: Defaults.Keys, rhs: Defaults.Keys) -> Bool {
        StoreKey(unchecked: lhs.storedName) == StoreKey(unchecked: rhs.storedName)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { StoreKey(unchecked: storedName).hash(into: &hasher) }
}

// The initializers differ in how values are stored. If several of them fit a type, it is stored as a property-list
// value, otherwise as its raw value, otherwise as JSON.

extension Defaults.Key where Value: PropertyListConvertible {
    /// Creates a key for values that are stored as property-list values.
    public convenience init(_ name: String, default value: sending Value) {
        self.init(name, bridge: .native, constant: value)
    }
}

extension Defaults.Key where Value: RawRepresentable, Value.RawValue: PropertyListConvertible {
    /// Creates a key for an enum or an option set, which is stored as its raw value.
    public convenience init(_ name: String, default value: sending Value) {
        self.init(name, bridge: .rawValue(by: .native), constant: value)
    }
}

extension Defaults.Key
where Value: RawRepresentable & PropertyListConvertible, Value.RawValue: PropertyListConvertible {
    /// Creates a key for an enum or an option set that defines how it is stored.
    public convenience init(_ name: String, default value: sending Value) {
        self.init(name, bridge: .native, constant: value)
    }
}

extension Defaults.Key where Value: Codable {
    /// Creates a key for values that are stored as JSON `Data`, or as their raw value if that is a property-list type.
    @_disfavoredOverload
    public convenience init(_ name: String, default value: sending Value) {
        self.init(name, bridge: .topLevel, constant: value)
    }
}

extension Defaults.Key where Value: Codable & AnyObject {
    /// Creates a key for objects that are stored as JSON `Data`.
    ///
    /// The default is created at each read.
    @_disfavoredOverload
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .topLevel, default: makeDefault)
    }
}

extension Defaults.Key where Value: PropertyListConvertible & AnyObject {
    /// Creates a key for objects that are stored as property-list values.
    ///
    /// The default is created at each read.
    public convenience init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

// Keys for optionals: setting nil removes the stored value. Nil is the default unless the key has another.
extension Defaults.Key {
    /// Creates a key for an optional value that is stored as a property-list value.
    public convenience init<Native: PropertyListConvertible>(
        _ name: String,
        default value: sending Value = nil
    ) where Value == Native? {
        self.init(name, bridge: ValueBridge<Native>.native.optional, constant: value)
    }

    /// Creates a key for an optional enum or option set, which is stored as its raw value.
    public convenience init<Raw: RawRepresentable>(
        _ name: String,
        default value: sending Value = nil
    ) where Value == Raw?, Raw.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<Raw>.rawValue(by: .native).optional, constant: value)
    }

    /// Creates a key for an optional enum or option set that defines how it is stored.
    public convenience init<Raw: RawRepresentable & PropertyListConvertible>(
        _ name: String,
        default value: sending Value = nil
    ) where Value == Raw?, Raw.RawValue: PropertyListConvertible {
        self.init(name, bridge: ValueBridge<Raw>.native.optional, constant: value)
    }

    /// Creates a key for an optional value that is stored as JSON `Data`, or as its raw value if that is a
    /// property-list type.
    @_disfavoredOverload
    public convenience init<Other: Codable>(_ name: String, default value: sending Value = nil) where Value == Other? {
        self.init(name, bridge: ValueBridge<Other>.nested.optional, constant: value)
    }
}

// Keys with their own coder.
extension Defaults.Key where Value: Codable {
    /// Creates a key for values that are stored as the `Data` of a coder, which alone reads them.
    ///
    /// What it can't decode, such as bytes that it encrypted with another secret, is unreadable: reads return the
    /// default, and a write quarantines it. Forms of other libraries are not read. Each read decodes: no decoded value
    /// is kept in memory. Missing properties are not filled in.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - makeDefault: The value that is read while nothing is stored; evaluated at each such read.
    ///   - coder: The coder.
    public convenience init(
        _ name: String,
        default makeDefault: @autoclosure @escaping @Sendable () -> Value,
        coder: DefaultsCoder
    ) {
        self.init(name, bridge: .coded(by: coder), default: makeDefault)
    }
}

extension Defaults.Key {
    /// Creates a key for an optional value that is stored as the `Data` of a coder; see ``init(_:default:coder:)``.
    public convenience init<Other: Codable>(_ name: String, coder: DefaultsCoder) where Value == Other? {
        self.init(name, bridge: ValueBridge<Other>.coded(by: coder).optional, constant: nil)
    }
}

// Keys that need no default.
extension Defaults.Key where Value: EmptyValueProviding & PropertyListConvertible {
    /// Creates a key that reads as 0, false or empty while nothing is stored.
    public convenience init(_ name: String) { self.init(name, bridge: .native, constant: Value()) }
}

extension Defaults.Key where Value: OptionSet, Value.RawValue: PropertyListConvertible {
    /// Creates a key for an option set, which is empty while nothing is stored.
    @_disfavoredOverload
    public convenience init(_ name: String) { self.init(name, bridge: .rawValue(by: .native), constant: []) }
}

extension Defaults.Key where Value: EmptyValueProviding & Codable {
    /// Creates a key for an array or dictionary that is stored as JSON `Data`, and reads as empty while nothing is
    /// stored.
    @_disfavoredOverload
    public convenience init(_ name: String) { self.init(name, bridge: .topLevel, constant: Value()) }
}

extension Defaults {
    /// Stores the values of keys in this library's own forms, where another library stored them in other ones.
    ///
    /// Keys read these forms anyway, and the next write of a value stores the own form. Convert all of them at once,
    /// for example when the program starts, if other code reads what is stored, such as `string(forKey:)`. Then the
    /// other library can't read them any more. Values that are stored in their own form already are not changed, and
    /// neither are those that can't be read completely. See <doc:ComingFromOtherLibraries>.
    ///
    /// - Parameter keys: The keys.
    /// - Returns: The names of the keys whose values were converted.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's. Values that
    ///   were converted before stay converted, unless the store has transactions: nothing has changed then.
    @discardableResult
    public func convertForms(of keys: Keys...) throws(DefaultsError) -> [String] {
        let suite = suite
        return try DefaultsError.wrapping(ErrorContext(in: suite)) {
            try suite.transaction { try keys.filter { try $0.convertForm(in: suite) }.map(\.storedName) }
        }
    }
}

// The same with a closure: `Key<Date>("now") { Date() }`. It is
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

extension Defaults.Key where Value: Codable {
    /// Creates a key with a default that is created at each read while nothing is stored.
    @_disfavoredOverload
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .topLevel, default: makeDefault)
    }
}

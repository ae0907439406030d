#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Defaults {
    /// The value of a string key, which can be read as any type.
    public subscript(key: String) -> Proxy { Proxy(suite: suite, key: key) }

    /// The value of a string key.
    ///
    /// Assigning stores a property-list value: `String`, `Bool`, numbers, `Data`, `Date`, and arrays and string-keyed
    /// dictionaries of those; other ``PropertyListConvertible`` values, such as `URL`, are converted first. Nil removes
    /// the stored value. Anything else is reported to ``DefaultsDiagnostics`` and changes nothing.
    ///
    /// - Parameter key: The key.
    @_disfavoredOverload
    public subscript(key: String) -> Any? {
        get { self[key].object }
        nonmutating set {
            let suite = suite
            DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
                try KeyAccess(key, in: suite).save(newValue)
            }
        }
    }

    /// Whether a value is stored under a key, or registered for it; values of sources don't count.
    public func hasKey(_ key: String) -> Bool {
        let suite = suite
        TrackedKeys.access([key], in: suite)
        return (suite.ownValue(forKey: key) ?? suite.registeredValue(forKey: key)) != nil
    }

    /// Removes the values of keys, in one transaction if the store has transactions.
    ///
    /// Errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter keys: The keys.
    public func remove(_ keys: String...) { remove(keys) }

    /// Removes all values, in one transaction if the store has transactions.
    ///
    /// Errors are reported to ``DefaultsDiagnostics``. Registered defaults are kept.
    public func removeAll() {
        let suite = suite
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            try KeyAccess.removeAll(from: suite)
        }
    }

    /// The names of the keys that have a stored value, sorted.
    ///
    /// On a `UserDefaults` they include the keys in registered defaults and in the system's domains.
    public var keys: [String] { suite.storedKeys().sorted() }

    func remove(_ keys: [String]) {
        let suite = suite
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            try KeyAccess.remove(keys, from: suite)
        }
    }
}

extension KeyAccess {
    /// Stores an object that was assigned to a string key; nil removes the stored value.
    func save(_ object: Any?) throws(DefaultsError) {
        try set(PropertyListValue(object, forKey: key, in: store), type: object.map { type(of: $0) })
    }
}

// The members in everyday use, for the standard store. The others are called on `Defaults()`.
extension Defaults {
    /// The value of a key in the standard store; see ``Defaults``.
    public static subscript<Value>(key: Key<Value>) -> Value {
        get { Defaults()[key] }
        set { Defaults()[key] = newValue }
        // Not by way of an instance; see AccessInPlace.
        _modify {
            var change = ChangeInPlace(forKey: key.storedName, in: StandardStore.current)
            defer { change.end() }
            var value = change.value(by: key.bridge, default: { key.defaultValue })
            yield &value
            change.commit(value, by: key.bridge, default: { key.defaultValue })
        }
    }

    /// The value of a string key in the standard store, which can be read as any type.
    public static subscript(key: String) -> Proxy { Defaults()[key] }

    /// The value of a string key in the standard store.
    @_disfavoredOverload
    public static subscript(key: String) -> Any? {
        get { Defaults()[key] }
        set { Defaults()[key] = newValue }
    }

    /// The value of a key in the standard store.
    public static func load<Value>(_ key: Key<Value>) throws(DefaultsError) -> Value { try Defaults().load(key) }

    /// The value of a key in the standard store; while there is none, a new one, which is stored.
    public static func load<Value>(_ key: Key<Value?>, storing newValue: @autoclosure () throws -> Value) throws
        -> Value
    {
        try Defaults().load(key, storing: newValue())
    }

    /// Stores a value in the standard store.
    public static func save<Value>(_ value: Value, for key: Key<Value>) throws(DefaultsError) {
        try Defaults().save(value, for: key)
    }

    /// Reads, changes and stores a value of the standard store as one atomic operation.
    @discardableResult
    public static func update<Value, Result>(
        _ key: Key<Value>,
        _ change: (inout Value) throws -> Result
    ) throws -> Result {
        try Defaults().update(key, change)
    }

    /// Whether a value is stored in the standard store under a key, or registered; sources and the key's default don't
    /// count.
    public static func exists(key: Keys) -> Bool { Defaults().exists(key: key) }

    /// Whether a value is stored in the standard store under a key, or registered for it; values of sources don't
    /// count.
    public static func hasKey(_ key: String) -> Bool { Defaults().hasKey(key) }

    /// Removes the values of keys from the standard store, so that their defaults are read again.
    public static func reset(_ keys: Keys...) { Defaults().remove(keys.map(\.storedName)) }

    /// Removes the values of keys from the standard store.
    public static func remove(_ keys: String...) { Defaults().remove(keys) }

    /// Removes all values from the standard store.
    public static func removeAll() { Defaults().removeAll() }
}

extension Defaults.Keys {
    /// Removes the value of the key, so that its default is read again; errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter store: The store; nil, the default, for the platform's standard one.
    public func reset(in store: (any DefaultsStore)? = nil) {
        (store.map(Defaults.init(suite:)) ?? Defaults()).reset(self)
    }
}

extension Defaults {
    /// The value of a string key, which can be read as any type.
    ///
    /// Each property reads the store again, and converts like `UserDefaults`: numbers, strings and Booleans are
    /// converted to each other. If there is no value, or none of that type, properties return nil, and those with
    /// `Value` in their name return 0, false or an empty value.
    public struct Proxy {
        let suite: any DefaultsStore
        let key: String

        var stored: PropertyListValue? {
            TrackedKeys.access([key], in: suite)
            return suite.storedValue(forKey: key)
        }
    }
}

@available(*, unavailable, message: "A store need not be Sendable: on Linux, UserDefaults isn't.")
extension Defaults.Proxy: Sendable {}

extension Defaults.Proxy {
    /// The value as a property-list object.
    public var object: Any? { stored?.object }

    /// The string, or a number's decimal notation ("1" and "0" for Booleans).
    public var string: String? { stored?.asString }

    /// The number without its fraction, clamped to the range of `Int`; 1 for true and 0 for false; the number that a
    /// string begins with.
    public var int: Int? { stored.flatMap { $0.isNumeric ? $0.asInteger : nil } }

    /// The number; 1 for true and 0 for false; the number that a string begins with.
    public var double: Double? { stored.flatMap { $0.isNumeric ? $0.asDouble : nil } }

    /// The Boolean; true for numbers other than 0.
    ///
    /// Strings that begin like "YES", "true", "NO" or "false", or with a number, are converted.
    public var bool: Bool? { stored.flatMap { $0.isBoolean ? $0.asBool : nil } }

    /// The bytes.
    public var data: Data? { stored.flatMap(Data.init(propertyListValue:)) }

    /// The date.
    public var date: Date? { stored.flatMap(Date.init(propertyListValue:)) }

    /// The array.
    public var array: [Any]? { stored?.object as? [Any] }

    /// The dictionary.
    public var dictionary: [String: Any]? { stored?.object as? [String: Any] }
}

extension Defaults.Proxy {
    /// The ``string``, or "".
    public var stringValue: String { string ?? "" }

    /// The integer (``int``), or 0.
    public var intValue: Int { int ?? 0 }

    /// The floating-point number (``double``), or 0.
    public var doubleValue: Double { double ?? 0 }

    /// The Boolean (``bool``), or false.
    public var boolValue: Bool { bool ?? false }

    /// The ``data``, or no bytes.
    public var dataValue: Data { data ?? Data() }

    /// The ``array``, or an empty one.
    public var arrayValue: [Any] { array ?? [] }

    /// The ``dictionary``, or an empty one.
    public var dictionaryValue: [String: Any] { dictionary ?? Dictionary() }
}

extension Defaults.Proxy {
    /// Adds to the stored number, atomically across threads and, on a ``FileDefaults``, processes.
    ///
    /// The stored type is kept: a floating-point number remains one, and an integer remains one unless the other number
    /// has a fraction or more than 64 bits. A missing value counts as 0, true as 1, and a string as the number that it
    /// begins with. A stored value of any other type is quarantined and counts as 0. A sum that overflows is reported
    /// to ``DefaultsDiagnostics`` with the code ``DefaultsError/Code/arithmeticOverflow``, and changes nothing.
    ///
    /// - Parameters:
    ///   - proxy: The stored number.
    ///   - summand: The number to add.
    public static func += (proxy: Defaults.Proxy, summand: Int) { proxy.add(.integer(Int64(summand))) }

    /// Adds to the stored number, atomically; see `+=` for `Int`.
    public static func += (proxy: Defaults.Proxy, summand: Double) { proxy.add(.real(summand)) }

    /// Subtracts from the stored number, atomically; see `+=` for `Int`.
    public static func -= (proxy: Defaults.Proxy, subtrahend: Int) {
        // -Int.min does not fit into an Int64.
        proxy.add(subtrahend == .min ? .unsigned(UInt64(Int64.max) + 1) : .integer(-Int64(subtrahend)))
    }

    /// Subtracts from the stored number, atomically; see `+=` for `Int`.
    public static func -= (proxy: Defaults.Proxy, subtrahend: Double) { proxy.add(.real(-subtrahend)) }

    /// Why a stored value can't be added to; nil when it can.
    private func fault(of stored: PropertyListValue) -> DefaultsError? {
        guard stored.numeric == nil else { return nil }
        return .typeMismatch(found: stored, ErrorContext(key, PropertyListValue.self, in: suite))
    }

    private func add(_ summand: PropertyListValue) {
        let access = KeyAccess(key, in: suite)
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try access.withExclusiveAccess(type: PropertyListValue.self) {
                let stored = suite.storedValue(forKey: key)
                let fault = stored.flatMap(fault(of:))
                if let stored, let fault {
                    DefaultsDiagnostics.report(.readFailed, fault.about(stored))
                }
                guard let sum = (stored?.numeric ?? .integer(0)).adding(summand) else {
                    throw DefaultsError.arithmeticOverflow(access.context(nil))
                }
                let type = PropertyListValue.self
                try access.replace(with: sum, type: type, isReadable: fault == nil) { stored in
                    KeyAccess.Replaced(loss: self.fault(of: stored))
                }
            }
        }
    }
}

extension Defaults.Proxy {
    /// Stores a value if none is stored, atomically; the implementation of the operator `?=` in `DefaultOperators`.
    package func setIfAbsent(_ value: () -> Any) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            let access = KeyAccess(key, in: suite)
            try access.withExclusiveAccess(type: nil) {
                // What a source says is there, and isn't stored.
                if suite.storedValue(forKey: key) == nil {
                    try access.save(value())
                }
            }
        }
    }
}

extension PropertyListValue {
    /// The value as a number.
    fileprivate var numeric: PropertyListValue? {
        switch self {
        case .integer, .unsigned, .real: self
        case .boolean(let boolean): .integer(boolean ? 1 : 0)
        case .string(let string):
            if let integer = Int64(string) {
                .integer(integer)
            } else {
                isNumeric ? .real(asDouble) : nil
            }
        default: nil
        }
    }

    /// The sum of two numbers; nil when it overflows.
    fileprivate func adding(_ other: PropertyListValue) -> PropertyListValue? {
        guard !isReal, let own = signAndMagnitude, let others = other.signAndMagnitude else {
            return .real(asDouble + other.asDouble)
        }
        let (larger, smaller) = own.magnitude < others.magnitude ? (others, own) : (own, others)
        let (magnitude, isOverflow) =
            larger.isNegative == smaller.isNegative
            ? larger.magnitude.addingReportingOverflow(smaller.magnitude)
            : (larger.magnitude - smaller.magnitude, false)
        if isOverflow || larger.isNegative && magnitude > Int64.min.magnitude { return nil }
        if larger.isNegative { return .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) }
        return Int64(exactly: magnitude).map { .integer($0) } ?? .unsigned(magnitude)
    }

    /// A whole number of at most 64 bits; nil for other numbers.
    private var signAndMagnitude: (isNegative: Bool, magnitude: UInt64)? {
        switch self {
        case .integer(let integer): (integer < 0, integer.magnitude)
        case .unsigned(let unsigned): (false, unsigned)
        case .real(let real): UInt64(exactly: real.magnitude).map { (real < 0, $0) }
        default: nil
        }
    }
}

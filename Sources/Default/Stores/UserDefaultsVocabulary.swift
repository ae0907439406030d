#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store that also has the methods of `UserDefaults`, with the same conversions.
///
/// ``FileDefaults`` and ``MemoryDefaults`` conform, so that a test can use a `MemoryDefaults` where a program uses a
/// `FileDefaults`. Mutating methods throw. Your own store gets the other methods if it implements the two requirements
/// below.
///
/// ```swift
/// let suite: any UserDefaultsVocabulary = MemoryDefaults()
/// try suite.set(0.4, forKey: "volume")
/// suite.double(forKey: "volume")
/// ```
///
/// `UserDefaults` itself does not conform, because it has its own methods.
public protocol UserDefaultsVocabulary: DefaultsStore {
    /// Registers values for keys that have no stored value, for as long as the process runs; nothing is stored.
    ///
    /// - Parameter defaults: Property-list values by their keys. They replace values that were registered earlier for
    ///   the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``. Nothing is registered then.
    func register(defaults: [String: Any]) throws(DefaultsError)

    /// A snapshot of all keys and values, including those that are only registered.
    ///
    /// - Returns: The values by their keys, as returned by ``object(forKey:)``. Only one of several canonically
    ///   equivalent keys is included.
    func dictionaryRepresentation() -> [String: Any]
}

extension UserDefaultsVocabulary {
    /// The value for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: `String`, `Bool`, `Int` (`UInt` over `Int.max`), `Double`, `Data`, `Date`, `[Any]` or
    ///   `[String: Any]`; nil when there is none.
    public func object(forKey key: String) -> Any? { storedValue(forKey: key)?.object }

    /// The `Data` for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The bytes; nil when there is no value or it is not `Data`.
    public func data(forKey key: String) -> Data? {
        guard case .data(let data) = storedValue(forKey: key) else { return nil }
        return data
    }

    /// The string for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The string, or a number's decimal notation ("1" and "0" for Booleans, "12.34" for a `Float`); nil for
    ///   anything else.
    public func string(forKey key: String) -> String? { storedValue(forKey: key)?.asString }

    /// The integer for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: A number without its fraction, clamped to the range of `Int`; the number that a string begins with; 1
    ///   for true; 0 for anything else.
    public func integer(forKey key: String) -> Int { storedValue(forKey: key)?.asInteger ?? 0 }

    /// The floating-point number for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: A number; the number that a string begins with; 1 for true; 0 for anything else.
    public func double(forKey key: String) -> Double { storedValue(forKey: key)?.asDouble ?? 0 }

    /// The floating-point number for a key, in single precision.
    ///
    /// - Parameter key: The key.
    /// - Returns: The result of ``double(forKey:)``, rounded.
    public func float(forKey key: String) -> Float { Float(double(forKey: key)) }

    /// The Boolean for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The Boolean; true for numbers other than 0 and for strings that begin like "YES", "true" or "1";
    ///   false for anything else.
    public func bool(forKey key: String) -> Bool { storedValue(forKey: key)?.asBool ?? false }

    /// The date for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The date; nil for anything else.
    public func date(forKey key: String) -> Date? { storedValue(forKey: key).flatMap(Date.init(propertyListValue:)) }

    /// The array for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The array; nil for anything else.
    public func array(forKey key: String) -> [Any]? { object(forKey: key) as? [Any] }

    /// The array of strings for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The array; nil for anything else, including an array with other elements than strings.
    public func stringArray(forKey key: String) -> [String]? { object(forKey: key) as? [String] }

    /// The dictionary for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The dictionary; nil for anything else.
    public func dictionary(forKey key: String) -> [String: Any]? { object(forKey: key) as? [String: Any] }

    /// The URL for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The URL as it was set; a file URL for a string that is a path (with `~` for the home directory); nil
    ///   for anything else.
    public func url(forKey key: String) -> URL? { storedValue(forKey: key)?.asURL }
}

extension UserDefaultsVocabulary {
    /// The value for a key, as an object; assigning stores a property-list value, and nil removes it.
    ///
    /// Errors of an assignment are reported to ``DefaultsDiagnostics``, and nothing changes then; `set(_:forKey:)`
    /// throws them.
    ///
    /// - Parameter key: The key.
    public subscript(key: String) -> Any? {
        get { object(forKey: key) }
        nonmutating set {
            DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try set(newValue, forKey: key) }
        }
    }

    /// Stores a value of a property-list type.
    ///
    /// - Parameters:
    ///   - value: The value: a string, Boolean, number, `Data`, `Date`, `URL` (stored as its absolute string), or an
    ///     array or dictionary of those.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or one of the store's. Nothing has changed then.
    public func set<Value: PropertyListConvertible>(_ value: Value, forKey key: String) throws(DefaultsError) {
        try setWrappingErrors(value.propertyListValue, forKey: key)
    }

    /// Stores an object that contains only property-list types, or removes the stored value.
    ///
    /// - Parameters:
    ///   - value: The object, of Swift types, Foundation classes (`NSURL` among them, stored as its absolute string) or
    ///     a ``PropertyListConvertible`` type; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or one of the store's. Nothing has changed then.
    public func set(_ value: Any?, forKey key: String) throws(DefaultsError) {
        try setWrappingErrors(PropertyListValue(value, forKey: key, in: self), forKey: key)
    }

    /// Removes the stored value of a key, if there is one.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's. Nothing has
    ///   changed then.
    public func removeObject(forKey key: String) throws(DefaultsError) {
        try setWrappingErrors(nil, forKey: key)
    }

    /// Removes all stored values, in one transaction if the store has transactions; registered defaults are kept.
    ///
    /// - Throws: ``DefaultsError``. Nothing has changed then, if the store has transactions; unless the code is
    ///   ``DefaultsError/Code/mandatory``, and all that may be removed has been.
    public func removeAll() throws(DefaultsError) {
        if let refusal = try StoreRemoval(of: self).refusal { throw refusal }
    }

    /// Makes all previous writes durable, as ``DefaultsStore/flush()`` does.
    ///
    /// - Returns: True. `UserDefaults` returns true on success.
    /// - Throws: ``DefaultsError`` on failure.
    @discardableResult
    public func synchronize() throws(DefaultsError) -> Bool {
        try DefaultsError.wrapping(ErrorContext(in: self)) { try flush() }
        return true
    }

    private func setWrappingErrors(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        try DefaultsError.wrapping(ErrorContext(key, in: self)) { try setStoredValue(value, forKey: key) }
    }
}

/// The removal of all that a store holds.
struct StoreRemoval {
    /// The keys whose values were removed.
    let keys: [String]
    /// Why some may not be removed; nil if all were.
    let refusal: DefaultsError?

    /// Removes all stored values that may be removed, in one transaction if the store has transactions.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - namesKey: Whether an error of the store names the key that it came with.
    /// - Throws: Errors of the store; nothing has changed then, if it has transactions.
    init(of store: any DefaultsStore, namesKey: Bool = false) throws(DefaultsError) {
        self = try DefaultsError.wrapping(ErrorContext(in: store)) {
            // In a transaction, so that nothing is stored between listing the keys and removing them.
            try store.transaction {
                let removal = Self(planning: store)
                for key in removal.keys {
                    try DefaultsError.wrapping(ErrorContext(namesKey ? key : nil, in: store)) {
                        try store.setStoredValue(nil, forKey: key)
                    }
                }
                return removal
            }
        }
    }

    /// Finds out what may be removed.
    private init(planning store: any DefaultsStore) {
        var refusal: DefaultsError?
        var kept: Set<StoreKey> = []
        let all = store.storedKeys()
        if let sources = store.sources {
            for key in all {
                do {
                    try sources.checkWritable(key, in: store)
                } catch {
                    refusal = refusal ?? error
                    // Its version stays with it, and whether it is a part; its quarantined values go.
                    kept.formUnion(([key] + CompanionKey.describing(key)).map { StoreKey(unchecked: $0) })
                }
            }
        }
        keys = kept.isEmpty ? all : all.filter { !kept.contains(StoreKey(unchecked: $0)) }
        self.refusal = refusal
    }
}

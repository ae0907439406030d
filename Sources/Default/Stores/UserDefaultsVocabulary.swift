public import Foundation

/// A store that also has the method names of `UserDefaults`, with the same conversions.
///
/// ``FileDefaults`` and ``MemoryDefaults`` have them, so that a test can use a `MemoryDefaults` where a program uses a
/// `FileDefaults`. Methods that change something throw. A store of your own gets all of them by the two requirements below.
///
/// ```swift
/// let suite: any UserDefaultsVocabulary = MemoryDefaults()
/// try suite.set(0.4, forKey: "volume")
/// suite.double(forKey: "volume")
/// ```
///
/// `UserDefaults` itself does not conform: its own methods stay what they are.
public protocol UserDefaultsVocabulary: DefaultsStore {
    /// Supplies values for keys under which nothing is stored, for as long as the process runs; nothing is stored.
    ///
    /// - Parameter values: The values, by their keys; they replace those registered before for the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing is registered then.
    func registerValues(_ values: [String: PropertyListValue]) throws(DefaultsError)

    /// All keys and values as of one moment, those that are only registered included.
    ///
    /// - Returns: What ``DefaultsStore/storedValue(forKey:)`` gives for each key; of keys that are canonically equivalent, one.
    func allValues() -> [String: PropertyListValue]
}

extension UserDefaultsVocabulary {
    /// The value for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: `String`, `Bool`, `Int` (`UInt` over `Int.max`), `Double`, `Data`, `Date`, `[Any]` or `[String: Any]`;
    ///   nil when there is none.
    public func object(forKey key: String) -> Any? {
        storedValue(forKey: key)?.object
    }

    /// The `Data` for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The bytes, nil when there is no value or it is not `Data`.
    public func data(forKey key: String) -> Data? {
        guard case .data(let data) = storedValue(forKey: key) else {
            return nil
        }
        return data
    }

    /// The string for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The string, or a number's decimal notation ("1" and "0" for Booleans); nil for anything else.
    public func string(forKey key: String) -> String? {
        storedValue(forKey: key)?.asString
    }

    /// The integer for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The number without its fraction, within the range of `Int`; what a string begins with; 1 for true; 0 for
    ///   anything else.
    public func integer(forKey key: String) -> Int {
        storedValue(forKey: key)?.asInteger ?? 0
    }

    /// The floating-point number for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The number; what a string begins with; 1 for true; 0 for anything else.
    public func double(forKey key: String) -> Double {
        storedValue(forKey: key)?.asDouble ?? 0
    }

    /// The floating-point number for a key, in single precision.
    ///
    /// - Parameter key: The key.
    /// - Returns: As ``double(forKey:)``, rounded.
    public func float(forKey key: String) -> Float {
        Float(double(forKey: key))
    }

    /// The Boolean for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The Boolean; true for numbers but 0 and for strings that begin like "YES", "true" or "1"; false for
    ///   anything else.
    public func bool(forKey key: String) -> Bool {
        storedValue(forKey: key)?.asBool ?? false
    }

    /// The array for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The array, nil for anything else.
    public func array(forKey key: String) -> [Any]? {
        object(forKey: key) as? [Any]
    }

    /// The array of strings for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The array, nil for anything else, an array that holds anything but strings included.
    public func stringArray(forKey key: String) -> [String]? {
        object(forKey: key) as? [String]
    }

    /// The dictionary for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The dictionary, nil for anything else.
    public func dictionary(forKey key: String) -> [String: Any]? {
        object(forKey: key) as? [String: Any]
    }

    /// The URL for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The URL as it was set; a file URL for a string that is a path (with `~` for the home directory); nil
    ///   for anything else.
    public func url(forKey key: String) -> URL? {
        storedValue(forKey: key)?.asURL
    }

    /// All keys and values, those that are only registered included.
    ///
    /// - Returns: Values by their keys, as ``object(forKey:)`` gives them; of keys that are canonically equivalent, one.
    public func dictionaryRepresentation() -> [String: Any] {
        allValues().mapValues(\.object)
    }
}

extension UserDefaultsVocabulary {
    /// Stores a value of a type that a store takes as it is.
    ///
    /// - Parameters:
    ///   - value: The value: a string, Boolean, number, `Data`, `Date`, `URL` (stored as its absolute string), or an array or
    ///     dictionary of those.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or one of the store's; nothing has changed then.
    public func set<Value: PropertyListConvertible>(_ value: Value, forKey key: String) throws(DefaultsError) {
        try setWrappingErrors(value.propertyListValue, forKey: key)
    }

    /// Stores an object that is a property-list value all through, or removes what is there.
    ///
    /// - Parameters:
    ///   - value: The object, of Swift's types, Foundation's classes or a ``PropertyListConvertible`` type; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or one of the store's; nothing has changed then.
    public func set(_ value: Any?, forKey key: String) throws(DefaultsError) {
        try setWrappingErrors(PropertyListValue(value, forKey: key, in: self), forKey: key)
    }

    /// Removes what is stored under a key, if anything is.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's; nothing has changed
    ///   then.
    public func removeObject(forKey key: String) throws(DefaultsError) {
        try setWrappingErrors(nil, forKey: key)
    }

    /// Supplies values for keys under which nothing is stored, for as long as the process runs; nothing is stored.
    ///
    /// - Parameter defaults: Property-list values by their keys; they replace those registered before for the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing is registered then.
    public func register(defaults: [String: Any]) throws(DefaultsError) {
        var values: [String: PropertyListValue] = [:]
        for (key, object) in defaults {
            values[key] = try PropertyListValue(object, forKey: key, in: self)
        }
        try registerValues(values)
    }

    /// Makes everything set so far durable, as ``DefaultsStore/flush()`` does.
    ///
    /// - Returns: True, as `UserDefaults` does when it succeeds.
    /// - Throws: ``DefaultsError`` when it fails.
    @discardableResult
    public func synchronize() throws(DefaultsError) -> Bool {
        do {
            try flush()
        } catch {
            throw .wrapping(error, key: nil, type: nil, store: storeDescription)
        }
        return true
    }

    private func setWrappingErrors(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        do {
            try setStoredValue(value, forKey: key)
        } catch {
            throw .wrapping(error, key: key, type: nil, store: storeDescription)
        }
    }
}

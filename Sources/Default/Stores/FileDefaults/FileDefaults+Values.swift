public import Foundation

// The rest of UserDefaults's vocabulary, with its conversions.
extension FileDefaults {
    /// The string for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The string, or a number's decimal notation ("1" and "0" for Booleans); nil for anything else.
    public func string(forKey key: String) -> String? {
        value(forKey: key)?.asString
    }

    /// The integer for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The number without its fraction, within the range of `Int`; what a string begins with; 1 for true; 0 for
    ///   anything else.
    public func integer(forKey key: String) -> Int {
        value(forKey: key)?.asInteger ?? 0
    }

    /// The floating-point number for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The number; what a string begins with; 1 for true; 0 for anything else.
    public func double(forKey key: String) -> Double {
        value(forKey: key)?.asDouble ?? 0
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
        value(forKey: key)?.asBool ?? false
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
        value(forKey: key)?.asURL
    }

    /// Stores an integer.
    ///
    /// - Parameters:
    ///   - value: The integer.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ value: Int, forKey key: String) throws(DefaultsError) {
        try write(StoredValue(.integer(Int64(value))), for: StoreKey(key))
    }

    /// Stores a floating-point number.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ value: Double, forKey key: String) throws(DefaultsError) {
        try write(StoredValue(.real(value)), for: StoreKey(key))
    }

    /// Stores a floating-point number of single precision.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ value: Float, forKey key: String) throws(DefaultsError) {
        try write(StoredValue(.real(Double(value))), for: StoreKey(key))
    }

    /// Stores a Boolean.
    ///
    /// - Parameters:
    ///   - value: The Boolean.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ value: Bool, forKey key: String) throws(DefaultsError) {
        try write(StoredValue(.boolean(value)), for: StoreKey(key))
    }

    /// Stores a URL, as its absolute string.
    ///
    /// - Parameters:
    ///   - url: The URL; nil removes what is there.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ url: URL?, forKey key: String) throws(DefaultsError) {
        try write(url.map { StoredValue(.string($0.absoluteString)) }, for: StoreKey(key))
    }

    /// Adds defaults for keys of this suite that have no value, for as long as the process runs; nothing is stored.
    ///
    /// They hold for every object for the suite in this process, and for no other suite.
    ///
    /// - Parameter defaults: Property-list values by their keys; they replace those registered before for the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing is registered then.
    public func register(defaults: [String: Any]) throws(DefaultsError) {
        var values: [StoreKey: PropertyListValue] = [:]
        for (key, value) in defaults {
            values[try StoreKey(key)] = try PropertyListValue(value, forKey: key, in: self)
        }
        suite.register(values)
    }
}

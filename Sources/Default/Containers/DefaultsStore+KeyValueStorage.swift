// Disfavored, because on Apple platforms UserDefaults has key-value coding's methods with the same names, and this library
// must not change which method a program calls.
extension DefaultsStore {
    /// The value stored under a key.
    ///
    /// Property-list types are stored directly, enums and option sets as their raw value, and other types as JSON.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when nothing is stored, or the stored value can't be read as this type. The latter is
    ///   reported to ``DefaultsDiagnostics``, and the stored value is left unchanged.
    @_disfavoredOverload
    public func value<T: Codable>(forKey key: String) -> T? {
        let stored = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try KeyAccess(key, in: self).load(by: ValueBridge<T>.storedInside(), default: nil)
        }
        return stored ?? nil
    }

    /// Stores a value under a key.
    ///
    /// ``value(forKey:)`` can read it, and so can the store's own methods if it has a property-list type.
    ///
    /// Errors are reported to ``DefaultsDiagnostics`` and leave the stored value unchanged.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes the stored one.
    ///   - key: The key.
    @_disfavoredOverload
    public func setValue<T: Codable>(_ value: T?, forKey key: String) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try KeyAccess(key, in: self).save(value, by: ValueBridge<T>.storedInside().optional, default: nil)
        }
    }
}

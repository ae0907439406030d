// Disfavored, since on Apple's systems UserDefaults has key-value coding's methods of the same names, and calls of those must
// stay what they are without this library.
extension DefaultsStore {
    /// The value stored under a key: a native one as it is, a raw value for an enum or option set, JSON for other types.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when nothing is stored, or what is there can't be read as this type. The latter is reported
    ///   to ``DefaultsDiagnostics``, and what is stored is left as it is.
    @_disfavoredOverload
    public func value<T: Codable>(forKey key: String) -> T? {
        let stored = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try KeyAccess(key, in: self).load(by: ValueBridge<T>.storedInside())
        }
        return stored ?? nil
    }

    /// Stores a value under a key, so that ``value(forKey:)`` and, for native types, the store's own calls read it.
    ///
    /// What goes wrong is reported to ``DefaultsDiagnostics`` and leaves what was stored as it was.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes what is there.
    ///   - key: The key.
    @_disfavoredOverload
    public func setValue<T: Codable>(_ value: T?, forKey key: String) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try KeyAccess(key, in: self).save(value, by: ValueBridge<T>.storedInside().optional)
        }
    }
}

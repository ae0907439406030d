/// The keys under which the library stores additional information about a value, derived from the value's key.
enum CompanionKey {
    /// The key for quarantined values.
    static func quarantine(of key: String) -> String { name(key, suffix: ".quarantine") }

    /// The key for the schema version.
    static func version(of key: String) -> String { name(key, suffix: ".schemaVersion") }

    /// The key that records that a value was moved here.
    static func moved(of key: String) -> String { name(key, suffix: ".moved") }

    private static func name(_ key: String, suffix: String) -> String {
        let room = StoreKey.maximumByteCount - suffix.utf8.count
        guard key.utf8.count > room else { return key + suffix }
        // The result must not exceed the maximum length of a key, so the end of a very long key is replaced by its digest.
        let ending = "~\(ContentDigest(Array(key.utf8)).text)\(suffix)"
        var count = ending.utf8.count
        let beginning = key.unicodeScalars.prefix { scalar in
            count += UTF8.width(scalar)
            return count <= StoreKey.maximumByteCount
        }
        return String(beginning) + ending
    }
}

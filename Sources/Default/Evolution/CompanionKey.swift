/// The keys beside a value's own, under which the library stores what it has to know about the value.
enum CompanionKey {
    /// Where values are stored that could not be used.
    static func quarantine(of key: String) -> String { name(key, suffix: ".quarantine") }

    /// Where the schema version is stored.
    static func version(of key: String) -> String { name(key, suffix: ".schemaVersion") }

    /// Where it is stored that a value was moved here.
    static func moved(of key: String) -> String { name(key, suffix: ".moved") }

    private static func name(_ key: String, suffix: String) -> String {
        let room = StoreKey.maximumByteCount - suffix.utf8.count
        guard key.utf8.count > room else {
            return key + suffix
        }
        // No key may be longer than the longest one, so the end of a key almost that long is replaced by its digest.
        let ending = "~\(ContentDigest(Array(key.utf8)).text)\(suffix)"
        var beginning = String.UnicodeScalarView()
        var count = ending.utf8.count
        for scalar in key.unicodeScalars {
            count += UTF8.width(scalar)
            if count > StoreKey.maximumByteCount {
                break
            }
            beginning.append(scalar)
        }
        return String(beginning) + ending
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The keys under which the library stores additional information about a value, derived from the value's key.
enum CompanionKey {
    /// The key for quarantined values.
    static func quarantine(of key: String) -> String { name(key, suffix: ".quarantine") }

    /// The key for the schema version.
    static func version(of key: String) -> String { name(key, suffix: ".schemaVersion") }

    /// The key that records that a value was moved here.
    static func moved(of key: String) -> String { name(key, suffix: ".moved") }

    /// The key that says which bytes are only a part of a value: what is missing is left to the layers below.
    static func partial(of key: String) -> String { name(key, suffix: ".partial") }

    /// Those that a value can't be read right without.
    static func describing(_ key: String) -> [String] { [version(of: key), partial(of: key)] }

    private static func name(_ key: String, suffix: String) -> String {
        let room = StoreKey.maximumByteCount - suffix.utf8.count
        guard key.utf8.count > room else { return key + suffix }
        // The result must not exceed the maximum length of a key, so the end of a very long key is replaced by its
        // digest.
        let ending = "~\(ContentDigest(Data(key.utf8)).text)\(suffix)"
        var length = StoreKey.maximumByteCount - ending.utf8.count
        while true {
            // Nil if the beginning ends within a character.
            if let beginning = String(key.utf8.prefix(length)) { return beginning + ending }
            length -= 1
        }
    }
}

internal import Foundation

/// The name under which a `UserDefaults` keeps what is stored under a key: the key itself, but for a few.
///
/// Off Apple's systems `synchronize` passes the keys through a Swift dictionary, where of two canonically equivalent ones
/// only one is left. So a key that is not in Unicode's normalization form C is kept there under its percent-encoded bytes
/// after U+E000, a private-use character, and so is a key that begins with that character.
enum FoundationKey {
    private static let marker: Unicode.Scalar = "\u{E000}"

    static func name(forKey key: String) -> String {
        #if canImport(Darwin)
        return key
        #else
        let isPlain =
            key.utf8.allSatisfy { $0 < 0x80 }
            || key.unicodeScalars.first != marker
                && key.utf8.elementsEqual(key.precomposedStringWithCanonicalMapping.utf8)
        guard !isPlain, let encoded = key.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) else {
            return key
        }
        return String(marker) + encoded
        #endif
    }

    /// The key that a name belongs to.
    static func key(forName name: String) -> String {
        #if canImport(Darwin)
        return name
        #else
        guard name.unicodeScalars.first == marker else {
            return name
        }
        return String(name.unicodeScalars.dropFirst()).removingPercentEncoding ?? name
        #endif
    }
}

internal import Foundation

/// The name under which a `UserDefaults` stores a key's value: usually the key itself.
///
/// On systems other than Apple's, `synchronize` copies the keys to a Swift dictionary, which drops one of two canonically
/// equivalent keys. So there a key that is not in Unicode's normalization form C is stored under the private-use character
/// U+E000 followed by its percent-encoded bytes. So is a key that begins with that character.
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

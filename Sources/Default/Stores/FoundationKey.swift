/// The name under which a `UserDefaults` stores a key's value: usually the key itself.
///
/// On Linux, `synchronize` copies the keys to a Swift dictionary, which drops one of two canonically
/// equivalent keys. So there a key that is not in Unicode's normalization form C is stored under the private-use character
/// U+E000 followed by its percent-encoded bytes. So is a key that begins with that character.
enum FoundationKey {
    static let marker: Unicode.Scalar = "\u{E000}"

    /// The key that a name belongs to.
    static func key(forName name: String) -> String {
        #if canImport(Darwin)
        return name
        #else
        guard name.unicodeScalars.first == marker else {
            return name
        }
        var encoded = Substring(name.unicodeScalars.dropFirst()).utf8
        var decoded: [UInt8] = []
        while let byte = encoded.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let value = UInt64(digits: String(Substring(encoded.prefix(2))), radix: 16) else { return name }
            decoded.append(UInt8(value))
            encoded = encoded.dropFirst(2)
        }
        return String(validating: decoded, as: UTF8.self) ?? name
        #endif
    }
}

/// The name under which a `UserDefaults` stores a key's value: usually the key itself.
///
/// On Linux, `synchronize` copies the keys to a Swift dictionary, which drops one of two canonically
/// equivalent keys. So there a key that is not in Unicode's normalization form C is stored under the private-use
/// character U+E000 followed by its percent-encoded bytes. So is a key that begins with that character.
enum FoundationKey {
    static let marker: Unicode.Scalar = "\u{E000}"

    /// The key that a name belongs to.
    static func key(forName name: String) -> String {
        #if canImport(Darwin)
        return name
        #else
        guard name.unicodeScalars.first == marker else { return name }
        let encoded = Array(name.utf8)
        var decoded: [UInt8] = []
        // After the marker.
        var index = 3
        while index < encoded.count {
            if encoded[index] != UInt8(ascii: "%") {
                decoded.append(encoded[index])
                index += 1
            } else {
                let digits = String(decoding: encoded[(index + 1)..<min(index + 3, encoded.count)], as: UTF8.self)
                guard let value = UInt64(digits, radix: 16) else { return name }
                decoded.append(UInt8(value))
                index += 3
            }
        }
        return String(validating: decoded, as: UTF8.self) ?? name
        #endif
    }
}

/// The sizes up to which Foundation stores values on Apple platforms; beyond them it logs a line and stores nothing.
struct FoundationLimits {
    /// The maximum size of one value, in bytes.
    var value: Int
    /// The maximum size of all values of a program, in bytes; nil where there is none.
    var total: Int?

    /// The limits of the system that the program runs on; nil where Foundation has none.
    static var ofSystem: FoundationLimits? {
        // Both are what CFPreferences logs when it refuses a value; Apple documents only tvOS's.
        #if os(tvOS)
        FoundationLimits(value: 512 << 10, total: 512 << 10)
        #elseif canImport(Darwin)
        FoundationLimits(value: 4 << 20)
        #else
        nil
        #endif
    }

    /// Checks that a value can be stored.
    ///
    /// - Parameters:
    ///   - new: The value.
    ///   - key: The key it replaces the value of.
    ///   - store: The suite.
    /// - Throws: `valueTooLarge`.
    func check(_ new: PropertyListValue, forKey key: String, in store: any DefaultsStore) throws(DefaultsError) {
        let size = new.storedSize
        if size >= value {
            throw .valueTooLarge(size, limit: value, ErrorContext(key, in: store))
        }
        if let total {
            let others = store.storedKeys().filter { !$0.hasSameUTF8(as: key) }
            let all = others.reduce(size) { $0 + $1.utf8.count + (store.storedValue(forKey: $1)?.storedSize ?? 0) }
            if all >= total {
                throw .valueTooLarge(all, limit: total, ErrorContext(key, in: store))
            }
        }
    }
}

extension PropertyListValue {
    /// The number of bytes of ``binaryForm``, which is close to the size in a property list.
    fileprivate var storedSize: Int {
        switch self {
        case .boolean: 1
        case .integer, .unsigned, .real, .date: 9
        case .data(let data): 1 + data.count
        case .string(let string): 1 + string.utf8.count
        case .array(let elements): elements.reduce(1) { $0 + 4 + $1.storedSize }
        case .dictionary(let entries): entries.reduce(1) { $0 + 8 + $1.key.utf8.count + $1.value.storedSize }
        }
    }
}

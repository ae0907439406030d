#if Foundation
internal import Foundation

extension FoundationKey {
    static func name(forKey key: String) -> String {
        #if canImport(Darwin)
        return key
        #else
        let isPlain =
            key.utf8.allSatisfy { $0 < 0x80 }
            || key.unicodeScalars.first != marker
                && key.hasSameUTF8(as: key.precomposedStringWithCanonicalMapping)
        guard !isPlain, let encoded = key.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) else {
            return key
        }
        return String(marker) + encoded
        #endif
    }
}
#endif

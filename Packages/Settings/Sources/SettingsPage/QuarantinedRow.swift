import Default
import Foundation
import SettingsValues

/// A value that could not be used, and was kept when something replaced it.
struct QuarantinedRow: Encodable {
    private static let suffix = ".quarantine"

    let row: Row
    let date: Date
    let typeName: String
    /// The version of all that is quarantined for the key.
    let version: String?

    /// The key that the library keeps the quarantined values of a key under.
    static func key(of key: String) -> String { key + suffix }

    /// The quarantined values of a suite, those of a key newest first.
    static func all(in store: any DefaultsStore & Sendable, hiding hidden: KeyPatterns) -> [QuarantinedRow] {
        let keys = store.storedKeys().filter { $0.hasSuffix(suffix) && $0 != suffix }.sorted()
        return keys.flatMap { companion -> [QuarantinedRow] in
            let key = String(companion.dropLast(suffix.count))
            // A program may have a value of its own whose key ends so.
            let values = (try? Defaults(suite: store).quarantined(Defaults.Key<PropertyListValue?>(key))) ?? []
            let version = store.ownValue(forKey: companion)?.version
            return values.map { quarantined in
                QuarantinedRow(
                    row: Row(key: key, value: quarantined.value, own: quarantined.value, hiding: hidden),
                    date: quarantined.date,
                    typeName: quarantined.typeName,
                    version: version
                )
            }
        }
    }
}

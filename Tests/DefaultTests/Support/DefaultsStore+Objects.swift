@testable import Default
import Foundation

/// The vocabulary of `UserDefaults` on any store, as the tests' shorthand.
extension DefaultsStore {
    func object(forKey key: String) -> Any? { storedValue(forKey: key)?.object }

    func data(forKey key: String) -> Data? { object(forKey: key) as? Data }

    func set(_ value: Any?, forKey key: String) throws {
        try setStoredValue(PropertyListValue(value, forKey: key, in: self), forKey: key)
    }

    func removeObject(forKey key: String) throws { try setStoredValue(nil, forKey: key) }

    func dictionaryRepresentation() -> [String: Any] {
        Dictionary(storedKeys().map { ($0, object(forKey: $0) as Any) }, uniquingKeysWith: { first, _ in first })
    }
}

@testable import Default
import Foundation

/// The methods of `UserDefaults` on any store, as a shorthand for tests.
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

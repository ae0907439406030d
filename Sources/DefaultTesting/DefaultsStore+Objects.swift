internal import Default
internal import Foundation

// The checks' own shorthand: objects for values.
extension DefaultsStore {
    func object(forKey key: String) -> Any? { storedValue(forKey: key)?.object }
    func data(forKey key: String) -> Data? { object(forKey: key) as? Data }
    func set(_ value: Any?, forKey key: String) throws {
        try setStoredValue(value.map { try PropertyListValue(object: $0) }, forKey: key)
    }
    func removeObject(forKey key: String) throws { try setStoredValue(nil, forKey: key) }
    @discardableResult func synchronize() throws -> Bool { try flush(); return true }
    func propertyListValue(forKey key: String) -> PropertyListValue? { storedValue(forKey: key) }
    func dictionaryRepresentation() -> [String: Any] {
        Dictionary(storedKeys().map { ($0, object(forKey: $0) as Any) }, uniquingKeysWith: { first, _ in first })
    }
}

import Default

/// A store that holds nothing, and refuses every change with its own error.
struct Refusing: UserDefaultsVocabulary {
    struct Refusal: Error {}
    let storeDescription = "Refusing"

    func storedValue(forKey key: String) -> PropertyListValue? { nil }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws { throw Refusal() }
    func storedKeys() -> [String] { [] }
    func flush() throws { throw Refusal() }
    func checkAvailability() throws { throw Refusal() }
    func register(defaults: [String: Any]) {}
    func dictionaryRepresentation() -> [String: Any] { [:] }
}

// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

enum Theme: String, Codable { case dark, light }

class OwnKeys {}

final class OwnKey<Value>: OwnKeys {
    let name: String

    init(_ name: String) { self.name = name }
}

extension OwnKeys {
    static var launchCount: OwnKey<Int> { OwnKey("launchCount") }
    static var title: OwnKey<String> { OwnKey("title") }
}

extension UserDefaults {
    enum Key: String, CaseIterable { case theme, launchCount }

    var theme: String {
        get { string(forKey: "theme") ?? "light" }
        set { set(newValue, forKey: "theme") }
    }

    var token: Data? {
        get { data(forKey: "token") }
        set { set(newValue, forKey: "token") }
    }

    static let shared = { UserDefaults(suiteName: "shared")?.theme ?? "none" }()

    static var group: UserDefaults { UserDefaults(suiteName: "group") ?? .standard }

    subscript(key: String) -> Any? {
        get { object(forKey: key) }
        set { set(newValue, forKey: key) }
    }

    subscript<Value>(key: OwnKey<Value>) -> Value? {
        get { object(forKey: key.name) as? Value }
        set { set(newValue, forKey: key.name) }
    }

    subscript<Value>(key: Key, as type: Value.Type) -> Value? { object(forKey: key.rawValue) as? Value }

    func set<Value: Encodable>(encodable: Value, forKey key: String) {
        if let data = try? JSONEncoder().encode(encodable) { set(data, forKey: key) }
    }

    func decoded<Value: Decodable>(_ type: Value.Type, forKey key: String) -> Value? {
        data(forKey: key).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    func set(_ value: Any?, for key: Key) { set(value, forKey: key.rawValue) }

    func set(_ value: Decimal, forKey key: String) { set(NSDecimalNumber(decimal: value), forKey: key) }

    func setStruct<Value: Codable>(_ value: Value?, forKey key: String) { set(try? JSONEncoder().encode(value), forKey: key) }

    func value<Value: Codable>(forKey key: String, default fallback: Value) -> Value {
        decoded(Value.self, forKey: key) ?? fallback
    }

    func removeAll() { dictionaryRepresentation().keys.forEach(removeObject(forKey:)) }

    func hasKey(_ key: String) -> Bool { object(forKey: key) != nil }

    func increment(_ key: String) -> Int {
        set(integer(forKey: key) + 1, forKey: key)
        return integer(forKey: key)
    }

    func updates(of key: String) -> [Data] { [data(forKey: key)].compactMap { $0 } }

    func save(_ data: Data) throws { set(data, forKey: "saved") }

    func setValue<Value: Encodable>(_ value: Value, forKey key: String) { set(encodable: value, forKey: key) }

    func value<Value: Decodable>(forKey key: String) -> Value? { decoded(Value.self, forKey: key) }

    func storedValue(forKey key: String) -> Any? { object(forKey: key) }

    func setStoredValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

    func storedKeys() -> [String] { Array(dictionaryRepresentation().keys) }

    func flush() { synchronize() }

    func changes() -> [String] { [] }

    func checkAvailability() -> Bool { true }

    func transaction(_ body: () -> Void) { body() }

    func withExclusiveAccess(_ body: () -> Void) { body() }

    func beginExclusiveAccess() {}

    func endExclusiveAccess() {}

    func observeChanges(_ body: @escaping ([String]?) -> Void) -> Int { 0 }

    func makeContainer() -> Int { 0 }

    func store<Value>(_ value: Value, forKey key: String) { set(value, forKey: key) }

    var storeDescription: String { "ours" }

    var df: Int { 0 }

    func write(to other: UserDefaults) { other.set(dictionaryRepresentation(), forKey: "copy") }
}

func useExtensions(_ defaults: UserDefaults, number: Decimal) throws {
    defaults.theme = "dark"
    defaults.theme += "er"
    defaults.token = Data()
    defaults.token?.append(1)
    defaults["k"] = 1
    defaults["k"] = Data()
    defaults["k"] = nil
    let first = defaults["k"] as? Int
    defaults[.launchCount] = 5
    defaults[.launchCount]? += 1
    defaults[.title] = "text"
    defaults[.title] = nil
    let launches: Int = defaults[.launchCount] ?? 0
    let title = defaults[.title] ?? ""
    let own = UserDefaults.standard[OwnKey<Data>("data")]
    let second = defaults[.theme, as: String.self]
    defaults.set(encodable: ["a": 1], forKey: "k")
    let decoded = defaults.decoded([String: Int].self, forKey: "k")
    defaults.set("dark", for: .theme)
    defaults.set(Data(), for: .theme)
    defaults.set(number, forKey: "k")
    defaults.setStruct(Theme.dark, forKey: "k")
    let fallback = defaults.value(forKey: "k", default: 5)
    defaults.removeAll()
    let isThere = defaults.hasKey("k")
    let count = defaults.increment("k")
    let updates = defaults.updates(of: "k")
    try defaults.save(Data())
    defaults.write(to: .group)
    let path: ReferenceWritableKeyPath<UserDefaults, String> = \.theme
    defaults[keyPath: path] = "light"
    defaults[keyPath: \.token] = nil
    let keyPaths = [\UserDefaults.theme, \UserDefaults.["k"]] as [PartialKeyPath<UserDefaults>]
    _ = (first, second, decoded, fallback, isThere, count, updates, keyPaths, UserDefaults.shared)
}

func useNamesLikeOurs(_ defaults: UserDefaults) {
    defaults.setValue(Theme.dark, forKey: "k")
    defaults.setValue(5, forKey: "k")
    defaults.setValue("text", forKey: "k")
    let theme: Theme? = defaults.value(forKey: "k")
    let number = defaults.value(forKey: "k") as Int?
    let value = defaults.storedValue(forKey: "k")
    defaults.setStoredValue(1, forKey: "k")
    defaults.setStoredValue(nil, forKey: "k")
    let keys = defaults.storedKeys()
    defaults.flush()
    let changes = defaults.changes()
    let isAvailable = defaults.checkAvailability()
    defaults.transaction { defaults.flush() }
    defaults.withExclusiveAccess { defaults.set(1, forKey: "k") }
    defaults.beginExclusiveAccess()
    defaults.endExclusiveAccess()
    let observation = defaults.observeChanges { _ in }
    let container: Int = defaults.makeContainer()
    defaults.store(1, forKey: "k")
    let description = defaults.storeDescription
    let df = defaults.df
    let path = \UserDefaults.storeDescription
    let flush: () -> Void = defaults.flush
    let all = UserDefaults.storedKeys
    _ = (theme, number, value, keys, changes, isAvailable, observation, container, description, df, path, flush, all)
}

// MARK: Property wrappers, builders, dynamic member lookup

@propertyWrapper
struct Saved<Value> {
    let key: String
    let fallback: Value
    var store: UserDefaults = .standard

    init(wrappedValue: Value, _ key: String, store: UserDefaults = .standard) {
        self.key = key
        self.fallback = wrappedValue
        self.store = store
    }

    var wrappedValue: Value {
        get { store.object(forKey: key) as? Value ?? fallback }
        nonmutating set { store.set(newValue, forKey: key) }
    }

    var projectedValue: UserDefaults { store }
}

@propertyWrapper
struct SavedJSON<Value: Codable> {
    let key: String
    let wrapped: Value

    init(wrappedValue: Value, _ key: String) {
        self.key = key
        self.wrapped = wrappedValue
    }

    var wrappedValue: Value {
        get {
            guard let data = UserDefaults.standard.data(forKey: key) else { return wrapped }
            return (try? JSONDecoder().decode(Value.self, from: data)) ?? wrapped
        }
        nonmutating set {
            let data = try? JSONEncoder().encode(newValue)
            UserDefaults.standard.set(data, forKey: key)
        }
    }
}

struct Preferences {
    @Saved("volume") var volume = 0.5
    @Saved("token", store: .group) var token = Data()
    @SavedJSON("theme") var theme = Theme.dark

    func reset() {
        volume = 1
        token = Data([1])
        theme = .light
        $token.set(token, forKey: "copy")
    }
}

@dynamicMemberLookup
struct Reader {
    let defaults: UserDefaults
    subscript(dynamicMember key: String) -> Data? { defaults.data(forKey: key) }
    subscript<Value>(dynamicMember path: KeyPath<UserDefaults, Value>) -> Value { defaults[keyPath: path] }
}

func useWrappers(_ reader: Reader, _ preferences: Preferences) {
    let data = reader.anything
    let theme = reader.theme
    let names = reader.volatileDomainNames
    preferences.volume = 0.1
    preferences.$volume.set(Data(), forKey: "k")
    _ = (data, theme, names)
}

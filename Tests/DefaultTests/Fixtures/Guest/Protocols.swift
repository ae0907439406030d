// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

protocol Settings {
    func set(_ value: Any?, forKey defaultName: String)
    func object(forKey defaultName: String) -> Any?
    func removeObject(forKey defaultName: String)
}

extension UserDefaults: Settings {}

protocol DataSettings: AnyObject {
    func data(forKey defaultName: String) -> Data?
    func set(_ value: Int, forKey defaultName: String)
    func set(_ value: URL?, forKey defaultName: String)
    @discardableResult func synchronize() -> Bool
    func dictionaryRepresentation() -> [String: Any]
}

extension UserDefaults: DataSettings {}

protocol ThrowingSettings {
    func set(_ value: Any?, forKey defaultName: String) throws
    func object(forKey defaultName: String) throws -> Any?
    func removeObject(forKey defaultName: String) throws
    func synchronize() throws -> Bool
}

extension UserDefaults: ThrowingSettings {}

protocol AsyncSettings {
    func data(forKey defaultName: String) async throws -> Data?
    func removeObject(forKey defaultName: String) async
}

extension UserDefaults: AsyncSettings {}

protocol DataSink {
    func set(_ value: Data, forKey key: String)
}

extension DataSink where Self: UserDefaults {
    func set(_ value: Data, forKey key: String) { set(value as Any, forKey: key) }
}

protocol NamedLikeOurs {
    func storedKeys() -> [String]
    func storedObject(forKey key: String) -> Any?
    func flush()
    func changes() -> [String]
    func checkAvailability() -> Bool
    func transaction(_ body: () -> Void)
    func withExclusiveAccess(_ body: () -> Void)
    func observeChanges(_ body: @escaping ([String]?) -> Void) -> Int
    var storeDescription: String { get }
    var df: Int { get }
}

extension NamedLikeOurs {
    func storedKeys() -> [String] { [] }
    func storedObject(forKey key: String) -> Any? { nil }
    func flush() {}
    func changes() -> [String] { [] }
    func checkAvailability() -> Bool { true }
    func transaction(_ body: () -> Void) { body() }
    func withExclusiveAccess(_ body: () -> Void) { body() }
    func observeChanges(_ body: @escaping ([String]?) -> Void) -> Int { 0 }
    var storeDescription: String { "settings" }
    var df: Int { 0 }
}

extension UserDefaults: NamedLikeOurs {}

protocol KeyValueStore {
    func value<Value: Codable>(forKey key: String) -> Value?
    func setValue<Value: Codable>(_ value: Value?, forKey key: String)
}

extension UserDefaults: KeyValueStore {
    func value<Value: Codable>(forKey key: String) -> Value? {
        data(forKey: key).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    func setValue<Value: Codable>(_ value: Value?, forKey key: String) {
        set(value.flatMap { try? JSONEncoder().encode($0) }, forKey: key)
    }
}

protocol DefaultsStore {
    func set(_ value: Any?, forKey defaultName: String)
    func data(forKey defaultName: String) -> Data?
}

extension UserDefaults: DefaultsStore {}

protocol Emptiable { init() }

func useProtocols(_ defaults: UserDefaults, data: Data) throws {
    let settings: any Settings = defaults
    settings.set(data, forKey: "k")
    settings.set(nil, forKey: "k")
    let found = settings.object(forKey: "k") as? Data
    let dataSettings: any DataSettings = defaults
    dataSettings.set(1, forKey: "k")
    dataSettings.set(URL(string: "a:b"), forKey: "k")
    dataSettings.synchronize()
    let throwing: any ThrowingSettings = UserDefaults.standard
    try throwing.set(data, forKey: "k")
    try throwing.removeObject(forKey: "k")
    let asynchronous: any AsyncSettings = UserDefaults.standard
    Task { _ = UserDefaults.standard.data(forKey: "k") }
    let store: any DefaultsStore = defaults
    store.set(data, forKey: "k")
    let composed: any Settings & DataSettings = defaults
    composed.set("text", forKey: "k")
    let restricted: any UserDefaults & Settings = defaults
    restricted.set(data, forKey: "k")
    let isSettings = defaults is any Settings
    let isSink = defaults as Any is any DataSink
    _ = (found, asynchronous, isSettings, isSink)
}

func useNamesLikeOurs(_ defaults: UserDefaults) {
    let named: any NamedLikeOurs = defaults
    named.flush()
    let keys = named.storedKeys()
    let description = named.storeDescription
    let store: any KeyValueStore = defaults
    store.setValue("text", forKey: "k")
    let found = store.value(forKey: "k") as String?
    defaults.setValue("text", forKey: "k")
    defaults.setValue(5 as Int?, forKey: "k")
    defaults.setValue(5, forKey: "k")
    let number: Int? = defaults.value(forKey: "k")
    let cast = defaults.value(forKey: "k") as String?
    _ = (keys, description, found, number, cast)
}

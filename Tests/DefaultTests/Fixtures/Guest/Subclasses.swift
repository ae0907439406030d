// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

class CountingDefaults: UserDefaults {
    private(set) var count = 0

    override func set(_ value: Any?, forKey defaultName: String) {
        count += 1
        super.set(value, forKey: defaultName)
    }

    override func set(_ value: Int, forKey defaultName: String) { super.set(value + count, forKey: defaultName) }

    override func object(forKey defaultName: String) -> Any? { super.object(forKey: "x" + defaultName) }

    override func data(forKey defaultName: String) -> Data? { super.data(forKey: defaultName) ?? Data() }

    override func removeObject(forKey defaultName: String) { super.removeObject(forKey: defaultName) }

    override func dictionaryRepresentation() -> [String: Any] { super.dictionaryRepresentation() }

    @discardableResult
    override func synchronize() -> Bool { super.synchronize() }

    func set(_ value: Data, forKey key: String) { super.set(value, forKey: key) }

    func storedKeys() -> [String] { Array(dictionaryRepresentation().keys) }

    func storedValue(forKey key: String) -> Any? { object(forKey: key) }

    var storeDescription: String { "counting" }

    func flush() { synchronize() }

    func changes() -> Int { count }

    func value(forKey key: String) -> Any? { object(forKey: key) }

    func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

    func transaction(_ body: () -> Void) { body() }
}

final class PlainDefaults: UserDefaults {
    convenience init?(team: String) {
        self.init(suiteName: "team." + team)
        set(Data(), forKey: "k")
        set(1, forKey: "k")
    }
}

func useSubclasses(_ counting: CountingDefaults, _ plain: PlainDefaults, data: Data) {
    counting.set(data, forKey: "k")
    counting.set(1, forKey: "k")
    counting.set("text", forKey: "k")
    counting.flush()
    counting.transaction { counting.set(nil, forKey: "k") }
    counting.setValue("text", forKey: "k")
    counting.setValue(5, forKey: "k")
    counting.setValue(nil, forKey: "k")
    let value = counting.value(forKey: "k")
    let number = counting.value(forKey: "k") as? Int
    let bridged = counting.value(forKey: "k") as! String
    let keys = counting.storedKeys()
    let stored = counting.storedValue(forKey: "k")
    let changes = counting.changes()
    let description = counting.storeDescription
    plain.set(data, forKey: "k")
    let bytes = plain.data(forKey: "k")
    let upcast: UserDefaults = plain
    upcast.set(data, forKey: "k")
    _ = (value, number, bridged, keys, stored, changes, description, bytes)
}

// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

func wrongArguments(_ defaults: UserDefaults, data: Data, key: Int) {
    defaults.set(data)
    defaults.set(data, forKey: key)
    defaults.set(data, forKey: nil)
    defaults.set(data, key: "k")
    defaults.set(forKey: "k")
    defaults.data("k")
    defaults.data(forKey: 5)
    defaults.integer(forKey: "k") = 5
    defaults.removeObject("k")
    UserDefaults.set(data, forKey: "k")
    UserDefaults(suiteName: 5)
    UserDefaults(suite: "k")
}

func wrongTypes(_ defaults: UserDefaults, _ optional: UserDefaults?) {
    let number: Int = defaults.object(forKey: "k")
    let text: String = defaults.string(forKey: "k")
    let data: Data = defaults.data(forKey: "k")
    let bytes: [UInt8]? = defaults.data(forKey: "k")
    let done: Int = defaults.synchronize()
    let setter: (Int, Int) -> Void = defaults.set
    let getter: (String) -> Int = UserDefaults.standard.data
    let ambiguous = defaults.set
    let sum = defaults.object(forKey: "k") + 1
    optional.set(1, forKey: "k")
    let throwing: () -> Bool = { try defaults.synchronize() }
}

func missingMembers(_ defaults: UserDefaults) async {
    defaults.color = "red"
    defaults.store(1)
    defaults.date(forKey: "k")
    defaults.get("k")
    defaults.remove(forKey: "k")
    defaults.removeAll()
    defaults.observe("k")
    defaults.setObject(1, forKey: "k")
    defaults.save()
    defaults.load()
    defaults.update()
    defaults.decode()
    defaults.commit()
    defaults.keys
    await defaults.set(1, forKey: "k")
}

// What the library needs of types that are not its own is not a member of them in other programs.
func missingMembersOfValues(_ defaults: UserDefaults) {
    defaults.integer(forKey: "k").atomicWord
    defaults.bool(forKey: "k").atomicWord
    defaults.data(forKey: "k")?.propertyListObject
    defaults.string(forKey: "k")?.storeKey
}

class Overriding: UserDefaults {
    override func set(_ value: Data, forKey defaultName: String) {}
    override func set(_ value: Any?, forKey defaultName: String) throws {}
    override func data(forKey defaultName: String) -> Int? { nil }
    func object(forKey defaultName: String) -> Any? { nil }
}

protocol NotFulfilled {
    func set(_ value: Data, forKey defaultName: String)
    func date(forKey defaultName: String) -> Date?
}

extension UserDefaults: NotFulfilled {}

protocol NotFulfilledThrowing {
    func set(_ value: Data, forKey defaultName: String) throws
    func object(forKey defaultName: String) -> String?
}

extension UserDefaults: NotFulfilledThrowing {}

func requiresSendable<Value: Sendable>(_ value: Value) {}

func requiresCodable<Value: Codable>(_ value: Value) {}

func unfulfilledRequirements(_ defaults: UserDefaults) {
    DispatchQueue.global().async { _ = defaults.data(forKey: "k") }
    requiresSendable(defaults)
    requiresCodable(defaults)
    let isCodable: any Codable = defaults
}

let global = UserDefaults.standard

// Statements that programs on Apple platforms make with a UserDefaults. With and without `import Default` they have to
// mean the same declarations: check.sh compares them.
import Foundation

#if WITH_DEFAULT
import Default
#endif

extension UserDefaults {
    @objc dynamic var greeting: String? { string(forKey: "greeting") }
}

// Subscripts of the program's own, by strings and by keys with a type.
class ProgramKeys {}

final class ProgramKey<Value>: ProgramKeys {
    let name: String

    init(_ name: String) { self.name = name }
}

extension ProgramKeys {
    static var launchCount: ProgramKey<Int> { ProgramKey("launchCount") }
    static var title: ProgramKey<String> { ProgramKey("title") }
}

extension UserDefaults {
    subscript(key: String) -> Any? {
        get { object(forKey: key) }
        set { set(newValue, forKey: key) }
    }

    subscript<Value>(key: ProgramKey<Value>) -> Value? {
        get { object(forKey: key.name) as? Value }
        set { set(newValue, forKey: key.name) }
    }
}

final class Watcher: NSObject {
    var count = 0
}

func statements(suite: UserDefaults, data: Data, watcher: Watcher) throws {
    // Key-value coding.
    suite.setValue(5, forKey: "n")
    suite.setValue("text", forKey: "s")
    suite.setValue(nil, forKey: "s")
    suite.setValue(data, forKey: "d")
    suite.setValue(["a": 1], forKey: "t")
    suite.setValue(2.5, forKeyPath: "x")
    _ = suite.value(forKey: "n")
    _ = suite.value(forKey: "n") as? Int
    _ = suite.value(forKey: "s") as? String ?? ""
    _ = suite.value(forKey: "s") as! String
    _ = suite.value(forKeyPath: "x") as? Double
    if let any = suite.value(forKey: "n") { print(any) }
    let setValue: (Any?, String) -> Void = suite.setValue(_:forKey:)
    setValue(1, "n")
    let value: (String) -> Any? = suite.value(forKey:)
    _ = value("n")

    // Key-value observing.
    let observation = suite.observe(\.greeting, options: [.new, .old]) { suite, change in
        _ = (suite.greeting, change.newValue, change.oldValue)
    }
    observation.invalidate()
    _ = suite.observe(\.greeting) { _, _ in }
    suite.addObserver(watcher, forKeyPath: "n", options: [.new, .initial], context: nil)
    suite.removeObserver(watcher, forKeyPath: "n")
    suite.removeObserver(watcher, forKeyPath: "n", context: nil)
    _ = watcher.value(forKey: "count")
    watcher.setValue(3, forKey: "count")

    // The program's subscripts.
    suite["n"] = 5
    suite["n"] = nil
    _ = suite["n"] as? Int
    suite[.launchCount] = 5
    suite[.launchCount]? += 1
    suite[.title] = nil
    _ = suite[.title] ?? ""
    _ = UserDefaults.standard[ProgramKey<Data>("d")]?.count

    // UserDefaults's own calls.
    suite.set(data, forKey: "d")
    suite.set(5, forKey: "n")
    suite.set(2.5, forKey: "x")
    suite.set(true, forKey: "b")
    suite.set(Float(1), forKey: "f")
    suite.set("text", forKey: "s")
    suite.set(Date(), forKey: "t")
    suite.set([1, 2], forKey: "a")
    suite.set(["a": 1], forKey: "m")
    suite.set(URL(string: "https://example.com"), forKey: "u")
    suite.set(nil as Data?, forKey: "d")
    suite.set(nil as Any?, forKey: "d")
    suite.set(try JSONEncoder().encode([1]), forKey: "j")
    suite.removeObject(forKey: "n")
    suite.register(defaults: ["n": 1, "s": "text"])
    _ = suite.object(forKey: "n")
    _ = suite.object(forKey: "n") as? Int
    _ = suite.string(forKey: "s")
    _ = suite.integer(forKey: "n") + 1
    _ = suite.double(forKey: "x")
    _ = suite.bool(forKey: "b")
    _ = suite.data(forKey: "d")?.count
    _ = suite.array(forKey: "a")
    _ = suite.dictionary(forKey: "m")
    _ = suite.url(forKey: "u")
    _ = suite.dictionaryRepresentation().keys
    _ = suite.synchronize()
    _ = UserDefaults.standard.integer(forKey: "n")
    _ = UserDefaults(suiteName: "group.app")?.bool(forKey: "b")
    _ = NotificationCenter.default.addObserver(
        forName: UserDefaults.didChangeNotification,
        object: nil,
        queue: nil
    ) { _ in }
}

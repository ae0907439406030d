// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

// MARK: Every member, called plainly

func everyMember(_ defaults: UserDefaults, _ key: String) {
    _ = UserDefaults.standard
    UserDefaults.resetStandardUserDefaults()
    _ = UserDefaults()
    _ = UserDefaults(suiteName: nil)
    _ = UserDefaults(suiteName: "suite")
    let suite = UserDefaults(suiteName: "suite")!
    let object = defaults.object(forKey: key)
    let text = defaults.string(forKey: key)
    let array = defaults.array(forKey: key)
    let dictionary = defaults.dictionary(forKey: key)
    let data = defaults.data(forKey: key)
    let strings = defaults.stringArray(forKey: key)
    let integer = defaults.integer(forKey: key)
    let float = defaults.float(forKey: key)
    let double = defaults.double(forKey: key)
    let flag = defaults.bool(forKey: key)
    let url = defaults.url(forKey: key)
    _ = (object, text, array, dictionary, data, strings, integer, float, double, flag, url, suite)
    defaults.removeObject(forKey: key)
    defaults.register(defaults: ["volume": 0.5, "name": "none", "list": [1, 2]])
    defaults.register(defaults: [:])
    defaults.addSuite(named: "shared")
    defaults.removeSuite(named: "shared")
    let representation = defaults.dictionaryRepresentation()
    let volatileNames = defaults.volatileDomainNames
    let volatile = defaults.volatileDomain(forName: UserDefaults.argumentDomain)
    let persistent = defaults.persistentDomain(forName: UserDefaults.globalDomain)
    _ = (representation, volatileNames, volatile, persistent)
    defaults.setVolatileDomain(["a": 1], forName: UserDefaults.registrationDomain)
    defaults.removeVolatileDomain(forName: "domain")
    defaults.setPersistentDomain(["a": 1], forName: "domain")
    defaults.removePersistentDomain(forName: "domain")
    defaults.synchronize()
    let isSynchronized = defaults.synchronize()
    let isForced = defaults.objectIsForced(forKey: key)
    let isForcedInDomain = defaults.objectIsForced(forKey: key, inDomain: "domain")
    _ = (isSynchronized, isForced, isForcedInDomain)
    _ = UserDefaults.didChangeNotification
    _ = defaults.description
    _ = defaults.debugDescription
    _ = defaults.hash
    _ = defaults.hashValue
    _ = defaults.isEqual(suite)
    _ = defaults.copy()
    _ = defaults.mutableCopy()
    _ = defaults == suite
    _ = defaults === suite
    _ = Set([defaults, suite])
}

// MARK: set, with a value of every kind

func setLiterals() {
    UserDefaults.standard.set(1, forKey: "k")
    UserDefaults.standard.set(-1, forKey: "k")
    UserDefaults.standard.set(0xFF, forKey: "k")
    UserDefaults.standard.set(1.5, forKey: "k")
    UserDefaults.standard.set(true, forKey: "k")
    UserDefaults.standard.set("text", forKey: "k")
    UserDefaults.standard.set("1 + 1 = \(1 + 1)", forKey: "k")
    UserDefaults.standard.set(nil, forKey: "k")
    UserDefaults.standard.set([1, 2, 3], forKey: "k")
    UserDefaults.standard.set(["a", "b"], forKey: "k")
    UserDefaults.standard.set(["a": 1], forKey: "k")
    UserDefaults.standard.set([1, "two", true] as [Any], forKey: "k")
    UserDefaults.standard.set(["a": 1, "b": "two"] as [String: Any], forKey: "k")
    UserDefaults.standard.set([:] as [String: Any], forKey: "k")
    UserDefaults.standard.set([] as [Any], forKey: "k")
    UserDefaults.standard.set([["a": [1]]], forKey: "k")
    UserDefaults.standard.set(1 as Any, forKey: "k")
    UserDefaults.standard.set(1 as Any?, forKey: "k")
    UserDefaults.standard.set(nil as Any?, forKey: "k")
    UserDefaults.standard.set(nil as String?, forKey: "k")
    UserDefaults.standard.set(1 as Int8, forKey: "k")
    UserDefaults.standard.set(1 as UInt, forKey: "k")
    UserDefaults.standard.set(1 as Float, forKey: "k")
    UserDefaults.standard.set(1 as Double, forKey: "k")
    UserDefaults.standard.set(1 as NSNumber, forKey: "k")
}

func setVariables(
    _ defaults: UserDefaults, data: Data, url: URL, date: Date, uuid: UUID, text: Substring, number: Decimal,
    anyHashable: AnyHashable, list: [String], table: [String: Double], codable: any Codable, error: any Error
) throws {
    defaults.set(data, forKey: "k")
    defaults.set(Data(), forKey: "k")
    defaults.set(Data([1, 2, 3]), forKey: "k")
    defaults.set("text".data(using: .utf8), forKey: "k")
    defaults.set("text".data(using: .utf8)!, forKey: "k")
    defaults.set(data as Any, forKey: "k")
    defaults.set(data as Data?, forKey: "k")
    defaults.set(data.base64EncodedString(), forKey: "k")
    defaults.set([data], forKey: "k")
    defaults.set(["data": data], forKey: "k")
    defaults.set(NSData(data: data), forKey: "k")
    defaults.set(url, forKey: "k")
    defaults.set(url as URL?, forKey: "k")
    defaults.set(URL(string: "https://example.org"), forKey: "k")
    defaults.set(url as Any, forKey: "k")
    defaults.set(url.absoluteString, forKey: "k")
    defaults.set(date, forKey: "k")
    defaults.set(Date(), forKey: "k")
    defaults.set(uuid.uuidString, forKey: "k")
    defaults.set(uuid, forKey: "k")
    defaults.set(text, forKey: "k")
    defaults.set(String(text), forKey: "k")
    defaults.set(number, forKey: "k")
    defaults.set(anyHashable, forKey: "k")
    defaults.set(list, forKey: "k")
    defaults.set(list.first, forKey: "k")
    defaults.set(list.isEmpty ? nil : list, forKey: "k")
    defaults.set(list.map { $0.uppercased() }, forKey: "k")
    defaults.set(table, forKey: "k")
    defaults.set(table["a"], forKey: "k")
    defaults.set(table["a"] ?? 0, forKey: "k")
    defaults.set(codable, forKey: "k")
    defaults.set(error.localizedDescription, forKey: "k")
    defaults.set(NSNumber(value: 5), forKey: "k")
    defaults.set(NSNull(), forKey: "k")
    defaults.set(NSString(string: "text"), forKey: "k")
    defaults.set(NSArray(array: [1]), forKey: "k")
    defaults.set(NSDate(), forKey: "k")
    defaults.set(Theme.dark.rawValue, forKey: "k")
    defaults.set(Theme?.some(.dark)?.rawValue, forKey: "k")
    defaults.set(Theme.dark, forKey: "k")
    defaults.set(try JSONEncoder().encode(list), forKey: "k")
    defaults.set(try? JSONEncoder().encode(list), forKey: "k")
    defaults.set(try! JSONEncoder().encode(list), forKey: "k")
    try defaults.set(JSONEncoder().encode(list), forKey: "k")
    try defaults.set(PropertyListEncoder().encode(table), forKey: "k")
    defaults.set(defaults.integer(forKey: "k") + 1, forKey: "k")
    defaults.set(!defaults.bool(forKey: "k"), forKey: "k")
    defaults.set(defaults.data(forKey: "a"), forKey: "k")
    defaults.set(defaults.object(forKey: "a"), forKey: "k")
    defaults.set(defaults.data(forKey: "a") ?? data, forKey: "k")
    defaults.set({ data }(), forKey: "k")
    defaults.set(list.isEmpty ? data : Data(), forKey: "k")
}

enum Theme: String, Codable { case dark, light }

// MARK: Reading, and what is done with what was read

func read(_ defaults: UserDefaults, fallback: Data) throws -> [String] {
    let number = defaults.object(forKey: "k") as? Int ?? 5
    let text = defaults.object(forKey: "k") as? String
    let nested = (defaults.object(forKey: "k") as? [String: Any])?["a"] as? [Int]
    let forced = defaults.object(forKey: "k") as! [String]
    let isThere = defaults.object(forKey: "k") != nil
    let size = defaults.data(forKey: "k")?.count ?? 0
    let bytes = defaults.data(forKey: "k") ?? fallback
    let decoded = try defaults.data(forKey: "k").map { try JSONDecoder().decode([String].self, from: $0) }
    let theme = defaults.string(forKey: "k").flatMap(Theme.init(rawValue:)) ?? .dark
    let first = defaults.array(forKey: "k")?.first as? String
    let casted = defaults.array(forKey: "k") as? [Double]
    let value = defaults.dictionary(forKey: "k")?["a"]
    let host = defaults.url(forKey: "k")?.host
    let sum = defaults.integer(forKey: "a") + Int(defaults.double(forKey: "b"))
    let ratio = CGFloat(defaults.float(forKey: "k"))
    let names = defaults.dictionaryRepresentation().keys.filter { $0.hasPrefix("a") }.sorted()
    let explicit: Data? = defaults.data(forKey: "k")
    let erased: Any? = defaults.data(forKey: "k")
    _ = (number, text, nested, forced, isThere, size, bytes, decoded, theme, first, casted, value, host, sum)
    _ = (ratio, explicit, erased)
    if let data = defaults.data(forKey: "k"), !data.isEmpty { print(data) }
    guard let strings = defaults.stringArray(forKey: "k") else { return names }
    switch defaults.object(forKey: "k") {
    case let number as Int: print(number)
    case let data as Data: print(data)
    case nil: break
    default: print("else")
    }
    for (key, value) in defaults.dictionaryRepresentation() { print(key, value) }
    while defaults.integer(forKey: "k") < 5 { defaults.set(defaults.integer(forKey: "k") + 1, forKey: "k") }
    return strings
}

// MARK: try, do and catch around calls that don't throw, and around some that do

func tried(_ defaults: UserDefaults, data: Data) {
    try? defaults.set(data, forKey: "k")
    try? defaults.set(1, forKey: "k")
    try! defaults.set(data, forKey: "k")
    let found = try? defaults.data(forKey: "k")
    let object = try? defaults.object(forKey: "k")
    _ = try? defaults.synchronize()
    try? defaults.removeObject(forKey: "k")
    _ = (found, object)
    do { defaults.set(data, forKey: "k") }
    do { defaults.set(data, forKey: "k") } catch { print(error) }
    do { try defaults.set(data, forKey: "k") } catch { print(error) }
    do {
        defaults.set(try JSONEncoder().encode([1]), forKey: "k")
        defaults.removeObject(forKey: "other")
        defaults.synchronize()
    } catch let error as EncodingError {
        print(error)
    } catch {
        print(error.localizedDescription)
    }
    defer { defaults.removeObject(forKey: "k") }
    if (try? defaults.data(forKey: "k")) != nil { defaults.set(nil, forKey: "k") }
}

// MARK: Warnings that have to stay what they are

func warned(_ defaults: UserDefaults, object: UserDefaults?) {
    defaults.object(forKey: "k")
    defaults.data(forKey: "k")
    defaults.dictionaryRepresentation()
    defaults.integer(forKey: "k")
    UserDefaults.standard
    let unused = defaults.string(forKey: "k")
    var neverMutated = defaults.integer(forKey: "k")
    let isNil = defaults.integer(forKey: "k") == nil
    let same = defaults as UserDefaults
    let always = defaults is UserDefaults
    let conditional = defaults as? UserDefaults
    let needless = defaults.integer(forKey: "k") ?? 5
    let optional: Any = defaults.string(forKey: "k")
    print(defaults.string(forKey: "k"))
    let nothing = defaults.set(1, forKey: "k")
    _ = (neverMutated, isNil, same, always, conditional, needless, optional)
    deprecatedReset(defaults)
}

@available(*, deprecated, message: "use something else")
func deprecatedReset(_ defaults: UserDefaults) {}

// MARK: Methods as values

func references(_ defaults: UserDefaults) {
    let setAny: (Any?, String) -> Void = defaults.set
    let setInt: (Int, String) -> Void = UserDefaults.standard.set
    let setURL: (URL?, String) -> Void = defaults.set(_:forKey:)
    let setData = defaults.set(_:forKey:) as (Data, String) -> Void
    let setText = defaults.set as (String, String) -> Void
    let unappliedAny: (UserDefaults) -> (Any?, String) -> Void = UserDefaults.set(_:forKey:)
    let unappliedBool = UserDefaults.set(_:forKey:) as (UserDefaults) -> (Bool, String) -> Void
    let getData = defaults.data
    let getDataLabelled = defaults.data(forKey:)
    let getObject = defaults.object(forKey:)
    let getObjectTyped: (String) -> Any? = defaults.object
    let unappliedData = UserDefaults.data(forKey:)
    let unappliedObject = UserDefaults.object(forKey:)
    let remove = defaults.removeObject
    let removeLabelled: (String) -> Void = defaults.removeObject(forKey:)
    let unappliedRemove = UserDefaults.removeObject
    let synchronize = defaults.synchronize
    let unappliedSynchronize = UserDefaults.synchronize
    let all = UserDefaults.dictionaryRepresentation
    let make = UserDefaults.init(suiteName:)
    let throwing: (Any?, String) throws -> Void = defaults.set
    let throwingData: (Data, String) throws -> Void = defaults.set
    let throwingSynchronize: () throws -> Bool = defaults.synchronize
    let throwingRemove: (String) throws -> Void = defaults.removeObject
    _ = (setAny, setInt, setURL, setData, setText, unappliedAny, unappliedBool, getData, getDataLabelled)
    _ = (getObject, getObjectTyped, unappliedData, unappliedObject, remove, removeLabelled, unappliedRemove)
    _ = (synchronize, unappliedSynchronize, all, make, throwing, throwingData, throwingSynchronize, throwingRemove)
    ["a", "b"].forEach(defaults.removeObject)
    ["a", "b"].forEach(defaults.removeObject(forKey:))
    _ = ["a", "b"].map(defaults.object(forKey:))
    _ = ["a", "b"].compactMap(defaults.data)
    _ = ["a", "b"].compactMap(defaults.data(forKey:)).map(\.count)
    _ = ["a": 1].map { defaults.set($0.value, forKey: $0.key) }
    zip([1, 2], ["a", "b"]).forEach(defaults.set)
    zip([Data()], ["a"]).forEach { defaults.set($0, forKey: $1) }
    _ = [defaults].map(UserDefaults.dictionaryRepresentation).map { $0() }
}

// MARK: Closures

func configure(_ defaults: UserDefaults = .standard, _ body: (UserDefaults) throws -> Void) rethrows {
    try body(defaults)
}

func transform<Result>(_ body: (UserDefaults) throws -> Result) rethrows -> Result { try body(.standard) }

func closures(data: Data, url: URL) throws {
    configure { $0.set(1, forKey: "k") }
    configure { $0.set(data, forKey: "k") }
    configure { $0.set(url, forKey: "k") }
    configure { defaults in defaults.set(data, forKey: "k") }
    configure { defaults in
        defaults.set(data, forKey: "k")
        defaults.set("text", forKey: "l")
        defaults.removeObject(forKey: "m")
    }
    configure(.standard) { $0.removeObject(forKey: "k") }
    configure { _ = $0.synchronize() }
    configure { $0.synchronize() }
    try configure { try $0.set(JSONEncoder().encode([1]), forKey: "k") }
    let size = transform { $0.data(forKey: "k")?.count }
    let object = transform { $0.object(forKey: "k") }
    let chosen = transform { $0.bool(forKey: "k") ? $0.data(forKey: "k") : nil }
    let several = transform { defaults in
        let data = defaults.data(forKey: "k")
        return data?.isEmpty
    }
    let lazily: () -> Data? = { UserDefaults.standard.data(forKey: "k") }
    let storing: (Data) -> Void = { UserDefaults.standard.set($0, forKey: "k") }
    let storingAny: (Any?) -> Void = { UserDefaults.standard.set($0, forKey: "k") }
    let throwing: (Data) throws -> Void = { UserDefaults.standard.set($0, forKey: "k") }
    let immediately = { UserDefaults.standard.data(forKey: "k") }()
    let inferred = { (data: Data, key: String) in UserDefaults.standard.set(data, forKey: key) }
    let setters: [(UserDefaults) -> Void] = [{ $0.set(data, forKey: "k") }, { $0.set(1, forKey: "k") }]
    _ = (size, object, chosen, several, lazily, storing, storingAny, throwing, immediately, inferred, setters)
    NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: UserDefaults.standard)
    let token = NotificationCenter.default.addObserver(
        forName: UserDefaults.didChangeNotification, object: nil, queue: nil
    ) { notification in
        (notification.object as? UserDefaults)?.set(Data(), forKey: "changed")
    }
    NotificationCenter.default.removeObserver(token)
}

// MARK: Optionals, casts, key paths, inout and the rest of expressions

func expressions(_ optional: UserDefaults?, _ any: Any, _ object: AnyObject, data: Data) {
    optional?.set(data, forKey: "k")
    optional?.set(1, forKey: "k")
    optional!.set(data, forKey: "k")
    optional?.removeObject(forKey: "k")
    optional?.synchronize()
    let found = optional?.data(forKey: "k")
    let count = optional?.data(forKey: "k")?.count ?? 0
    let chained = optional?.dictionary(forKey: "k")?["a"] as? Data
    let mapped = optional.map { $0.set(data, forKey: "k") }
    let flattened = optional.flatMap { $0.data(forKey: "k") }
    (optional ?? .standard).set(data, forKey: "k")
    (any as? UserDefaults)?.set(data, forKey: "k")
    (object as! UserDefaults).set(data, forKey: "k")
    let asObject = UserDefaults.standard as AnyObject
    let asAny = UserDefaults.standard as Any
    let asRoot: NSObject = UserDefaults.standard
    let asObjectProtocol: any NSObjectProtocol = UserDefaults.standard
    let made = type(of: UserDefaults.standard).standard
    let metatype: UserDefaults.Type = UserDefaults.self
    let names = UserDefaults.standard[keyPath: \.volatileDomainNames]
    let path = \UserDefaults.volatileDomainNames.count
    let standard = \UserDefaults.Type.standard
    var copy = UserDefaults.standard
    replace(&copy)
    copy.set(data, forKey: "k")
    let mirror = Mirror(reflecting: UserDefaults.standard)
    let pair = (UserDefaults.standard, data)
    pair.0.set(pair.1, forKey: "k")
    let table = ["standard": UserDefaults.standard]
    table["standard"]?.set(data, forKey: "k")
    let text = "\(UserDefaults.standard)"
    let identifier = ObjectIdentifier(UserDefaults.standard)
    let implicit: UserDefaults = .standard
    let implicitSuite: UserDefaults = .init(suiteName: "suite") ?? .standard
    let conditional = count > 0 ? UserDefaults.standard.data(forKey: "a") : UserDefaults.standard.data(forKey: "b")
    _ = (found, chained, mapped, flattened, asObject, asAny, asRoot, asObjectProtocol, made, metatype, names)
    _ = (path, standard, mirror, text, identifier, implicit, implicitSuite, conditional)
}

func replace(_ defaults: inout UserDefaults) { defaults = UserDefaults(suiteName: "other") ?? defaults }

// MARK: Generic code

func store<Value>(_ value: Value, in defaults: UserDefaults) { defaults.set(value, forKey: "k") }

func storeEncoded<Value: Encodable>(_ value: Value, in defaults: UserDefaults) throws {
    defaults.set(try JSONEncoder().encode(value), forKey: "k")
}

func storeNative<Value: LosslessStringConvertible>(_ value: Value?, in defaults: UserDefaults) {
    defaults.set(value, forKey: "k")
    defaults.set(value?.description, forKey: "k")
}

func storeBytes<Bytes: DataProtocol>(_ bytes: Bytes, in defaults: UserDefaults) {
    defaults.set(bytes, forKey: "k")
    defaults.set(Data(bytes), forKey: "k")
}

func storeRaw<Value: RawRepresentable>(_ value: Value, in defaults: UserDefaults) where Value.RawValue == Int {
    defaults.set(value.rawValue, forKey: "k")
}

func fetch<Value>(_ type: Value.Type = Value.self, from defaults: UserDefaults) -> Value? {
    defaults.object(forKey: "k") as? Value
}

func onSubclass<Store: UserDefaults>(_ store: Store, data: Data) -> Data? {
    store.set(data, forKey: "k")
    store.set(1, forKey: "k")
    return store.data(forKey: "k")
}

func onSome(_ store: some UserDefaults, data: Data) { store.set(data, forKey: "k") }

func callGenerics(data: Data) throws {
    store(data, in: .standard)
    try storeEncoded(["a": 1], in: .standard)
    storeNative(5, in: .standard)
    storeBytes(data, in: .standard)
    let number: Int? = fetch(from: .standard)
    let text = fetch(String.self, from: .standard)
    _ = onSubclass(UserDefaults.standard, data: data)
    onSome(UserDefaults.standard, data: data)
    _ = (number, text)
}

// MARK: Asynchronous and isolated code

func transformLater<Result>(_ body: (UserDefaults) async throws -> Result) async rethrows -> Result {
    try await body(.standard)
}

func asynchronous(data: Data) async throws {
    UserDefaults.standard.set(data, forKey: "k")
    let found = UserDefaults.standard.data(forKey: "k")
    await Task { UserDefaults.standard.set(Data(), forKey: "k") }.value
    _ = await Task { UserDefaults.standard.data(forKey: "k") }.value
    async let later = UserDefaults.standard.data(forKey: "k")
    let awaited = try await transformLater { $0.data(forKey: "k") }
    _ = await (later, found, awaited)
    await withTaskGroup(of: Void.self) { group in
        group.addTask { UserDefaults.standard.set(data, forKey: "k") }
    }
    Task.detached { UserDefaults.standard.set(data, forKey: "k") }
}

@MainActor
final class Model {
    let defaults: UserDefaults
    var data = Data() { didSet { defaults.set(data, forKey: "data") } }
    lazy var size = defaults.data(forKey: "data")?.count ?? 0

    init(defaults: UserDefaults = .standard) {
        self.defaults = defaults
        if let data = defaults.data(forKey: "data") { self.data = data }
    }

    func save() { defaults.set(data, forKey: "data") }

    func load() async { data = defaults.data(forKey: "data") ?? Data() }
}

actor Cache {
    private let defaults = UserDefaults(suiteName: "cache")

    func put(_ data: Data) { defaults?.set(data, forKey: "data") }

    func get() -> Data? { defaults?.data(forKey: "data") }
}

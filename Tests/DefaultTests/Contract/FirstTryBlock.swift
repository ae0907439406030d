import Default
import Foundation
import Observation
import Testing

private struct Constant: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue = Constant()
}

private struct OfSelf: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue = Self()
}

private struct Typed: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue: Typed = .init()
}

private struct Optional: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue: Optional? = Optional()
}

private struct Computed: DefaultStorable, Equatable {
    var theme = "bright"
    static var defaultValue: Computed { Computed() }
}

private struct ComputedSelf: DefaultStorable, Equatable {
    var theme = "bright"
    static var defaultValue: Self { Self() }
}

private struct ComputedOptional: DefaultStorable, Equatable {
    var theme = "bright"
    static var defaultValue: Self? { Self() }
}

private struct Box<Content: Codable & Equatable>: DefaultStorable, Equatable {
    var content: Content?
    static var defaultValue: Box { Box() }
}

private struct Extended: Equatable {
    var theme = "bright"
}

extension Extended: DefaultStorable {
    static let defaultValue = Extended()
}

private enum Level: String, DefaultStorable {
    case low
    case high
    static let defaultValue = Level.low
}

private final class Final: DefaultStorable, Equatable, Sendable {
    let theme: String

    init() { theme = "bright" }

    static let defaultValue = Final()
    static func == (one: Final, other: Final) -> Bool { one.theme == other.theme }
}

private final class FinalSelf: DefaultStorable, Equatable {
    var theme = "bright"
    static var defaultValue: Self { Self() }
    static func == (one: FinalSelf, other: FinalSelf) -> Bool { one.theme == other.theme }
}

private class Open: DefaultStorable, Equatable {
    var theme = "bright"

    required init() {}

    class var defaultValue: Self { Self() }
    static func == (one: Open, other: Open) -> Bool { one.theme == other.theme }
}

private final class Derived: Open {}

private class OpenOptional: DefaultStorable, Equatable {
    var theme = "bright"

    required init() {}

    static var defaultValue: Self? { Self() }
    static func == (one: OpenOptional, other: OpenOptional) -> Bool { one.theme == other.theme }
}

private struct Unset: DefaultStorable, Equatable {
    var theme = "bright"
}

private struct Unrelated: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue = 5
}

private struct Bookmark: DefaultProviding, Equatable {
    var url: String
    var tags: [String] = []
    static let defaultValue = Bookmark(url: "about:blank")
}

private struct Nothing: DefaultProviding, Equatable {
    var url = ""
    var tags: [String] = []
    static let defaultValue = 5
}

private struct Earlier: DefaultProviding {
    var size = 12
    var scale = 2
    static let defaultValue = Earlier()
}

private struct Later: DefaultMigratable, Equatable {
    var width: Int
    static let defaultValue = Later(width: 0)

    init(width: Int) { self.width = width }

    init(migrating previous: Earlier) { width = previous.size * previous.scale }
}

private typealias Settings = any (DefaultStorable & Equatable).Type

private let declaringTypes: [Settings] = [
    Constant.self, OfSelf.self, Typed.self, Optional.self, Computed.self, ComputedSelf.self, ComputedOptional.self,
    Box<Int>.self, Extended.self, Level.self, Final.self, FinalSelf.self, Open.self, Derived.self, OpenOptional.self,
]

@Suite("A default value")
struct DefaultValueForms {
    @Test("counts in each way in which a type can declare it")
    func forms() throws {
        func check<Declaring: DefaultStorable & Equatable>(_ type: Declaring.Type) throws {
            let store = MemoryDefaults()
            // Generic code gets the value like this.
            let value = try #require(Declaring.defaultValue)
            #expect(Declaring.read(from: store) == value)
            #expect(LiveSettings<Declaring>(in: store).value == value)
            try Declaring.update(in: store) { $0 = value }
            #expect(try Declaring.load(from: store) == value)
        }
        for type in declaringTypes {
            try check(type)
        }
    }

    @Test("is of the subclass whose value is read")
    func subclass() throws {
        let read: Derived? = Derived.read(from: MemoryDefaults())
        #expect(type(of: try #require(read)) == Derived.self)
    }

    @Test("is nil where a type declares none, or one of another type, and an error says what to declare")
    func none() {
        let store = MemoryDefaults()
        #expect(Unset.defaultValue == nil)
        #expect(Unset.read(from: store) == nil)
        #expect(Unrelated.read(from: store) == nil)
        let error = expectError(.valueMissing) { try Unrelated.update(in: store) { $0.theme = "dark" } }
        #expect(error?.description.contains("`static var defaultValue: Unrelated?`") == true)
        #expect(error?.description.contains("A defaultValue of an unrelated type is not used.") == true)
    }

    @Test("fills in settings, elements and predecessors")
    func fillingIn() throws {
        let store = MemoryDefaults()
        try store.setStoredValue(.data(Data("{}".utf8)), forKey: "Constant")
        #expect(try Constant.loadWithReport(from: store)?.report.filledIn == ["theme"])
        let key = Defaults.Key<[Bookmark]>("bookmarks")
        try store.setStoredValue(.data(Data(#"[{"url":"a"},{}]"#.utf8)), forKey: "bookmarks")
        expectEvents([.filledIn]) {
            #expect(store[key] == [Bookmark(url: "a"), Bookmark(url: "about:blank")])
        }
        try store.setStoredValue(.data(Data(#"{"size":7}"#.utf8)), forKey: "Later")
        #expect(try Later.loadWithReport(from: store)?.value == Later(width: 14))
    }

    @Test("that an element type lacks is reported once")
    func missing() throws {
        let store = MemoryDefaults()
        let key = Defaults.Key<[Nothing]>("nothing")
        try store.setStoredValue(.data(Data(#"[{"url":"a"}]"#.utf8)), forKey: "nothing")
        let collector = EventCollector()
        collector.collect {
            _ = store[key]
            _ = store[key]
        }
        let events = collector.events.filter { $0.kind == .defaultUnusable }
        #expect(events.count == 1)
        #expect(events.first?.error.description.contains("`static var defaultValue: Nothing?`") == true)
    }
}

private enum Theme: String {
    case light
    case dark
}

private struct Sides: OptionSet, Hashable {
    let rawValue: Int
    static let left = Sides(rawValue: 1)
}

private struct Token: Codable, Equatable {
    var text: String
}

/// A coder with a secret, without which nothing can be read; it is no encryption.
private struct Sealing: DefaultsEncoder, DefaultsDecoder {
    let secret: @Sendable () -> UInt8

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        Data(try JSONEncoder().encode(value).map { $0 ^ secret() })
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: Data(data.map { $0 ^ secret() }))
    }
}

extension DefaultsCoder {
    fileprivate static var sealed: DefaultsCoder { sealed(with: 7) }

    fileprivate static func sealed(with secret: @autoclosure @escaping @Sendable () -> UInt8) -> DefaultsCoder {
        DefaultsCoder(encoder: Sealing(secret: secret), decoder: Sealing(secret: secret))
    }
}

extension Defaults.Keys {
    fileprivate static let volume = Key<Double>("volume")
    fileprivate static let launchCount = Key<Int>("launchCount")
    fileprivate static let list = Key<[String]>("list")
    fileprivate static let title = Key<String?>("title")
    fileprivate static let rows = Key<[[Theme]]>("rows")
    fileprivate static let groups = Key<[String: [Theme]]>("groups")
    fileprivate static let tables = Key<[[String: Theme]]>("tables")
    fileprivate static let sets = Key<[String: Set<Sides>]>("sets")
    fileprivate static let startRows = Key<[[Theme]]>("start rows", default: [[.dark]])
    fileprivate static let newRows = Key<[[Theme]]>("new rows", default: [[.light]])
    fileprivate static let optionalRows = Key<[[Theme]]?>("optional rows")
    fileprivate static let token = Key<Token?>("token", coder: .sealed)
    fileprivate static let plainToken = Key<Token?>("token")
    fileprivate static let otherToken = Key<Token?>("token", coder: .sealed(with: 9))
    fileprivate static let sealedTheme = Key<String>("sealed theme", default: "light", coder: .sealed)
    fileprivate static let tokens = Key<[Token]>("tokens", default: [], coder: .propertyList)
}

#if Foundation
extension Defaults.Keys {
    fileprivate static let objects = Key<[[NSUUID]]>("objects")
    fileprivate static let newObjects = Key<[[NSString]]>("new objects", default: [["a"]])
    fileprivate static let objectGroups = Key<[String: [NSUUID]]?>("object groups")
    fileprivate static let bytes = Key<NSData>("bytes")
    fileprivate static let names = Key<NSArray>("names")
    fileprivate static let text = Key<NSString>("text")
    fileprivate static let table = Key<NSDictionary>("table")
}

extension Shared {
    static let foundation = Defaults(suite: UserDefaults.standard)
}
#endif

extension PersistentStorage {
    fileprivate var secret: KeyValueContainer<Token> { makeContainer(coder: .sealed) }
    fileprivate var level: KeyValueContainer<Double> { makeContainer(default: 0.5, coder: .sealed) }
}

private final class Vault: KeyValueStorage {
    var values: [String: Any] = [:]

    func value<T: Codable>(forKey key: String) -> T? { values[key] as? T }

    func setValue<T: Codable>(_ value: T?, forKey key: String) { values[key] = value }
}

private enum Shared {
    static let suite = MemoryDefaults()
    static let defaults = Defaults(suite: suite)
    static let standard = Defaults(suite: .standard)
}

private let globalDefaults = Defaults(suite: MemoryDefaults())

@MainActor @Observable
private final class Model {
    @ObservationIgnored @Stored(.volume) var volume
    @ObservationIgnored @Stored(.title) var title
    var isPlaying = false
}

@Suite("The way people write it first", .waits)
struct FirstTryBlock {
    @Test("a typed key on a store reads, writes, and changes in place", arguments: StoreKind.allCases)
    func keysOnStores(kind: StoreKind) throws {
        try kind.withStore { store in
            #expect(store[.volume] == 0)
            store[.volume] = 0.5
            store[.volume] -= 0.25
            store[.list].append("x")
            store[.list][0] += " 4"
            #expect(store[.title] == nil)
            store[.title] = "a"
            store[.title]? += "b"
            let held = DefaultsKey<String?>("title")
            #expect((store[.volume], store[.list], store[held]) == (0.25, ["x 4"], "ab"))
            store[.title] = nil
            #expect(store.storedValue(forKey: "title") == nil)
            #expect(store.storedValue(forKey: "volume") == .real(0.25))
            expectReport(.invalidKey) { store[DefaultsKey<Int>("")] = 1 }
        }
    }

    @Test("a typed key on a concrete store")
    func keysOnConcreteStores() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "app.defaults"))
            suite[.volume] = 0.4
            suite[.launchCount] += 1
            #expect((suite.double(forKey: "volume"), suite.integer(forKey: "launchCount")) == (0.4, 1))
        }
    }

    @Test("changes in place of a store's key lose nothing on eight threads", arguments: StoreKind.allCases)
    func threads(kind: StoreKind) throws {
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            try onEightThreads {
                for _ in 0..<kind.rounds {
                    shared.store[.launchCount] += 1
                    shared.store[.list].append("x")
                }
            }
            #expect(store[.launchCount] == 8 * kind.rounds)
            #expect(store[.list].count == 8 * kind.rounds)
        }
    }

    @Test("a read of a store's key is tracked")
    func tracking() {
        let store = MemoryDefaults()
        let changes = MemoryDefaults()
        withObservationTracking {
            _ = store[.volume]
        } onChange: {
            changes[.launchCount] += 1
        }
        store[.title] = "x"
        #expect(changes[.launchCount] == 0)
        store[.volume] = 0.3
        #expect(changes[.launchCount] == 1)
    }

    @Test("Defaults of a store are a global constant, used from any task")
    func sharedDefaults() async {
        await Task.detached(executorPreference: TestThreads.waiting) {
            Shared.defaults[.launchCount] += 1
            globalDefaults[.launchCount] += 2
        }.value
        #expect(Shared.suite[.launchCount] == 1)
        #expect(globalDefaults[.launchCount] == 2)
        #expect(Shared.standard.suite is StandardDefaults)
    }

    @Test(
        "nested collections of enums and option sets are stored as what is inside",
        arguments: StoreKind.allCases
    )
    func nested(kind: StoreKind) throws {
        try kind.withStore { store in
            #expect(store[.rows] == [])
            store[.rows].append([.dark, .light])
            store[.groups]["a"] = [.dark]
            store[.tables] = [["k": .light]]
            store[.sets]["x"] = [.left]
            #expect(store[.rows] == [[.dark, .light]])
            #expect(store.storedValue(forKey: "rows") == .array([.array([.string("dark"), .string("light")])]))
            #expect(store[.groups] == ["a": [.dark]])
            #expect(store.storedValue(forKey: "groups") == .dictionary(["a": .array([.string("dark")])]))
            #expect(store[.tables] == [["k": .light]])
            #expect(store[.sets] == ["x": [.left]])
            #expect((store[.startRows], store[.newRows], store[.optionalRows]) == ([[.dark]], [[.light]], nil))
            store[.optionalRows] = [[.dark]]
            #expect(store[.optionalRows] == [[.dark]])
            try store.setStoredValue(.array([.array([.string("gone")])]), forKey: "rows")
            expectReport(.typeMismatch) { #expect(store[.rows] == []) }
        }
    }

    #if Foundation
    @Test("a typed key on a store that isn't Sendable")
    func keysOnUserDefaults() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            suite[.launchCount] += 1
            #expect(suite.integer(forKey: "launchCount") == 1)
        }
        #expect(Shared.foundation.suite is UserDefaults)
    }

    @Test("nested collections of objects are stored as what is inside", arguments: StoreKind.allCases)
    func nestedObjects(kind: StoreKind) throws {
        try kind.withStore { store in
            let object = NSUUID()
            #expect(store[.objects] == [])
            store[.objects] = [[object]]
            store[.objectGroups] = ["a": [object]]
            #expect(store[.objects] == [[object]])
            #expect(store[.objectGroups] == ["a": [object]])
            #expect(store[.newObjects] == [["a"]])
        }
    }

    @Test("Foundation's property-list objects need no default")
    func objects() {
        let store = MemoryDefaults()
        #expect((store[.bytes], store[.names], store[.text], store[.table]) == (NSData(), [], "", [:]))
        store[.names] = ["a", 1]
        store[.table] = ["a": 1]
        #expect(store[.names] == ["a", 1])
        #expect(store.storedValue(forKey: "table") == .dictionary(["a": .integer(1)]))
        let keys: [Defaults.Keys] = [.names, .table]
        #expect(keys.map(\.storedName) == ["names", "table"])
    }
    #endif

    @Test("a key's own coder alone reads what it makes", arguments: StoreKind.allCases)
    func coders(kind: StoreKind) throws {
        try kind.withStore { store in
            store[.token] = Token(text: "secret")
            store[.token]?.text += "!"
            #expect(store[.token] == Token(text: "secret!"))
            let bytes = try #require(store.storedValue(forKey: "token"))
            #expect(bytes == .data(try DefaultsCoder.sealed.encode(Token(text: "secret!"))))
            for key in [Defaults.Keys.plainToken, .otherToken] {
                #expect(EventCollector().collect { store[key] } == nil)
                expectError(.undecodable) { try Defaults(suite: store).load(key) }
            }
            #expect(store.storedValue(forKey: "token") == bytes)

            // A value that can't be read is quarantined, not lost.
            expectEvents([.quarantined]) { store[.otherToken] = Token(text: "new") }
            #expect(try Defaults(suite: store).quarantined(.token).map(\.value) == [bytes])

            // This key reads no forms that other keys read.
            for foreign in [#"{"text":"plain"}"#, "plain"] {
                try store.setStoredValue(.string(foreign), forKey: "token")
                expectError(.typeMismatch) { try Defaults(suite: store).load(.token) }
                #expect(try Defaults(suite: store).convertForms(of: .token).isEmpty)
            }
            try store.setStoredValue(.data(Data(#"{"text":"plain"}"#.utf8)), forKey: "token")
            expectError(.undecodable) { try Defaults(suite: store).load(.token) }
            store[.token] = nil
            #expect(store.storedValue(forKey: "token") == nil)
            let bytesKey = Defaults.Key<Data?>("bytes", coder: .sealed)
            let twice = try JSONEncoder().encode(DefaultsCoder.sealed.encode(Data([1])))
            try store.setStoredValue(.data(twice), forKey: "bytes")
            expectError(.undecodable) { try Defaults(suite: store).load(bytesKey) }

            #expect(store[.sealedTheme] == "light")
            store[.sealedTheme] = "dark"
            #expect(store[.sealedTheme] == "dark")
            #expect(store.storedValue(forKey: "sealed theme") == .data(try DefaultsCoder.sealed.encode("dark")))
            store[.tokens].append(Token(text: "a"))
            #expect(store[.tokens] == [Token(text: "a")])
        }
    }

    @Test("a key's own coder decodes at each read, so a changed secret makes the value unreadable immediately")
    func changedSecret() throws {
        let secret = MemoryDefaults()
        secret[.launchCount] = 1
        let key = Defaults.Key<Token?>("token", coder: .sealed(with: UInt8(secret[.launchCount])))
        let defaults = Defaults(suite: MemoryDefaults())
        try defaults.save(Token(text: "a"), for: key)
        for _ in 0..<4 {
            #expect(try defaults.load(key) == Token(text: "a"))
        }
        secret[.launchCount] = 2
        expectError(.undecodable) { try defaults.load(key) }
        expectEvents([.quarantined]) { defaults[key] = Token(text: "b") }
        #expect(try defaults.quarantined(key).count == 1)
        secret[.launchCount] = 1
        expectError(.undecodable) { try defaults.load(key) }
    }

    @Test("keys of one name and type, with and without a coder, don't read each other's values, in any order")
    func keysOfOneName() throws {
        let defaults = Defaults(suite: MemoryDefaults())
        let plain = Defaults.Key<Token?>("one", default: nil)
        let coded = Defaults.Key<Token?>("one", coder: .sealed)
        try defaults.save(Token(text: "a"), for: coded)
        for _ in 0..<4 {
            expectError(.undecodable) { try defaults.load(plain) }
            #expect(try defaults.load(coded) == Token(text: "a"))
        }
        try defaults.save(Token(text: "b"), for: plain)
        for _ in 0..<4 {
            #expect(try defaults.load(plain) == Token(text: "b"))
            expectError(.undecodable) { try defaults.load(coded) }
        }
    }

    @Test("a container's own coder alone reads what it makes")
    func containerCoders() throws {
        let store = MemoryDefaults()
        try withDefaults(store) {
            let storage = try #require(PersistentStorage())
            storage.secret.value = Token(text: "a")
            storage.secret.value?.text += "b"
            #expect(storage.secret.value == Token(text: "ab"))
            #expect(store.storedValue(forKey: "secret") == .data(try DefaultsCoder.sealed.encode(Token(text: "ab"))))
            try storage.secret.update { $0?.text += "c" }
            #expect(storage.secret.value == Token(text: "abc"))
            storage.level.currentValue += 1
            #expect(storage.level.value == 1.5)
            let other: KeyValueContainer<Token> = storage.makeContainer(key: "secret")
            expectReport(.undecodable) { #expect(other.value == nil) }
            storage.secret.remove()
            #expect(!storage.secret.exists)
        }
    }

    @Test("a container's own coder in a storage that isn't a store")
    func codersInOwnStorage() throws {
        let vault = Vault()
        let container = KeyValueContainer<Token>(storage: vault, key: "k", coder: .sealed)
        container.value = Token(text: "a")
        container.value?.text += "b"
        try container.update { $0?.text += "c" }
        #expect(container.value == Token(text: "abc"))
        #expect(vault.values["k"] as? Data == (try DefaultsCoder.sealed.encode(Token(text: "abc"))))
        let other = KeyValueContainer<Token>(storage: vault, key: "k", coder: .sealed(with: 9))
        expectReport(.undecodable) { #expect(other.value == nil) }
        // A value that can't be read is not replaced by a change in place.
        EventCollector().collect { other.value? = Token(text: "b") }
        #expect(container.value == Token(text: "abc"))
        expectError(.undecodable) { try other.update { $0 = Token(text: "b") } }
        let defaulted = KeyValueContainer(
            storage: vault,
            key: "k",
            defaultValue: Token(text: "d"),
            coder: .sealed(with: 9)
        )
        EventCollector().collect { defaulted.currentValue.text += "!" }
        #expect(container.value == Token(text: "abc"))
        container.remove()
        #expect(vault.values.isEmpty)
    }

    @Test("a container in a storage that isn't a store names key, type and storage in its errors, and keeps the value")
    func errorsInOwnStorage() throws {
        let vault = Vault()
        let container = KeyValueContainer<[Double]>(storage: vault, key: "k", coder: .json)
        try container.update { $0 = [1] }
        let bytes = vault.values["k"] as? Data
        #expect(bytes == Data("[1]".utf8))
        func expectFault(_ error: DefaultsError?, _ code: DefaultsError.Code, _ key: String) {
            #expect(error?.code == code && error?.key == key && error?.store?.hasSuffix(".Vault") == true)
            #expect(error?.type.map { "\($0)" } == "Array<Double>")
        }
        let collector = EventCollector()
        collector.collect {
            container.value = [.nan]
            container.value?.append(.nan)
        }
        #expect(collector.events.map(\.kind) == [.writeFailed, .writeFailed])
        for event in collector.events {
            expectFault(event.error, .encodingFailed, "k")
            #expect(event.error.underlyingError is EncodingError)
        }
        // An update throws, and reports nothing.
        expectEvents([]) {
            expectFault(expectError(.encodingFailed) { try container.update { $0 = [.nan] } }, .encodingFailed, "k")
        }
        #expect(vault.values["k"] as? Data == bytes)

        vault.values["other"] = Data("{}".utf8)
        let other = KeyValueContainer<[Double]>(storage: vault, key: "other", defaultValue: [2], coder: .json)
        let reads = EventCollector()
        reads.collect {
            #expect(other.value == [2] && !other.exists)
            #expect(other.currentValue == [2])
        }
        #expect(reads.events.map(\.kind) == [.readFailed])
        expectFault(reads.events.first?.error, .undecodable, "other")
        #expect(reads.events.first?.description.contains(#"The 2 bytes stored under "other" in "#) == true)
        expectFault(expectError(.undecodable) { try other.update { _ in } }, .undecodable, "other")
    }

    @Test("a quarantined value is stored again, if it can be read now")
    func restoring() throws {
        enum Before {
            struct Settings: DefaultStorable { var level: Int }
        }
        struct Settings: DefaultStorable { var level: Double }
        let suite = MemoryDefaults()
        let stored = Data(#"{"level":0.5}"#.utf8)
        try suite.setStoredValue(.data(stored), forKey: "Settings")
        try EventCollector().collect { try Before.Settings(level: 1).save(to: suite) }
        expectError(.undecodable) { try Before.Settings.restoreQuarantined(in: suite) }
        #expect(try Settings.restoreQuarantined(in: suite)?.data == stored)
        #expect(Settings.read(from: suite)?.level == 0.5)
        #expect(suite.data(forKey: "Settings") == stored)
    }

    @Test("one property of an observable class is one tracked key")
    @MainActor
    func model() {
        let store = MemoryDefaults()
        let changes = MemoryDefaults()
        withDefaults(store) {
            let model = Model()
            withObservationTracking {
                _ = (model.volume, model.isPlaying)
            } onChange: {
                changes[.launchCount] += 1
            }
            model.title = "x"
            #expect(changes[.launchCount] == 0)
            model.volume += 0.5
            #expect(changes[.launchCount] == 1)
            #expect((store[.volume], store[.title]) == (0.5, "x"))
        }
    }
}

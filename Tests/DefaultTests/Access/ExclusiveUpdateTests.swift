import Default
import DefaultJournal
import Foundation
import Testing

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count")
}

private struct Tally: DefaultStorable {
    var count = 0
    static var defaultValue: Tally? { Tally() }
}

/// A test's own storage, which several threads may use.
private struct Vault: KeyValueStorage {
    private let contents = Locked<[String: Data]>([:])

    func value<T: Codable>(forKey key: String) -> T? {
        contents.withLock { $0[key] }.flatMap { try? JSONDecoder().decode(T.self, from: $0) }
    }

    func setValue<T: Codable>(_ value: T?, forKey key: String) {
        let data = value.flatMap { try? JSONEncoder().encode($0) }
        contents.withLock { $0[key] = data }
    }
}

/// A storage that records how its exclusive access is used, and can refuse it.
private final class Recording: KeyValueStorage, Sendable {
    struct Refusal: Error {}

    let refuses: Bool
    private let contents = MemoryDefaults()
    private let recorded = Locked<[String]>([])

    init(refuses: Bool = false) {
        self.refuses = refuses
    }

    var calls: [String] { recorded.withLock { $0 } }

    private func record(_ call: String) {
        recorded.withLock { $0.append(call) }
    }

    func value<T: Codable>(forKey key: String) -> T? {
        record("read")
        return contents.value(forKey: key)
    }

    func setValue<T: Codable>(_ value: T?, forKey key: String) {
        record("write")
        contents.setValue(value, forKey: key)
    }

    func beginExclusiveAccess() throws {
        record("begin")
        if refuses {
            throw Refusal()
        }
    }

    func endExclusiveAccess() {
        record("end")
    }
}

/// A store that checks whether exclusive access has begun.
private final class Exclusive: DefaultsStore, Sendable {
    private let contents = MemoryDefaults()
    private let depth = Locked(0)

    var isExclusive: Bool { depth.withLock { $0 > 0 } }

    func storedValue(forKey key: String) -> PropertyListValue? { contents.storedValue(forKey: key) }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try contents.setStoredValue(value, forKey: key)
    }

    func storedKeys() -> [String] { contents.storedKeys() }

    func flush() {}

    var storeDescription: String { "Exclusive" }

    func beginExclusiveAccess() throws {
        depth.withLock { $0 += 1 }
    }

    func endExclusiveAccess() {
        depth.withLock { $0 -= 1 }
    }
}

/// A store that may refuse exclusive access, and counts how often it begins and ends.
private final class Gate: UserDefaultsVocabulary, Sendable {
    struct Refusal: Error {}

    let storeDescription = "Gate"
    private let contents = MemoryDefaults()
    private let counts = Locked((refuses: false, begins: 0, ends: 0))

    var begins: Int { counts.withLock { $0.begins } }
    var ends: Int { counts.withLock { $0.ends } }

    func refuse() { counts.withLock { $0.refuses = true } }

    func storedValue(forKey key: String) -> PropertyListValue? { contents.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try contents.setStoredValue(value, forKey: key)
    }
    func storedKeys() -> [String] { contents.storedKeys() }
    func flush() {}
    func register(defaults: [String: Any]) {}
    func dictionaryRepresentation() -> [String: Any] { contents.dictionaryRepresentation() }

    func beginExclusiveAccess() throws {
        try counts.withLock {
            if $0.refuses { throw Refusal() }
            $0.begins += 1
        }
    }

    func endExclusiveAccess() { counts.withLock { $0.ends += 1 } }
}

/// A closure that a test calls on other threads than its own.
private struct UnsafeBody: @unchecked Sendable {
    let body: () throws -> Void
}

@Suite("An update", .waits)
struct ExclusiveUpdateTests {
    /// Runs a body several times on each of eight threads.
    private func repeatOnEightThreads(_ rounds: Int = 50, _ body: @escaping () throws -> Void) throws {
        let shared = UnsafeBody(body: body)
        try onEightThreads {
            for _ in 0..<rounds {
                try shared.body()
            }
        }
    }

    @Test("of a typed key is exclusive", arguments: StoreKind.allCases)
    func typedKey(kind: StoreKind) throws {
        try kind.withStore { store in
            try repeatOnEightThreads(kind.rounds) { try Defaults(suite: store).update(.count) { $0 += 1 } }
            #expect(Defaults(suite: store)[.count] == 8 * kind.rounds)
        }
    }

    @Test("of a container is exclusive", arguments: StoreKind.allCases)
    func container(kind: StoreKind) throws {
        try kind.withStore { store in
            let container: KeyValueContainer<Int> = store.makeContainer(key: "count")
            try repeatOnEightThreads(kind.rounds) { try container.update { $0 = ($0 ?? 0) + 1 } }
            #expect(container.value == 8 * kind.rounds)
        }
    }

    @Test("of a container of a part of a suite is exclusive", arguments: StoreKind.allCases)
    func partOfSuite(kind: StoreKind) throws {
        try kind.withStore { store in
            try repeatOnEightThreads(kind.rounds) {
                try withDefaults(store) {
                    let storage = try #require(PersistentStorage(keyPrefix: "part."))
                    let container: KeyValueContainer<Int> = storage.makeContainer(key: "count")
                    try container.update { $0 = ($0 ?? 0) + 1 }
                }
            }
            #expect(store.object(forKey: "part.count") as? Int == 8 * kind.rounds)
        }
    }

    @Test("of a container of a custom storage is exclusive, and so is a change in place")
    func vault() throws {
        let container = KeyValueContainer<Int>(storage: Vault(), key: "count", defaultValue: 0)
        try repeatOnEightThreads { try container.update { $0 = ($0 ?? 0) + 1 } }
        #expect(container.value == 400)
        try repeatOnEightThreads { container.value? += 1 }
        #expect(container.value == 800)
    }

    @Test("in place of a container begins exclusive access, and ends it if it has begun")
    func containerAccess() {
        let storage = Recording()
        KeyValueContainer<Int>(storage: storage, key: "count", defaultValue: 0).value? += 1
        #expect(storage.calls == ["begin", "read", "write", "end"])
    }

    @Test("in place of a container whose storage refuses exclusive access stores nothing, and says why")
    func refusedContainerAccess() {
        let storage = Recording(refuses: true)
        let changes: [(KeyValueContainer<Int>) -> Void] = [{ $0.value? += 1 }, { $0.currentValue += 1 }]
        for coder in [nil, DefaultsCoder.json] {
            let container = KeyValueContainer<Int>(storage: storage, key: "count", defaultValue: 7, coder: coder)
            for change in changes {
                let collector = EventCollector()
                collector.collect { change(container) }
                #expect(collector.events.map(\.kind) == [.writeFailed] && collector.codes == [.storeFailed])
                let error = collector.events.first?.error
                #expect(error?.key == "count" && error?.type == Int.self)
                #expect(error?.underlyingError is Recording.Refusal)
            }
        }
        #expect(storage.calls == ["begin", "begin", "begin", "begin"])
    }

    @Test("in place of a key begins exclusive access, and ends it as often, whether it stores anything or not")
    func keyAccess() throws {
        struct Stop: Error {}
        func stop(_ count: inout Int) throws { throw Stop() }
        let store = Gate()
        let defaults = Defaults(suite: store)
        defaults[.count] += 1
        #expect(store.begins > 0 && store.ends == store.begins)
        let begins = store.begins
        do {
            try stop(&defaults[.count])
        } catch {}
        #expect(store.begins == begins + 1 && store.ends == store.begins)
        try store.setStoredValue(.string("text"), forKey: "count")
        expectEvents([.readFailed, .quarantined]) { defaults[.count] += 1 }
        defaults["count"] += 1
        expectError(.encodingFailed) { try defaults.update(DefaultsKey<[Double?]>("list")) { $0 = [.nan] } }
        #expect(store.begins > begins + 2 && store.ends == store.begins)
        #expect(defaults[.count] == 2)
    }

    @Test("in place that throws stores nothing, through each front end", arguments: StoreKind.allCases)
    func throwingChange(kind: StoreKind) throws {
        struct Stop: Error {}
        func stop(_ count: inout Int) throws {
            count = 9
            throw Stop()
        }
        func stopOptional(_ count: inout Int?) throws { try stop(&count!) }
        try kind.withStandardStore { store in
            let container: KeyValueContainer<Int> = store.makeContainer(default: 0, key: "count")
            let custom = KeyValueContainer(storage: Vault(), key: "count", defaultValue: 0)
            let live = LiveSettings<Tally>(in: store)
            let stored = Stored(.count)
            Defaults[.count] = 1
            custom.value = 1
            live.count = 1
            let changes: [() throws -> Void] = [
                { try stop(&Defaults[.count]) }, { try stop(&Defaults(suite: store)[.count]) },
                { try stop(&store[.count]) }, { try stop(&stored.wrappedValue) },
                { try stopOptional(&container.value) }, { try stop(&container.currentValue) },
                { try stopOptional(&custom.value) }, { try stop(&custom.currentValue) },
                { try stop(&live.count) }, { try stop(&live.value.count) },
            ]
            for (index, change) in changes.enumerated() {
                #expect(throws: Stop.self, "change \(index)") { try change() }
                #expect(Defaults[.count] == 1 && custom.value == 1 && live.count == 1, "change \(index)")
            }
            // The store is unlocked again.
            let shared = UnsafeStore(store)
            onAnotherThread { shared.store[.count] += 1 }
            #expect(Defaults[.count] == 2)
        }
    }

    @Test("of a store that refuses exclusive access stores nothing, and says why")
    func refusedAccess() throws {
        let store = Gate()
        let defaults = Defaults(suite: store)
        let number = DefaultsKey<Int>("count", default: 7)
        try store.setStoredValue(.integer(5), forKey: "count")
        store.refuse()
        let swallowed: [(DefaultsDiagnostics.Event.Kind, Any.Type?, () -> Void)] = [
            (.writeFailed, Int.self, { defaults[number] += 1 }),
            (.writeFailed, Int.self, { store[number] += 1 }),
            (.writeFailed, nil, { defaults["count"].setIfAbsent { 1 } }),
            (.removalFailed, nil, { defaults.remove("count") }),
        ]
        for (index, (kind, type, call)) in swallowed.enumerated() {
            let collector = EventCollector()
            collector.collect(call)
            #expect(collector.events.map(\.kind) == [kind] && collector.codes == [.storeFailed], "call \(index)")
            let error = collector.events.first?.error
            #expect(error?.key == "count" && error?.type == type && error?.store == "Gate", "call \(index)")
            #expect(error?.underlyingError is Gate.Refusal, "call \(index)")
        }
        let throwing: [(String?, Any.Type?, () throws -> Void)] = [
            ("count", Int.self, { try store.df.save(1, forKey: "count") }),
            ("count", Int.self, { try defaults.save(1, for: number) }),
            ("Tally", Tally.self, { try Tally().save(to: store) }),
            (nil, nil, { _ = try defaults.convertForms(of: number) }),
        ]
        for (index, (key, type, call)) in throwing.enumerated() {
            let error = expectError(.storeFailed, "call \(index)", from: call)
            #expect(error?.key == key && error?.type == type && error?.store == "Gate", "call \(index)")
            #expect(error?.underlyingError is Gate.Refusal, "call \(index)")
        }
        #expect(throws: (any Error).self) { try defaults.update(number) { $0 += 1 } }
        #expect(store.begins == 0 && store.ends == 0)
        #expect(store.storedValue(forKey: "count") == .integer(5))
    }

    @Test("that stores only what is absent makes the value with exclusive access to its store")
    func absentValue() {
        let store = Exclusive()
        Defaults(suite: store)["k"].setIfAbsent {
            #expect(store.isExclusive)
            return 1
        }
        #expect(store.storedValue(forKey: "k") == .integer(1))
        #expect(!store.isExclusive)
    }

    @Test("of a settings type is exclusive", arguments: StoreKind.allCases)
    func settingsType(kind: StoreKind) throws {
        try kind.withStore { store in
            try repeatOnEightThreads(kind.rounds) { try Tally.update(in: store) { $0.count += 1 } }
            #expect(Tally.read(from: store)?.count == 8 * kind.rounds)
        }
    }

    @Test("that stores only what is absent stores the first value only", arguments: StoreKind.allCases)
    func onlyIfAbsent(kind: StoreKind) throws {
        try kind.withStore { store in
            let made = Locked(0)
            try repeatOnEightThreads(kind.rounds) {
                Defaults(suite: store)["k"].setIfAbsent {
                    made.withLock { made in
                        made += 1
                        return made
                    }
                }
            }
            #expect(made.withLock { $0 } == 1)
            #expect(store.object(forKey: "k") as? Int == 1)
        }
    }

    @Test("sees no other thread's plain writes while it runs", arguments: StoreKind.allCases)
    func plainWrites(kind: StoreKind) throws {
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            let isOver = Locked(false)
            let writing = DispatchGroup()
            writing.enter()
            let writer = Thread {
                defer { writing.leave() }
                var number: Int64 = 0
                while !isOver.withLock({ $0 }) {
                    number += 1
                    try? shared.store.setStoredValue(.integer(number), forKey: "k")
                    sched_yield()
                }
            }
            writer.start()
            // The writer must end before the test removes its folder: a later write would create the suite again.
            defer {
                isOver.withLock { $0 = true }
                writing.wait()
            }
            try wait(for: "the other thread's first write") { store.storedValue(forKey: "k") != nil }
            for _ in 0..<kind.rounds {
                try store.withExclusiveAccess {
                    let first = store.storedValue(forKey: "k")
                    for _ in 0..<20 {
                        sched_yield()
                    }
                    #expect(store.storedValue(forKey: "k") == first)
                }
            }
        }
    }

    @Test("gives its body's result, starts from what is stored, and stores nothing when its body throws")
    func outcomes() throws {
        struct Stop: Error {}
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let key = DefaultsKey<Int>("level", default: 7)
        let first = try defaults.update(key) { value in
            value += 1
            return "\(value)"
        }
        #expect(first == "8")
        #expect(throws: Stop.self) {
            try defaults.update(key) { (value: inout Int) throws in
                value = 100
                throw Stop()
            }
        }
        #expect(store.object(forKey: "level") as? Int == 8)
        // A value that can't be read is not replaced.
        try store.set("text", forKey: "level")
        expectError(.typeMismatch) { try defaults.update(key) { $0 += 1 } }
        let container: KeyValueContainer<Int> = store.makeContainer(key: "level")
        expectError(.typeMismatch) { try container.update { $0 = 1 } }
        #expect(store.object(forKey: "level") as? String == "text")
        container.remove()
        try container.update { $0 = 3 }
        #expect(try container.update { $0 } == 3)
        try container.update { $0 = nil }
        #expect(store.object(forKey: "level") == nil)
    }
}

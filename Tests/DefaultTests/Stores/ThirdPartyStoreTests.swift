import Default
import DefaultJournal
import Foundation
import Testing

final class Archive: DefaultsStore, @unchecked Sendable {
    private let file: URL, lock = NSLock()
    private var rows: [Data: Data] = [:]  // by the keys' bytes; under the lock

    init(file: URL) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let data = try Data(contentsOf: file)
        rows = try PropertyListDecoder().decode([Data: Data].self, from: data)
        let bad = rows.values.first { PropertyListValue(binaryForm: $0) == nil }
        if bad != nil { throw CocoaError(.fileReadCorruptFile) }
    }

    func storedValue(forKey key: String) -> PropertyListValue? {
        let form = lock.withLock { rows[Data(key.utf8)] }
        return form.flatMap { PropertyListValue(binaryForm: $0) }
    }

    func setStoredValue(_ new: PropertyListValue?, forKey key: String) throws {
        _ = try StoreKey(key)  // throws for an invalid key
        try new?.checkDepth(forKey: key, in: self)
        try withExclusiveAccess {  // waits for other threads; reads don't
            lock.withLock { rows[Data(key.utf8)] = new?.binaryForm }
        }
    }

    func storedKeys() -> [String] {
        lock.withLock { rows.keys.map { String(decoding: $0, as: UTF8.self) } }
    }

    func flush() throws {
        try withExclusiveAccess {
            // No other thread writes now, and reads change nothing.
            let contents = try PropertyListEncoder().encode(rows)
            try contents.write(to: file, options: .atomic)
        }
    }
    var storeDescription: String { "Archive(\(file.path))" }
}

/// Passes everything on to another store, under keys with a prefix; its observers are notified of its own keys.
struct PrefixedStore<Base: DefaultsStore>: DefaultsStore {
    let base: Base
    let prefix: String

    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: prefix + key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: prefix + key)
    }
    func storedKeys() -> [String] { base.storedKeys().compactMap { ownKey($0, prefix) } }
    func flush() throws { try base.flush() }
    var storeDescription: String { "\(base.storeDescription), prefix \(prefix)" }

    func beginExclusiveAccess() throws { try base.beginExclusiveAccess() }
    func endExclusiveAccess() { base.endExclusiveAccess() }
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try base.transaction(body) }

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges { [prefix] keys in
            let ownKeys = keys.map { Set($0.compactMap { ownKey($0, prefix) }) }
            if ownKeys?.isEmpty != true {
                handler(ownKeys)
            }
        }
    }
}

/// The part of a key behind a prefix, which may end within a character.
private func ownKey(_ key: String, _ prefix: String) -> String? {
    key.utf8.starts(with: prefix.utf8) ? String(Substring(key.utf8.dropFirst(prefix.utf8.count))) : nil
}

/// A store that fails, as one on a server may.
private struct FailingStore: UserDefaultsVocabulary {
    struct Outage: Error {}

    func storedValue(forKey key: String) -> PropertyListValue? { nil }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws { throw Outage() }
    func storedKeys() -> [String] { ["k"] }
    func flush() throws { throw Outage() }
    var storeDescription: String { "FailingStore" }
    func register(defaults: [String: Any]) {}
    func dictionaryRepresentation() -> [String: Any] { [:] }
}

/// A store that expects every change under its exclusive access.
private final class WatchfulStore: DefaultsStore {
    private var values: [String: PropertyListValue] = [:]
    private var depth = 0
    private(set) var changes: [String] = []

    func storedValue(forKey key: String) -> PropertyListValue? { values[key] }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        changes.append("\(value == nil ? "remove" : "set") \(key) \(depth > 0 ? "alone" : "unguarded")")
        values[key] = value
    }
    func storedKeys() -> [String] { Array(values.keys) }
    func flush() {}
    var storeDescription: String { "WatchfulStore" }

    func beginExclusiveAccess() { depth += 1 }
    func endExclusiveAccess() { depth -= 1 }
}

/// A store that gives no caller exclusive access.
private final class GuardedStore: DefaultsStore {
    struct Refusal: Error {}

    private var values: [String: PropertyListValue] = [:]
    private(set) var ends = 0

    func storedValue(forKey key: String) -> PropertyListValue? { values[key] }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) { values[key] = value }
    func storedKeys() -> [String] { Array(values.keys) }
    func flush() {}
    var storeDescription: String { "GuardedStore" }

    func beginExclusiveAccess() throws { throw Refusal() }
    func endExclusiveAccess() { ends += 1 }
}

private struct Watched: DefaultStorable {
    var count = 0
    nonisolated(unsafe) static let defaults = WatchfulStore()
    static var defaultValue: Watched? { Watched() }
}

@Suite("A store by a third party")
struct ThirdPartyStoreTests {
    @Test("is in the documentation as it is tested here, in less than 40 lines")
    func documentation() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let source = try String(
            contentsOf: root.appending(path: "Sources/Default/Stores/DefaultsStore.swift"),
            encoding: .utf8
        )
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let example = lines.drop { $0 != "/// ```swift" }.dropFirst().prefix { $0 != "/// ```" }
            .map { $0.dropFirst("/// ".count) }
        #expect((30..<40).contains(example.count))
        let tested = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        #expect(tested.contains(example.joined(separator: "\n")))
    }

    @Test("from the documentation has everything again that it had when it was flushed")
    func reopenedArchive() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending(path: "archive")
            let deep = (0..<256).reduce(PropertyListValue.real(-0.0)) { inner, _ in .array([inner]) }
            let archive = try Archive(file: file)
            try archive.setStoredValue(deep, forKey: "\u{E9}")
            try archive.setStoredValue(.string("e\u{301}"), forKey: "e\u{301}")
            try archive.flush()
            try archive.setStoredValue(.integer(1), forKey: "not flushed")
            let reopened = try Archive(file: file)
            #expect(reopened.storedKeys().count == 2)
            #expect(reopened.storedValue(forKey: "\u{E9}")?.binaryForm == deep.binaryForm)
            #expect(reopened.storedValue(forKey: "e\u{301}") == .string("e\u{301}"))
            try Data("damaged".utf8).write(to: file)
            #expect(throws: (any Error).self) { try Archive(file: file) }
        }
    }

    @Test("has df like any other")
    func accessor() throws {
        let base = MemoryDefaults()
        let store = PrefixedStore(base: base, prefix: "app.")
        try store.df.save([1, 2], forKey: "numbers")
        #expect(try store.df.load(forKey: "numbers", type: [Int].self) == [1, 2])
        #expect(base.storedValue(forKey: "app.numbers") == .data(Data("[1,2]".utf8)))
        try base.setStoredValue(.integer(1), forKey: "other")
        #expect(store.storedKeys() == ["numbers"])
    }

    @Test("that passes observation on is notified of its own keys")
    func observation() throws {
        let base = MemoryDefaults()
        let heard = Locked<[Set<String>?]>([])
        let observation = PrefixedStore(base: base, prefix: "app.").observeChanges { keys in
            heard.withLock { $0.append(keys) }
        }
        try base.setStoredValue(.integer(1), forKey: "app.k")
        try base.setStoredValue(.integer(1), forKey: "k")
        observation.cancel()
        #expect(heard.withLock { $0 } == [["k"]])
    }

    @Test("is changed under its exclusive access only")
    func exclusiveAccess() throws {
        try Watched(count: 1).save()
        try Watched.update { $0.count += 1 }
        try Watched.defaults.df.save(3, forKey: "k")
        try Watched.remove()
        let expected = ["set Watched", "set Watched", "set k", "remove Watched", "remove Watched.Type"]
        #expect(Watched.defaults.changes == expected.map { $0 + " alone" })
    }

    @Test("has its errors wrapped, with key and type")
    func errors() {
        let store = FailingStore()
        let key = Defaults.Key<Int>("k", default: 0)
        let calls: [(name: String, type: Any.Type?, call: () throws -> Void)] = [
            ("df.save", Int.self, { try store.df.save(1, forKey: "k") }),
            ("save", Int.self, { try Defaults(suite: store).save(1, for: key) }),
            ("update", Int.self, { try Defaults(suite: store).update(key) { $0 += 1 } }),
            ("set", nil, { try store.set(1, forKey: "k") }),
            ("set object", nil, { try store.set(1 as Any?, forKey: "k") }),
            ("removeObject", nil, { try store.removeObject(forKey: "k") }),
        ]
        for (name, type, call) in calls {
            let error = expectError(.storeFailed, Comment(rawValue: name), from: call)
            #expect(error?.key == "k")
            #expect(error?.type == type, "\(name)")
            #expect(error?.store == "FailingStore")
            #expect(error?.underlyingError is FailingStore.Outage)
            #expect(error?.description.hasPrefix(#"FailingStore failed for the key "k""#) == true, "\(name)")
        }
        for call in [{ _ = try store.synchronize() }, { try store.removeAll() }] as [() throws -> Void] {
            let error = expectError(.storeFailed, from: call)
            #expect(error?.key == nil && error?.store == "FailingStore")
            #expect(error?.underlyingError is FailingStore.Outage)
        }
    }

    @Test("has its errors reported once, as those of writes and of removals")
    func events() {
        let store = FailingStore()
        let defaults = Defaults(suite: store)
        let key = Defaults.Key<Int>("k", default: 0)
        typealias Kind = DefaultsDiagnostics.Event.Kind
        let calls: [(kind: Kind, call: () -> Void)] = [
            (.writeFailed, { defaults[key] = 1 }), (.writeFailed, { defaults[key] += 1 }),
            (.writeFailed, { store[key] = 1 }), (.writeFailed, { store[key] += 1 }),
            (.writeFailed, { defaults["k"] = 1 }), (.writeFailed, { defaults["k"] = nil }),
            (.writeFailed, { defaults["k"] += 1 }), (.writeFailed, { defaults["k"] -= 0.5 }),
            (.writeFailed, { store.df.store(1, forKey: "k") }), (.writeFailed, { store.setValue(1, forKey: "k") }),
            (.writeFailed, { KeyValueContainer<Int>(storage: store, key: "k").value = 1 }),
            (.removalFailed, { defaults.remove("k", "l") }), (.removalFailed, { defaults.remove("k") }),
            (.removalFailed, { defaults.reset(key) }), (.removalFailed, { key.reset(in: store) }),
            (.removalFailed, { defaults.removeAll() }),
        ]
        for (number, (kind, call)) in calls.enumerated() {
            let collector = EventCollector()
            collector.collect(call)
            #expect(collector.events.map(\.kind) == [kind], "\(number)")
            #expect(collector.codes == [.storeFailed], "\(number)")
            let error = collector.events.first?.error
            #expect(error?.key == "k" && error?.store == "FailingStore", "\(number)")
            #expect(error?.underlyingError is FailingStore.Outage, "\(number)")
        }
    }

    @Test("that refuses exclusive access is not changed in place, and has the refusal reported once")
    func refusedAccess() {
        let store = GuardedStore()
        let defaults = Defaults(suite: store)
        let key = Defaults.Key<Int>("k", default: 7)
        store.setStoredValue(.integer(1), forKey: "k")
        let changes: [() -> Void] = [
            { defaults[key] = 2 }, { defaults[key] += 1 }, { store[key] += 1 }, { defaults["k"] += 1 },
            { KeyValueContainer<Int>(storage: store, key: "k").value? += 1 },
        ]
        for (number, change) in changes.enumerated() {
            let collector = EventCollector()
            collector.collect(change)
            #expect(collector.events.map(\.kind) == [.writeFailed], "\(number)")
            #expect(collector.codes == [.storeFailed] && collector.events.first?.error.key == "k", "\(number)")
            #expect(collector.events.first?.error.underlyingError is GuardedStore.Refusal, "\(number)")
        }
        #expect(store.storedValue(forKey: "k") == .integer(1))
        #expect(store.ends == 0)
    }
}

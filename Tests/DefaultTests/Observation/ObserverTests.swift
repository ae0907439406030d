import DefaultJournal
import Foundation
import Observation
import Testing

@testable import Default

/// The notices that an observer has received.
private final class Notices: Sendable {
    private let heard = Locked<[Set<String>?]>([])

    var all: [Set<String>?] { heard.withLock { $0 } }
    var count: Int { all.count }

    func note(_ keys: Set<String>?) {
        heard.withLock { $0.append(keys) }
    }
}

/// A number that one thread writes and another one waits for.
private final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load() }

    func set(_ value: Int) {
        number.store(value)
    }
}

/// A third-party store that leaves observation and exclusive access to the default implementations.
private final class Plain: DefaultsStore, @unchecked Sendable {
    let storeDescription = "Plain \(UUID().uuidString)"
    private let values = Locked<[StoreKey: PropertyListValue]>([:])
    private let depth = Locked(0)
    private let listings = Locked<[Bool]>([])

    /// Whether exclusive access was held, for each listing of the keys.
    var exclusiveListings: [Bool] { listings.withLock { $0 } }

    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        depth.withLock { $0 += 1 }
        defer {
            depth.withLock { $0 -= 1 }
            endExclusiveAccess()
        }
        return try body()
    }

    func storedValue(forKey key: String) -> PropertyListValue? { values.withLock { $0[StoreKey(unchecked: key)] } }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        let storeKey = try StoreKey(key)
        try withExclusiveAccess { values.withLock { $0[storeKey] = value } }
    }
    func storedKeys() -> [String] {
        let isExclusive = depth.withLock { $0 > 0 }
        listings.withLock { $0.append(isExclusive) }
        return values.withLock { $0.keys.map(\.string) }
    }
    func flush() {}
}

/// A test's own storage with the two required methods, whose observation is the default implementation's.
private final class Listed: KeyValueStorage, Sendable {
    private let contents = Locked<[String: Data]>([:])

    func value<T: Codable>(forKey key: String) -> T? {
        contents.withLock { $0[key] }.flatMap { try? JSONDecoder().decode(T.self, from: $0) }
    }

    func setValue<T: Codable>(_ value: T?, forKey key: String) {
        let data = value.flatMap { try? JSONEncoder().encode($0) }
        contents.withLock { $0[key] = data }
    }
}

/// A settings type that was stored under another name before.
private struct Renamed: DefaultStorable, Equatable {
    var level = 1
    static var defaultValue: Renamed? { Renamed() }
    static var previousIdentifiers: [String] { ["Older", "Oldest"] }
}

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count")
    fileprivate static let title = DefaultsKey<String?>("title")
}

@Suite("An observer", .waits)
struct ObserverTests {
    @Test("is notified of changes until it ends, whatever other observers do", arguments: StoreKind.allCases)
    func twoObservers(kind: StoreKind) throws {
        try kind.withStore { store in
            // Several rounds, since observers of other stores come and go while this test runs.
            for round in 1...20 {
                let staying = Notices()
                let ending = Notices()
                let first = store.observeChanges(staying.note)
                let second = store.observeChanges(ending.note)
                try store.setStoredValue(.integer(Int64(round)), forKey: "k")
                #expect(staying.all == [["k"]])
                #expect(ending.all == [["k"]])
                second.cancel()
                second.cancel()
                try store.setStoredValue(.integer(Int64(-round)), forKey: "k")
                try store.setStoredValue(nil, forKey: "k")
                #expect(staying.all == [["k"], ["k"], ["k"]])
                #expect(ending.count == 1)
                first.cancel()
                try store.setStoredValue(.integer(0), forKey: "k")
                #expect(staying.count == 3)
            }
        }
    }

    #if Foundation
    @Test("of one UserDefaults is still notified when the last one of another suite ends")
    func twoSuites() throws {
        try withTemporarySuite { firstName in
            try withTemporarySuite { secondName in
                let first = try #require(UserDefaults(suiteName: firstName)) as any DefaultsStore
                let second = try #require(UserDefaults(suiteName: secondName)) as any DefaultsStore
                for round in 1...20 {
                    let notices = Notices()
                    let others = Notices()
                    let observation = first.observeChanges(notices.note)
                    let other = second.observeChanges(others.note)
                    try first.setStoredValue(.integer(Int64(round)), forKey: "k")
                    #expect(notices.count == 1)
                    #expect(others.count == 0)
                    other.cancel()
                    try first.setStoredValue(.integer(Int64(-round)), forKey: "k")
                    #expect(notices.count == 2)
                    try second.setStoredValue(.integer(Int64(round)), forKey: "k")
                    #expect(others.count == 0)
                    observation.cancel()
                }
            }
        }
    }
    #endif

    @Test("ends when its observation is released", arguments: StoreKind.allCases)
    func released(kind: StoreKind) throws {
        try kind.withStore { store in
            let notices = Notices()
            var observation: StoreObservation? = store.observeChanges(notices.note)
            try store.setStoredValue(.integer(1), forKey: "k")
            #expect(observation != nil)
            observation = nil
            try store.setStoredValue(.integer(2), forKey: "k")
            #expect(notices.count == 1)
        }
    }

    @Test("is not notified of a value that is stored already, or a removal of nothing", arguments: StoreKind.allCases)
    func equalValues(kind: StoreKind) throws {
        try kind.withStore { store in
            let values: [PropertyListValue] = [
                .integer(1), .string("text"), .data(Data([1])), .boolean(true), .array([.integer(1)]), .real(.nan),
                .dictionary(["k": .array([.real(.nan)])]),
            ]
            for value in values {
                try store.setStoredValue(value, forKey: "k")
                let notices = Notices()
                let observation = store.observeChanges(notices.note)
                try store.setStoredValue(value, forKey: "k")
                try store.setStoredValue(nil, forKey: "absent")
                #expect(notices.count == 0, "\(value)")
                try store.setStoredValue(nil, forKey: "k")
                #expect(notices.all == [["k"]], "\(value)")
                observation.cancel()
            }
        }
    }

    @Test("is notified of a value that is equal to the stored one and has other bytes", arguments: StoreKind.allCases)
    func equalValuesWithOtherBytes(kind: StoreKind) throws {
        let pairs: [(PropertyListValue, PropertyListValue)] = [
            (.real(0), .real(-0.0)), (.string("\u{E9}"), .string("e\u{301}")),
            (.date(Date(timeIntervalSinceReferenceDate: 0)), .date(Date(timeIntervalSinceReferenceDate: -0.0))),
            (.array([.string("\u{E9}")]), .array([.string("e\u{301}")])),
            (.dictionary(["\u{E9}": .real(0)]), .dictionary(["e\u{301}": .real(0)])),
        ]
        try kind.withStore { store in
            for (value, other) in pairs {
                // Foundation's file on Linux keeps whole seconds and no sign of zero, and is read again from time to
                // time.
                switch value {
                case .real where kind == .userDefaults, .date where kind == .userDefaults: continue
                default: break
                }
                try store.setStoredValue(value, forKey: "k")
                let notices = Notices()
                let observation = store.observeChanges(notices.note)
                try store.setStoredValue(other, forKey: "k")
                #expect(store.storedValue(forKey: "k")?.binaryForm == other.binaryForm)
                #expect(notices.all == [["k"]], "\(value)")
                observation.cancel()
            }
        }
    }

    @Test("may change the key it observes, and is called until it stops", arguments: StoreKind.allCases)
    func writingObserver(kind: StoreKind) throws {
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            let notices = Notices()
            let observation = store.observeChanges { keys in
                notices.note(keys)
                let number = shared.store.value(forKey: "k") ?? 0
                if number < 3 {
                    shared.store.setValue(number + 1, forKey: "k")
                }
            }
            try store.setStoredValue(.integer(1), forKey: "k")
            #expect(notices.all == [["k"], ["k"], ["k"]])
            #expect(store.value(forKey: "k") == 3)
            observation.cancel()
        }
    }

    @Test(
        "is called once exclusive access has ended, once for all that changed under it",
        arguments: StoreKind.allCases
    )
    func exclusiveAccess(kind: StoreKind) throws {
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            let notices = Notices()
            let seen = Locked<Int?>(nil)
            let observation = store.observeChanges { keys in
                notices.note(keys)
                guard keys?.contains("k") ?? true else {
                    return
                }
                // No lock is held, so another thread can write.
                let value = onAnotherThread {
                    try? shared.store.setStoredValue(.integer(1), forKey: "elsewhere")
                    return shared.store.value(forKey: "k") ?? 0
                }
                seen.withLock { $0 = value }
            }
            try store.withExclusiveAccess {
                try store.setStoredValue(.integer(1), forKey: "k")
                try store.withExclusiveAccess { try store.setStoredValue(.integer(2), forKey: "k") }
                try store.setStoredValue(.integer(3), forKey: "other")
                #expect(notices.count == 0)
            }
            #expect(notices.all.first == ["k", "other"])
            observation.cancel()
            #expect(seen.withLock { $0 } == 2)
        }
    }

    @Test(
        "is called for all that a thread with exclusive access has changed, whatever other threads read meanwhile",
        arguments: StoreKind.allCases
    )
    func readsDuringExclusiveAccess(kind: StoreKind) throws {
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            let notices = Notices()
            let observation = store.observeChanges(notices.note)
            func readElsewhere() {
                let count = onAnotherThread {
                    _ = shared.store.storedValue(forKey: "k")
                    _ = shared.store.storedKeys()
                    return notices.count
                }
                #expect(count == 0)
            }
            try store.withExclusiveAccess {
                try store.setStoredValue(.integer(1), forKey: "k")
                readElsewhere()
                try store.setStoredValue(.integer(1), forKey: "other")
                readElsewhere()
            }
            #expect(notices.all == [["k", "other"]])
            try store.transaction {
                try store.setStoredValue(.integer(2), forKey: "k")
                _ = onAnotherThread { shared.store.storedKeys().count }
            }
            #expect(notices.all.last == ["k"])
            observation.cancel()
        }
    }

    @Test("of a store with the default observation is called after exclusive access too, of its own keys only")
    func defaultImplementation() throws {
        let store = Plain()
        let unobserved = Plain()
        let notices = Notices()
        let observation = store.observeChanges(notices.note)
        let defaults = Defaults(suite: store)
        try store.withExclusiveAccess {
            defaults[.count] = 1
            defaults[.title] = "new"
            Defaults(suite: unobserved)[.count] = 2
            #expect(notices.count == 0)
        }
        #expect(notices.all == [["count", "title"]])
        defaults[.count] += 1
        defaults.remove("title")
        store.df.store([1], forKey: "list")
        #expect(notices.all.dropFirst() == [["count"], ["title"], ["list"]])
        let othersNotices = Notices()
        let other = unobserved.observeChanges(othersNotices.note)
        try store.withExclusiveAccess {
            defaults[.count] = 5
            Defaults(suite: unobserved)[.count] = 6
            Defaults(suite: unobserved)[.title] = "other"
        }
        #expect(notices.all.last == ["count"])
        #expect(othersNotices.all == [["count", "title"]])
        other.cancel()
        observation.cancel()
        defaults[.count] = 0
        #expect(notices.count == 5)
    }

    @Test("of a store that reports nothing itself is notified of each call that changes a value")
    func everyCall() throws {
        typealias Call = (Plain) throws -> Void
        func store(_ value: PropertyListValue, under key: String) -> Call {
            { try $0.setStoredValue(value, forKey: key) }
        }
        let nothing: Call = { _ in }
        let level = PropertyListValue.data(Data(#"{"level":2}"#.utf8))
        let list = DefaultsKey<[Int]>("list")
        let rows: [(key: String, prepare: Call, call: Call)] = [
            ("count", nothing, { Defaults(suite: $0)[.count] = 1 }),
            ("count", nothing, { Defaults(suite: $0)[.count] += 1 }),
            ("count", nothing, { Defaults(suite: $0)["count"] = 1 }),
            ("count", nothing, { Defaults(suite: $0)["count"] += 1 }),
            ("count", store(.string("x"), under: "count"), { Defaults(suite: $0)["count"] += 1 }),
            ("count", nothing, { Defaults(suite: $0)["count"].setIfAbsent { 1 } }),
            ("count", nothing, { try Defaults(suite: $0).save(1, for: .count) }),
            ("count", nothing, { try Defaults(suite: $0).update(.count) { $0 = 1 } }),
            ("count", store(.integer(1), under: "count"), { Defaults(suite: $0).reset(.count) }),
            ("count", store(.integer(1), under: "count"), { Defaults(suite: $0).removeAll() }),
            ("list", store(.data(Data("[1]".utf8)), under: "list"), { try Defaults(suite: $0).convertForms(of: list) }),
            (
                "count",
                { try Quarantine(key: "count", type: Int.self, store: $0).add(.integer(5)) },
                { try Defaults(suite: $0).restoreQuarantined(.count) }
            ),
            ("count", nothing, { $0.setValue(1, forKey: "count") }),
            ("count", nothing, { KeyValueContainer<Int>(storage: $0, key: "count").value = 1 }),
            ("count", nothing, { try KeyValueContainer<Int>(storage: $0, key: "count").update { $0 = 1 } }),
            (
                "count", store(.integer(1), under: "count"),
                { KeyValueContainer<Int>(storage: $0, key: "count").remove() }
            ),
            ("value", nothing, { $0.df.store(1, forKey: "value") }),
            ("Renamed", nothing, { try Renamed(level: 2).save(to: $0) }),
            ("Renamed", nothing, { try Renamed.update(in: $0) { $0.level = 2 } }),
            ("Renamed", nothing, { LiveSettings<Renamed>(in: $0).level = 2 }),
            ("Renamed", store(level, under: "Oldest"), { try Renamed.migrate(in: $0) }),
            ("Oldest", store(level, under: "Oldest"), { try Renamed.remove(from: $0) }),
            ("Renamed", store(level, under: "theirs"), { try Renamed.move(from: $0, sourceKey: "theirs", to: $0) }),
            (
                "theirs", store(level, under: "theirs"),
                { try Renamed.move(from: $0, sourceKey: "theirs", to: $0, removingOriginal: true) }
            ),
            (
                "Renamed",
                { try Quarantine(key: "Renamed", type: Renamed.self, store: $0).add(level) },
                { try Renamed.restoreQuarantined(in: $0) }
            ),
        ]
        for (number, (key, prepare, call)) in rows.enumerated() {
            let store = Plain()
            try prepare(store)
            let notices = Notices()
            let observation = store.observeChanges(notices.note)
            try EventCollector().collect { try call(store) }
            let heard = notices.all.reduce(into: Set<String>()) { $0.formUnion($1 ?? []) }
            #expect(heard.contains(key), "call \(number) for \(key)")
            observation.cancel()
        }
    }

    @Test("of a store that reports nothing itself is not notified of a call that stores nothing")
    func callsWithoutChange() throws {
        struct Stop: Error {}
        func stop(_ count: inout Int) throws { throw Stop() }
        let list = DefaultsKey<[Int]>("list")
        let numbers = DefaultsKey<[Double?]>("numbers")
        let calls: [(Plain) throws -> Void] = [
            { Defaults(suite: $0)[numbers] = [.nan] },
            { Defaults(suite: $0)[numbers].append(.nan) },
            { try Defaults(suite: $0).save([.nan], for: numbers) },
            { try Defaults(suite: $0).update(.count) { (_: inout Int) throws in throw Stop() } },
            { try stop(&Defaults(suite: $0)[.count]) },
            { try Defaults(suite: $0).convertForms(of: list) },
            { try Defaults(suite: $0).restoreQuarantined(.count) },
            { Defaults(suite: $0)["count"].setIfAbsent { 2 } },
            { Defaults(suite: $0)[""] = 1 },
            { Defaults(suite: $0).remove("count", "") },
            { $0.df.store(Double.nan, forKey: "count") },
            { try Renamed.update(in: $0) { _ in throw Stop() } },
            { try Renamed.restoreQuarantined(in: $0) },
        ]
        for (number, call) in calls.enumerated() {
            let store = Plain()
            try store.setStoredValue(.integer(1), forKey: "count")
            try store.setStoredValue(.array([.integer(1)]), forKey: "list")
            let notices = Notices()
            let observation = store.observeChanges(notices.note)
            EventCollector().collect { try? call(store) }
            #expect(notices.count == 0, "call \(number)")
            observation.cancel()
        }
    }

    @Test("is called immediately for a change by a thread that has no exclusive access while another one has")
    func otherThread() throws {
        let storage = Listed()
        let notices = Notices()
        let observation = storage.observeChanges(notices.note)
        try storage.withExclusiveAccess {
            let count = onAnotherThread {
                KeyValueContainer<Int>(storage: storage, key: "k").value = 1
                return notices.count
            }
            #expect(count == 1)
        }
        #expect(notices.all == [["k"]])
        observation.cancel()
    }

    @Test("of a custom storage is notified of updates too, and not of those of another type")
    func otherType() throws {
        struct First: KeyValueStorage {
            func value<T: Codable>(forKey key: String) -> T? { nil }
            func setValue<T: Codable>(_ value: T?, forKey key: String) {}
        }
        struct Second: KeyValueStorage {
            func value<T: Codable>(forKey key: String) -> T? { nil }
            func setValue<T: Codable>(_ value: T?, forKey key: String) {}
        }
        let notices = Notices()
        let observation = First().observeChanges(notices.note)
        let container = KeyValueContainer<Int>(storage: First(), key: "k")
        KeyValueContainer<Int>(storage: Second(), key: "k").value = 1
        #expect(notices.count == 0)
        container.value = 1
        try container.update { $0 = 2 }
        container.value? += 1
        container.remove()
        #expect(notices.all == [["k"], ["k"], ["k"], ["k"]])
        observation.cancel()
    }

    @Test("ends once, however often it is ended")
    func endsOnce() {
        let ends = Locked(0)
        var observation: StoreObservation? = StoreObservation { ends.withLock { $0 += 1 } }
        observation?.cancel()
        observation?.cancel()
        observation = nil
        #expect(ends.withLock { $0 } == 1)
    }

    @Test(
        "is notified once of keys that are removed together, and of none if one of them is invalid",
        arguments: StoreKind.allCases
    )
    func removal(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            for key in ["a", "b"] {
                defaults[key] = 1
            }
            let notices = Notices()
            let observation = store.observeChanges(notices.note)
            expectReport(.invalidKey) { defaults.remove("a", "") }
            #expect(notices.count == 0)
            defaults.remove("a", "b")
            #expect(notices.all == [["a", "b"]])
            observation.cancel()
        }
        let plain = Plain()
        Defaults(suite: plain)["a"] = 1
        expectReport(.invalidKey) { Defaults(suite: plain).remove("a", "") }
        #expect(plain.storedKeys() == ["a"])
        // A value that another thread stores between the listing and the removal would remain.
        Defaults(suite: plain).removeAll()
        #expect(plain.exclusiveListings == [false, true])
        #expect(plain.storedKeys() == [])
    }

    @Test("is not notified of changes that a transaction took back", arguments: [StoreKind.memory, .file])
    func rollback(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStore { store in
            let notices = Notices()
            let observation = store.observeChanges(notices.note)
            try store.withExclusiveAccess {
                try store.setStoredValue(.integer(1), forKey: "kept")
                #expect(throws: Stop.self) {
                    try store.transaction {
                        try store.setStoredValue(.integer(1), forKey: "taken back")
                        throw Stop()
                    }
                }
            }
            #expect(notices.all == [["kept"]])
            try store.transaction {
                try store.setStoredValue(.integer(1), forKey: "a")
                try store.setStoredValue(.integer(1), forKey: "b")
            }
            #expect(notices.all == [["kept"], ["a", "b"]])
            observation.cancel()
        }
    }

    @Test("of a part of a suite is notified of that part's keys, by their names in it", arguments: StoreKind.allCases)
    func partOfSuite(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let notices = Notices()
            let observation = try #require(PersistentStorage(keyPrefix: "a.")).observeChanges(notices.note)
            for key in ["k", "b.k", "aa.k", "a", "a%.k", "A.k"] {
                try store.setStoredValue(.integer(1), forKey: key)
            }
            #expect(notices.count == 0)
            try store.setStoredValue(.integer(1), forKey: "a.k")
            try store.withExclusiveAccess {
                try store.setStoredValue(.integer(2), forKey: "k")
                try store.setStoredValue(.integer(2), forKey: "a.k")
                try store.setStoredValue(.integer(2), forKey: "a.a.")
            }
            #expect(notices.all == [["k"], ["k", "a."]])
            observation.cancel()
        }
    }

    @Test("waits for nothing when its task was cancelled before, and ends its observation")
    func cancelledBefore() async throws {
        let signal = ChangeSignal()
        signal.note()
        let cancelled = Task(executorPreference: TestThreads.waiting) {
            withUnsafeCurrentTask { $0?.cancel() }
            return await !signal.next(isolation: nil)
        }
        #expect(await cancelled.value)

        try await withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let task = Task(executorPreference: TestThreads.waiting) {
                var values = Defaults(suite: suite).updates(.count).makeAsyncIterator()
                let first = await values.next(isolation: nil)
                let wasObserved = suite.isObserved
                withUnsafeCurrentTask { $0?.cancel() }
                let second = await values.next(isolation: nil)
                return (first, wasObserved, second, suite.isObserved)
            }
            let (first, wasObserved, second, isObserved) = await task.value
            #expect(first == 0)
            #expect(wasObserved)
            #expect(second == nil)
            #expect(!isObserved)

            let never = Task(executorPreference: TestThreads.waiting) {
                var values = Defaults(suite: suite).updates(.count).makeAsyncIterator()
                withUnsafeCurrentTask { $0?.cancel() }
                let first = await values.next(isolation: nil)
                return (first, suite.isObserved)
            }
            let (none, wasEverObserved) = await never.value
            #expect(none == nil)
            #expect(!wasEverObserved)

            let changes = Task(executorPreference: TestThreads.waiting) {
                var changes = suite.changes().makeAsyncIterator()
                withUnsafeCurrentTask { $0?.cancel() }
                let next = await changes.next(isolation: nil)
                return (next, suite.isObserved)
            }
            let (next, isStillObserved) = await changes.value
            #expect(next == nil)
            #expect(!isStillObserved)
        }
    }

    @Test("gets all keys that changed since it last looked, and none of them twice")
    func keys() {
        let reader = KeyChanges.makeReader()
        #expect(reader.next() == nil)
        #expect(reader.note(["a"]) && reader.note(["b"]))
        #expect(reader.next() == ["a", "b"])
        #expect(reader.note(["c"]))
        #expect(reader.next() == ["c"] && reader.next() == nil)
        // An empty set stands for unknown keys.
        for unknown in [[["a"], nil], [nil, ["a"]]] as [[Set<String>?]] {
            #expect(unknown.allSatisfy(reader.note))
            #expect(reader.next() == [] && reader.next() == nil)
        }
        #expect(reader.note(["d"]))
        #expect(reader.next() == ["d"])
    }

    @Test("is woken by each change that comes while it is about to wait")
    func lostWakeUp() async {
        let rounds = TestExtent.pick(brief: 2_000, full: 20_000)
        let signal = ChangeSignal()
        // The number of changes that the reader has taken; the writer makes the next one as soon as the reader has
        // taken the one before, or a little later each time, so that some come between the reader's look and its wait.
        let taken = Counter()
        Thread {
            for round in 0..<rounds {
                while taken.value < round {
                    sched_yield()
                }
                for _ in 0..<round % 300 {
                    _ = taken.value
                }
                signal.note()
            }
        }.start()
        for round in 0..<rounds {
            guard await signal.next(isolation: nil) else {
                Issue.record("no change \(round)")
                taken.set(rounds)
                return
            }
            taken.set(round + 1)
        }
    }

    @Test("ends when its task is cancelled while it is about to wait")
    func cancelledMeanwhile() async {
        let arrived = Counter()
        for round in 0..<TestExtent.pick(brief: 500, full: 3_000) {
            let signal = ChangeSignal()
            let task = Task(executorPreference: TestThreads.waiting) {
                arrived.set(round + 1)
                return await !signal.next(isolation: nil)
            }
            await withCheckedContinuation { continuation in
                Thread {
                    while arrived.value <= round {
                        sched_yield()
                    }
                    for _ in 0..<round % 100 {
                        _ = arrived.value
                    }
                    task.cancel()
                    continuation.resume()
                }.start()
            }
            #expect(await task.value)
        }
    }

    @Test("of a settings type is notified of the names it had before", arguments: StoreKind.allCases)
    func previousIdentifiers(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var values = Renamed.updates(in: store).makeAsyncIterator()
            #expect(await values.next(isolation: nil) == Renamed())
            try store.setStoredValue(.data(Data(#"{"level":2}"#.utf8)), forKey: "Oldest")
            #expect(await values.next(isolation: nil) == Renamed(level: 2))
            try store.setStoredValue(.data(Data(#"{"level":3}"#.utf8)), forKey: "Older")
            #expect(await values.next(isolation: nil) == Renamed(level: 3))

            let live = LiveSettings<Renamed>(in: store)
            let changes = Locked(0)
            func track(_ body: () -> Void) {
                withObservationTracking(body) { changes.withLock { $0 += 1 } }
            }
            track { _ = live.level }
            try store.setStoredValue(.data(Data(#"{"level":4}"#.utf8)), forKey: "Older")
            #expect(changes.withLock { $0 } == 1)
            #expect(live.level == 4)
            track { _ = live.value }
            try store.setStoredValue(.data(Data(#"{"level":5}"#.utf8)), forKey: "Renamed.Type")
            #expect(changes.withLock { $0 } == 2)
            // With its own key it was never stored under another name.
            let keyed = LiveSettings<Renamed>(in: store, forKey: "own")
            track { _ = keyed.level }
            try store.setStoredValue(nil, forKey: "Older")
            #expect(changes.withLock { $0 } == 2)
            keyed.level = 6
            #expect(changes.withLock { $0 } == 3)
            #expect(keyed.value == Renamed(level: 6))
            #expect(live.level == 2)
        }
    }

    #if !canImport(Darwin)
    @Test("ends the watch of its suite when it is the last one")
    func lastObserver() throws {
        try withTemporaryDirectory { directory in
            let outcome = try TestHelper.run(["count-watchers", directory.appending(path: "suite.defaults").path])
            #expect(outcome.output == "0 1 1 1 0 1 1 0 0\n", "\(outcome.errors)")
        }
    }

    @Test("keeps a suite that nothing else refers to, and is notified of its changes")
    func keptSuite() async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let (calls, call) = AsyncStream.makeStream(of: Set<String>?.self)
            let observation = try FileDefaults(url: url).observeChanges { call.yield($0) }
            #expect(try TestHelper.run(["assign", url.path, "key", "integer", "1"]).status == 0)
            var heard = calls.makeAsyncIterator()
            #expect(await heard.next() == ["key"])
            try FileDefaults(url: url).set(2, forKey: "other")
            #expect(await heard.next() == ["other"])
            observation.cancel()
        }
    }

    @Test("of each of many suites is notified of another process's changes, through one descriptor and one thread")
    func manySuites() throws {
        let count = TestExtent.pick(brief: 50, full: 1_000)
        try withTemporaryDirectory { directory in
            let helper = try TestHelper.start(["watch-many", directory.path, "\(count)"], pipesOutput: true)
            defer { helper.kill() }
            try #require(helper.readNumbers(atLeast: 2) == [1, 1])
            let outcome = try TestHelper.run(["write-many", directory.path, "\(count)"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            // All suites were reported. One directory is watched while one observation is left, and none in the end.
            #expect(helper.readNumbers(atLeast: 4) == [count, 1, 1, 0])
        }
    }

    @Test("is notified later where the system refuses a watch, and the program is told why")
    func refusedWatch() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "suite.defaults").path
            let helper = try TestHelper.start(["watch-refused", path], pipesOutput: true)
            defer { helper.kill() }
            try #require(helper.readNumbers(atLeast: 2) == [1, 1])
            let outcome = try TestHelper.run(["assign", path, "number", "integer", "7"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(helper.readNumbers(atLeast: 1) == [7])
        }
    }

    @Test("of one suite is notified of another process's changes while handlers of other suites block")
    func blockedHandlers() async throws {
        try await withTemporaryDirectory { directory in
            let urls = (0..<4).map { directory.appending(path: "\($0).defaults") }
            let suites = try urls.map { try FileDefaults(url: $0) }
            let release = DispatchSemaphore(value: 0)
            var observations: [StoreObservation] = []
            for (suite, url) in zip(suites, urls).dropLast() {
                let (calls, call) = AsyncStream.makeStream(of: Void.self)
                observations.append(
                    suite.observeChanges { _ in
                        call.yield()
                        release.wait()
                    }
                )
                #expect(try TestHelper.run(["assign", url.path, "key", "integer", "1"]).status == 0)
                var iterator = calls.makeAsyncIterator()
                await iterator.next(isolation: nil)
            }
            var changes = suites[3].changes().makeAsyncIterator()
            #expect(try TestHelper.run(["assign", urls[3].path, "key", "integer", "1"]).status == 0)
            #expect(await changes.next(isolation: nil) == ["key"])
            for observation in observations {
                observation.cancel()
                release.signal()
            }
            withExtendedLifetime(suites) {}
        }
    }

    @Test("is notified of exactly the keys that another process changed before it compacted the suite")
    func compactedElsewhere() async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let suite = try FileDefaults(url: url)
            for key in ["same", "changed", "removed"] {
                try suite.set("value", forKey: key)
            }
            var changes = suite.changes().makeAsyncIterator()
            let outcome = try TestHelper.run(["change-and-compact", url.path])
            #expect(outcome.status == 0, "\(outcome.errors)")
            try suite.set(true, forKey: "last")
            var heard: Set<String> = []
            while !heard.isSuperset(of: ["changed", "removed", "added", "last"]) {
                heard.formUnion(try #require(await changes.next(isolation: nil)))
            }
            #expect(heard == ["changed", "removed", "added", "last"])
        }
    }

    @Test("of two suites' containers with one key is notified of its own suite's changes")
    func oneKeyInTwoSuites() throws {
        try withTemporaryDirectory { home in
            let outcome = try TestHelper.run(["track-two-suites"], home: home)
            #expect(outcome.output == "0 0, 1 0, 1 1, 2 1\n", "\(outcome.errors)")
        }
    }
    #endif
}

import DefaultJournal
import Foundation
import Observation
import Testing

@testable import Default

private struct Theme: DefaultStorable, Equatable {
    var name = "bright"
    var size = 12
    static var defaultValue: Theme? { Theme() }
}

private struct Undefaulted: DefaultStorable {
    var name = "bright"
}

/// A storage without change notifications.
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

/// A storage that reads its value when it is observed, as a handler might of an event that the observation causes.
private final class ReadWhenObserved: KeyValueStorage {
    private let hub = ChangeHub()
    private let contents = MemoryDefaults()
    private let count = Locked(0)

    var reads: Int { count.withLock { $0 } }

    func value<T: Codable>(forKey key: String) -> T? { contents.value(forKey: key) }

    func setValue<T: Codable>(_ value: T?, forKey key: String) {
        contents.setValue(value, forKey: key)
        hub.notify([key])
    }

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let isFirst = count.withLock { count in
            count += 1
            return count == 1
        }
        if isFirst {
            _ = KeyValueContainer<Int>(storage: self, key: "number").value
        }
        return hub.add(handler)
    }
}

/// A tracker that reads inside `withObservationTracking`, and counts the notifications: at most one for each read.
private final class Tracker: Sendable {
    private let count = Locked(0)
    var notices: Int { count.withLock { $0 } }

    func read(_ body: () -> Void) {
        withObservationTracking(body) { [count] in count.withLock { $0 += 1 } }
    }
}

@Suite("Observable values", .waits)
struct ObservableTests {
    @Test("of containers report all changes", arguments: StoreKind.allCases)
    func containers(kind: StoreKind) throws {
        try kind.withStore { store in
            // A new container at each use, like that of a computed property.
            func container() -> KeyValueContainer<Int> { store.makeContainer(default: 0, key: "number") }
            let tracker = Tracker()
            tracker.read { _ = container().value }
            #expect(tracker.notices == 0)
            container().value = 1
            #expect(tracker.notices == 1)
            container().value = 2
            #expect(tracker.notices == 1)
            tracker.read { _ = container().value }
            try (store as any DefaultsStore).set(3, forKey: "number")
            #expect(tracker.notices == 2)
            tracker.read { _ = container().value }
            try store.set(3, forKey: "another")
            #expect(tracker.notices == 2)
            Defaults(suite: store)["number"] += 1
            #expect(tracker.notices == 3)
            #expect(container().value == 4)
        }
    }

    @Test("are those behind each member of a key's proxy")
    func proxies() throws {
        let store = MemoryDefaults()
        let number = Defaults(suite: store)["number"]
        let reads: [() -> Void] = [
            { _ = number.object }, { _ = number.string }, { _ = number.int },
            { _ = number.double },
            { _ = number.bool }, { _ = number.data }, { _ = number.date }, { _ = number.array },
            { _ = number.dictionary },
            { _ = number.stringValue }, { _ = number.intValue }, { _ = number.doubleValue }, { _ = number.boolValue },
            { _ = number.dataValue }, { _ = number.arrayValue }, { _ = number.dictionaryValue },
        ]
        for (index, read) in reads.enumerated() {
            let tracker = Tracker()
            tracker.read(read)
            try store.set(index, forKey: "number")
            #expect(tracker.notices == 1, "read \(index)")
        }
    }

    @Test("of a custom storage report changes made through containers")
    func vault() {
        let storage = Vault()
        let container = KeyValueContainer<Int>(storage: storage, key: "number")
        let tracker = Tracker()
        tracker.read { _ = container.value }
        container.value = 1
        #expect(tracker.notices == 1)
        tracker.read { _ = container.value }
        container.value? += 1
        #expect(tracker.notices == 2)
    }

    @Test("of a settings type read and write single properties")
    func liveSettings() throws {
        withDefaults(MemoryDefaults()) {
            let live = LiveSettings<Theme>()
            #expect(live.name == "bright")
            let tracker = Tracker()
            tracker.read { _ = live.name }
            live.size = 14
            #expect(tracker.notices == 1)
            #expect(Theme.read() == Theme(size: 14))
            tracker.read { _ = live.value }
            Theme(name: "dark").write()
            #expect(tracker.notices == 2)
            #expect(live.name == "dark")
            live.value = Theme(name: "new", size: 1)
            #expect(Theme.read() == Theme(name: "new", size: 1))
        }
    }

    @Test("of a settings type without a default use the one that they are given")
    func givenDefault() throws {
        let store = MemoryDefaults()
        let live = LiveSettings(default: Undefaulted(name: "given"), in: store)
        #expect(live.name == "given")
        #expect(store.storedKeys() == [])
        let tracker = Tracker()
        tracker.read { _ = live.value }
        live.name = "set"
        #expect(tracker.notices == 1)
        #expect(Undefaulted.read(from: store)?.name == "set")
        // The given store is used even for a type that has another.
        let elsewhere = LiveSettings<Theme>(in: store, forKey: "elsewhere")
        elsewhere.name = "dark"
        elsewhere.size = 7
        #expect(try Theme.load(from: store, forKey: "elsewhere") == Theme(name: "dark", size: 7))
        #expect(try Theme.load(from: store) == nil)
        let other = LiveSettings(default: Theme(name: "given", size: 1), in: store)
        #expect(other.value == Theme(name: "given", size: 1))
        other.size = 2
        #expect(Theme.read(from: store) == Theme(name: "given", size: 2))
        try store.set(Data("garbage".utf8), forKey: "Theme")
        expectReport(.undecodable) { #expect(other.name == "given") }
    }

    @Test("of a settings type without a default end the process and name the type")
    func missingDefault() throws {
        let outcome = try TestHelper.run(["live-settings-without-default"])
        #expect(outcome.status != 0)
        let advice = "Give the type a `static var defaultValue: StandardSettings?`, or create it with LiveSettings("
        #expect(outcome.errors.contains(advice))
    }

    @Test("of a container with a default need no optional", arguments: StoreKind.allCases)
    func currentValue(kind: StoreKind) throws {
        try kind.withStore { store in
            let container: KeyValueContainer<Int> = store.makeContainer(default: 5, key: "number")
            let tracker = Tracker()
            tracker.read { #expect(container.currentValue == 5) }
            #expect(store.storedKeys() == [])
            container.currentValue += 1
            #expect(tracker.notices == 1)
            #expect(container.value == 6)
            container.currentValue = 7
            #expect(store.storedValue(forKey: "number") == .integer(7))
            // The key path of a binding does the same.
            let path: ReferenceWritableKeyPath<KeyValueContainer<Int>, Int> = \.currentValue
            container[keyPath: path] = 8
            #expect(container[keyPath: path] == 8)
            container.remove()
            #expect(container.currentValue == 5)
        }
        let vault = KeyValueContainer<Int>(storage: Vault(), key: "number", defaultValue: 1)
        vault.currentValue += 1
        #expect(vault.currentValue == 2)
    }

    @Test("of a container without a default end the process and name the key")
    func missingContainerDefault() throws {
        let outcome = try TestHelper.run(["container-without-default"])
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(#"The container for the key "number" has no default value"#))
    }

    @Test("of typed and string keys report all changes, however they are read", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        let reads: [(Defaults) -> Void] = [
            { _ = $0[DefaultsKey<Int>("number")] }, { _ = try? $0.load(DefaultsKey<Int>("number")) },
            { _ = $0.exists(key: DefaultsKey<Int>("number")) }, { _ = $0.hasKey("number") },
            { _ = $0["number"].int }, { _ = $0.hasKey("number") },
        ]
        for read in reads {
            try kind.withStore { store in
                let defaults = Defaults(suite: store)
                let tracker = Tracker()
                tracker.read { read(defaults) }
                defaults["another"] = 1
                #expect(tracker.notices == 0)
                defaults["number"] = 1
                #expect(tracker.notices == 1)
                tracker.read { read(defaults) }
                defaults[DefaultsKey<Int>("number")] += 1
                #expect(tracker.notices == 2)
            }
        }
    }

    @Test("are told apart when many threads read at once, some of them tracked")
    func threads() throws {
        try withTemporaryDirectory { directory in
            let tracked = try FileDefaults(url: directory.appending(path: "tracked.defaults"))
            let untracked = try FileDefaults(url: directory.appending(path: "untracked.defaults"))
            let tracker = Tracker()
            let started = Locked(0)
            try onEightThreads {
                let number = started.withLock { started in
                    started += 1
                    return started
                }
                if number.isMultiple(of: 2) {
                    for _ in 0..<500 {
                        tracker.read { _ = Defaults(suite: tracked)["number"].int }
                    }
                } else {
                    for _ in 0..<5_000 {
                        _ = Defaults(suite: untracked)["number"].int
                    }
                }
            }
            #expect(tracked.isObserved)
            #expect(!untracked.isObserved)
            try tracked.set(1, forKey: "number")
            #expect(tracker.notices == 2_000)
        }
    }

    @Test("observe nothing unless they are tracked")
    func untracked() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let container: KeyValueContainer<Int> = suite.makeContainer(key: "number")
            _ = container.value
            #expect(!suite.isObserved)
            let tracker = Tracker()
            tracker.read { _ = container.value }
            #expect(suite.isObserved)
            container.value = 1
            #expect(tracker.notices == 1)
            // There was no read since then, so there is nothing left to notify.
            container.value = 2
            #expect(!suite.isObserved)
        }
    }

    @Test("stay observed while a reader's tracked closure lasts longer than any number of changes")
    func delayedReader() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let defaults = Defaults(suite: suite)
            let tracker = Tracker()
            tracker.read {
                _ = defaults["number"].int
                // Observation installs the tracking only after these changes.
                for number in 1...5 {
                    onAnotherThread { try? suite.set(number, forKey: "number") }
                }
            }
            #expect(tracker.notices == 0)
            #expect(suite.isObserved)
            try suite.set(6, forKey: "number")
            #expect(tracker.notices == 1)
            try suite.set(7, forKey: "number")
            #expect(tracker.notices == 1)
            #expect(!suite.isObserved)
        }
    }

    @Test("stay observed while one of several readers is delayed, and are not when all have been notified")
    func severalReaders() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let (delayed, others) = (Tracker(), Tracker())
            @Sendable func read() { _ = Defaults(suite: suite)["number"].int }
            delayed.read {
                read()
                for number in 1...3 {
                    onAnotherThread {
                        // The value is read twice, in a closure within a closure: the outer one tracks the reads of the
                        // inner one.
                        others.read {
                            others.read {
                                read()
                                read()
                            }
                        }
                        try? suite.set(number, forKey: "number")
                    }
                }
            }
            #expect(others.notices == 6)
            #expect(delayed.notices == 0)
            try suite.set(4, forKey: "number")
            #expect(delayed.notices == 1)
            try suite.set(5, forKey: "number")
            #expect(!suite.isObserved)
        }
    }

    @Test("may be read by what observing their storage calls")
    func readWhileObserving() {
        let storage = ReadWhenObserved()
        let container = KeyValueContainer<Int>(storage: storage, key: "number")
        let tracker = Tracker()
        tracker.read { _ = container.value }
        #expect(storage.reads > 0)
        container.value = 1
        #expect(tracker.notices == 1)
    }

    #if DEBUG
    @Test("report the next change to what reads them while their observation is about to end")
    func readAtEnd() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let (first, second) = (Tracker(), Tracker())
            @Sendable func read() { _ = Defaults(suite: suite)["number"].int }
            first.read(read)
            try suite.set(1, forKey: "number")
            #expect(first.notices == 1)
            // The next change ends the observation, unless there is a reader.
            try TrackedKeys.$willDecideEnd.withValue(.init { second.read(read) }) {
                try suite.set(2, forKey: "number")
            }
            #expect(second.notices == 0)
            try suite.set(3, forKey: "number")
            #expect(second.notices == 1)
            try suite.set(4, forKey: "number")
            #expect(!suite.isObserved)
        }
    }

    @Test("report all changes where it can't be found out which reads are tracked", arguments: StoreKind.allCases)
    func undetectedReads(kind: StoreKind) throws {
        try TrackingDetector.$ofTest.withValue(TrackingDetector(countsHashes: false)) {
            try keys(kind: kind)
            try containers(kind: kind)
        }
        try TrackingDetector.$ofTest.withValue(TrackingDetector(countsHashes: false)) {
            try withTemporaryDirectory { directory in
                let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
                let container: KeyValueContainer<Int> = suite.makeContainer(key: "number")
                _ = container.value
                #expect(suite.isObserved)
                container.value = 1
                container.value = 2
                #expect(!suite.isObserved)
            }
        }
    }
    #endif

    @Test("know of their detector that it tells tracked reads from others")
    func detector() {
        let detector = TrackingDetector()
        #expect(!detector.isTracking)
        let tracked = withObservationTracking {
            [detector.isTracking, detector.isTracking, TrackingDetector(countsHashes: false).isTracking]
        } onChange: {
        }
        #expect(tracked == [true, true, true])
        #expect(!detector.isTracking)
        #expect(TrackingDetector(countsHashes: false).isTracking)
    }

    @Test("are reported to each reader while another thread changes them all the time")
    func constantChanges() throws {
        let rounds = TestExtent.pick(brief: 700, full: 10_000)
        let outcome = try TestHelper.run(["track-while-changing", "\(rounds)"])
        #expect(outcome.output == "0 of \(3 * rounds)\n")
    }

    @Test("are delivered by sequences of Observation while another thread changes them all the time")
    func sequences() throws {
        let rounds = TestExtent.pick(brief: 2_000, full: 20_000)
        let outcome = try TestHelper.run(["sequences-while-changing", "\(rounds)"])
        #expect(outcome.output == "\(rounds) of \(rounds)\n")
    }

    @Test("report another process's changes")
    func anotherProcess() async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let suite = try FileDefaults(url: url)
            let container: KeyValueContainer<Int> = suite.makeContainer(key: "number")
            let (changes, changed) = AsyncStream.makeStream(of: Void.self)
            withObservationTracking {
                _ = container.value
            } onChange: {
                changed.yield()
            }
            let helper = try TestHelper.start(["write-forever", url.path], pipesOutput: true)
            var iterator = changes.makeAsyncIterator()
            await iterator.next()
            helper.kill()
            #expect((container.value ?? 0) > 0)
        }
    }
}

@Suite("A task's own defaults", .waits)
struct IsolationTests {
    @Test("are used only by that task and its children")
    func parallel() async throws {
        let key = "number \(UUID())"
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    await withDefaults(MemoryDefaults()) {
                        #expect(Theme.read() == Theme())
                        Theme(name: "theme \(number)").write()
                        Defaults[key] = number
                        await Task.yield()
                        await withTaskGroup { children in
                            children.addTask {
                                #expect(Theme.read()?.name == "theme \(number)")
                                #expect(Defaults[key].int == number)
                                let storage = PersistentStorage(keyPrefix: "")
                                #expect(storage?.value(forKey: key) == number)
                            }
                        }
                        #expect((try? Theme.load())??.name == "theme \(number)")
                        Theme.clear()
                        #expect(Theme.read() == Theme())
                    }
                }
            }
        }
        #expect(!FileDefaults.standard.storedKeys().contains(key))
    }

    @Test("give what the body gives or throws, and end with it")
    func outcomes() async throws {
        struct Stop: Error {}
        let (store, other) = (MemoryDefaults(), MemoryDefaults())
        func put(_ value: Int) async throws -> Int {
            Defaults["k"] = value
            await Task.yield()
            if value < 0 { throw Stop() }
            return Defaults["k"].intValue + 1
        }
        func stop() throws { throw Stop() }
        func expectSynchronousOutcomes() {
            let value = withDefaults(other) { Defaults["k"].int }
            #expect(value == -1)
            #expect(throws: Stop.self) { try withDefaults(other, stop) }
            #expect(Defaults().suite as? MemoryDefaults === store)
            // A given store is used in any case; the standard one is the one at the time of the use.
            let defaults = Defaults(suite: store)
            let storage = PersistentStorage(keyPrefix: "p.")
            withDefaults(other) {
                #expect(defaults.suite as? MemoryDefaults === store)
                #expect(storage?.suite as? MemoryDefaults === other)
            }
        }
        try await withDefaults(store) {
            let sum = try await withDefaults(other) { try await put(1) }
            #expect(sum == 2)
            await #expect(throws: Stop.self) { try await withDefaults(other) { try await put(-1) } }
            #expect(Defaults().suite as? MemoryDefaults === store)
            expectSynchronousOutcomes()
        }
        #expect(store.storedKeys() == [])
        #expect(Defaults().suite as? StandardDefaults === StandardDefaults.standard)
    }

    @Test("nest, and don't replace explicit stores")
    func nesting() throws {
        let outer = MemoryDefaults()
        let inner = MemoryDefaults()
        try withDefaults(outer) {
            Defaults["k"] = 1
            withDefaults(inner) { Defaults["k"] = 2 }
            #expect(Defaults["k"].int == 1)
            try withTemporaryDirectory { directory in
                let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
                Defaults(suite: suite)["k"] = 3
                suite.df.store(Theme(), forKey: "theme")
                #expect(outer.storedKeys() == ["k"])
            }
        }
        #expect(inner.object(forKey: "k") as? Int == 2)
    }
}

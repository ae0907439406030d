import DefaultJournal
import Foundation
import Testing

@testable import Default

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count", default: 7)
    fileprivate static let title = DefaultsKey<String?>("title")
    fileprivate static let level = DefaultsKey<Double>("level")
}

private struct Theme: DefaultStorable, Equatable {
    var name = "bright"
    static var defaultValue: Theme? { Theme() }
}

/// The values that handlers were called with.
private final class Record<Value: Sendable>: Sendable {
    private let recorded = Locked<[Value]>([])

    func add(_ value: Value) {
        recorded.withLock { $0.append(value) }
    }

    var values: [Value] { recorded.withLock { $0 } }
}

private final class Owner: Sendable {
    let numbers = Record<Int>()
}

/// A store that calls its observers immediately on each thread that writes.
private final class Eager: DefaultsStore, Sendable {
    private let base = MemoryDefaults()
    private let handlers = Locked<[StoreObservation.Handler]>([])

    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
        for handler in handlers.withLock({ $0 }) {
            handler(nil)
        }
    }

    func storedKeys() -> [String] { base.storedKeys() }

    func flush() {}

    var storeDescription: String { "Eager" }

    func beginExclusiveAccess() throws {}

    func endExclusiveAccess() {}

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        handlers.withLock { $0.append(handler) }
        return StoreObservation { [handlers] in handlers.withLock { $0 = [] } }
    }
}

@Suite("Changes of several keys")
struct SeveralKeysTests {
    @Test("are delivered with all values before and after", arguments: StoreKind.allCases)
    func changes(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let defaults = Defaults(suite: store)
            var changes = withDefaults(store) { Defaults.changes(.count, .title, .level).makeAsyncIterator() }
            defaults[.title] = "new"
            defaults[.level] = 0.5
            try store.transaction {
                defaults[.count] = 1
                defaults[.level] = 1
            }
            defaults[DefaultsKey<Int>("other")] = 1
            defaults.reset(.count, .title)
            var change = try #require(await changes.next(isolation: nil))
            #expect(change.old == (7, nil, 0) && change.new == (7, "new", 0))
            change = try #require(await changes.next(isolation: nil))
            #expect(change.old == (7, "new", 0) && change.new == (7, "new", 0.5))
            change = try #require(await changes.next(isolation: nil))
            #expect(change.old == (7, "new", 0.5) && change.new == (1, "new", 1))
            change = try #require(await changes.next(isolation: nil))
            #expect(change.old == (1, "new", 1) && change.new == (7, nil, 1))
        }
    }

    @Test("are handed to a handler", arguments: StoreKind.allCases)
    func handlers(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let values = Record<String>()
            let changes = Record<String>()
            let observations = [
                defaults.updates(.count, .title).observe { values.add("\($0) \($1 ?? "-")") },
                defaults.changes(.count, .title).observe { change in
                    changes.add("\(change.old.0) \(change.new.0) \(change.new.1 ?? "-")")
                },
            ]
            defaults[.title] = "new"
            defaults[.level] = 1
            defaults[.count] = 1
            #expect(values.values == ["7 -", "7 new", "1 new"])
            #expect(changes.values == ["7 7 new", "7 1 new"])
            observations.forEach { $0.cancel() }
            defaults[.count] = 2
            #expect(values.values.count == 3 && changes.values.count == 2)
        }
    }
}

@Suite("A handler")
struct ValueObservationTests {
    @Test("ends the observation of the store with its own, as the last one")
    func end() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let defaults = Defaults(suite: suite)
            let container: KeyValueContainer<Int> = suite.makeContainer(key: "number")
            let observe: [() -> StoreObservation] = [
                { defaults.updates(.count).observe { _ in } },
                { defaults.updates(.count, .title, initial: false).observe { _ in } },
                { defaults.changes(.count).observe { _ in } },
                { Theme.updates(in: suite).observe { _ in } },
                { container.updates.observe { _ in } },
            ]
            for observe in observe {
                let (first, second) = (observe(), observe())
                first.cancel()
                #expect(suite.isObserved)
                second.cancel()
                #expect(!suite.isObserved)
            }
        }
    }

    @Test("receives the current value and the new ones", arguments: StoreKind.allCases)
    func values(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let all = Record<Int>()
            let new = Record<Int>()
            let names = Record<String?>()
            let others = Record<String?>()
            let numbers = Record<Int?>()
            let container: KeyValueContainer<Int> = store.makeContainer(key: "number")
            let observations = withDefaults(store) {
                [
                    Defaults.updates(.count).observe(all.add),
                    Defaults.updates(.count, initial: false).observe(new.add),
                    Theme.updates(in: store).observe { names.add($0?.name) },
                    Theme.updates(in: store, forKey: "other").observe { others.add($0?.name) },
                    container.updates.observe(numbers.add),
                ]
            }
            #expect(all.values == [7] && new.values == [])
            defaults[.count] = 1
            defaults[.count] = 1
            defaults[.count] += 1
            Theme(name: "dark").write(to: store)
            Theme(name: "pale").write(to: store, withKey: "other")
            container.value = 3
            defaults.reset(.count)
            #expect(all.values == [7, 1, 2, 7])
            #expect(new.values == [1, 2, 7])
            #expect(names.values == ["bright", "dark"])
            #expect(others.values == ["bright", "pale"])
            #expect(numbers.values == [nil, 3])
            withExtendedLifetime(observations) {}
        }
    }

    @Test("receives each change, and those that it makes as one, once it has returned", arguments: StoreKind.allCases)
    func changes(kind: StoreKind) throws {
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            let defaults = Defaults(suite: store)
            let changes = Record<[Int]>()
            let observation = defaults.changes(.count).observe { change in
                if change.new == 1 {
                    Defaults(suite: shared.store)[.count] = 10
                    Defaults(suite: shared.store)[.count] = 20
                }
                changes.add([change.old, change.new])
            }
            defaults[.count] = 3
            defaults[.count] = 3
            defaults[.count] = 1
            defaults[.count] = 2
            #expect(changes.values == [[7, 3], [3, 1], [1, 20], [20, 2]])
            observation.cancel()
            defaults[.count] = 3
            #expect(changes.values.count == 4)
        }
    }

    @Test("is called no more when its observation is released")
    func release() {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let values = Record<Int>()
        var observation: StoreObservation? = defaults.updates(.count).observe(values.add)
        defaults[.count] = 1
        withExtendedLifetime(observation) {}
        observation = nil
        defaults[.count] = 2
        #expect(values.values == [7, 1])
    }

    @Test("of an object is called while that exists, and does not retain it", arguments: StoreKind.allCases)
    func owner(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            var owner: Owner? = Owner()
            weak let remaining = owner
            let numbers = try #require(owner?.numbers)
            let changes = Record<Int>()
            do {
                let owner = try #require(owner)
                defaults.updates(.count).observe(for: owner) { $0.numbers.add($1) }
                defaults.changes(.count).observe(for: owner) { changes.add($1.new) }
            }
            defaults[.count] = 1
            #expect(remaining != nil)
            owner = nil
            #expect(remaining == nil)
            defaults[.count] = 2
            #expect(numbers.values == [7, 1])
            #expect(changes.values == [1])
        }
    }

    @Test("of an object that is gone is released at the next change")
    func releaseOfHandlers() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        var owner: Owner? = Owner()
        weak var captured: Record<Int>?
        do {
            let witness = Record<Int>()
            captured = witness
            defaults.updates(.count).observe(for: try #require(owner)) { witness.add($1) }
        }
        defaults[.count] = 1
        owner = nil
        #expect(captured?.values == [7, 1])
        defaults[.count] = 2
        #expect(captured == nil)
    }

    @Test("of an object can be cancelled before")
    func cancellation() {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let owner = Owner()
        weak var captured: Record<Int>?
        do {
            let witness = Record<Int>()
            captured = witness
            let observation = defaults.updates(.count).observe(for: owner) { owner, count in
                owner.numbers.add(count)
                witness.add(count)
            }
            defaults[.count] = 1
            observation.cancel()
        }
        #expect(captured == nil)
        defaults[.count] = 2
        #expect(owner.numbers.values == [7, 1])
    }

    /// An object that ends an observation when it is deallocated, as a part of a screen does.
    private final class Part: Sendable {
        let observation: StoreObservation

        init(_ observation: StoreObservation) {
            self.observation = observation
        }
    }

    @Test("may keep what ends other observations of the same store", arguments: StoreKind.allCases)
    func nestedEnds(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let values = Record<Int>()
            var part: Part? = Part(defaults.updates(.count).observe(values.add))
            let observation = defaults.updates(.title).observe { [part] _ in withExtendedLifetime(part) {} }
            part = nil
            defaults[.count] = 1
            observation.cancel()
            defaults[.count] = 2
            #expect(values.values == [7, 1])
        }
    }

    @Test("of an object never retains it for longer than a call, whatever other observations begin meanwhile")
    func otherObservers() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let isOver = Locked(false)
        let others = DispatchGroup()
        others.enter()
        Thread {
            // Each observation belongs to its own object, and to another key of another store.
            let other = Defaults(suite: MemoryDefaults())
            while !isOver.withLock({ $0 }) {
                let owner = Owner()
                other.updates(.title).observe(for: owner) { _, _ in }.cancel()
            }
            others.leave()
        }.start()
        defer {
            isOver.withLock { $0 = true }
            others.wait()
        }
        for _ in 0..<2_000 {
            var owner: Owner? = Owner()
            weak let remaining = owner
            if let owner {
                defaults.updates(.count).observe(for: owner) { $0.numbers.add($1) }
            }
            owner = nil
            #expect(remaining == nil)
        }
    }

    @Test("is called by one thread at a time, whatever the store does")
    func threads() throws {
        let store = Eager()
        let isRunning = Locked(false)
        let values = Record<Int>()
        let overlapping = Record<Int>()
        let observation = Defaults(suite: store).updates(.count).observe { value in
            let overlaps = isRunning.withLock { isRunning in
                defer { isRunning = true }
                return isRunning
            }
            if overlaps {
                overlapping.add(value)
            }
            for _ in 0..<20 {
                sched_yield()
            }
            values.add(value)
            isRunning.withLock { $0 = false }
        }
        let numbers = Locked(100)
        try onEightThreads {
            for _ in 0..<50 {
                let number = numbers.withLock { number in
                    number += 1
                    return number
                }
                try store.setStoredValue(.integer(Int64(number)), forKey: "count")
            }
        }
        #expect(overlapping.values == [])
        #expect(values.values.first == 7)
        #expect(values.values.last == Defaults(suite: store)[.count])
        observation.cancel()
    }
}

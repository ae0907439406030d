import DefaultJournal
import Foundation
import Observation
import Testing

@testable import Default

/// A type whose values can't be compared.
private struct Level: Codable {
    var number: Int
}

/// A test's own storage that reports its changes itself, and counts its calls.
private final class Reporting: KeyValueStorage, Sendable {
    private let contents = Locked<[String: Data]>([:])
    private let hub = ChangeHub()
    private let reads = Locked(0)
    private let observers = Locked(0)

    var readCount: Int { reads.withLock { $0 } }
    var observerCount: Int { observers.withLock { $0 } }

    func value<T: Codable>(forKey key: String) -> T? {
        reads.withLock { $0 += 1 }
        return contents.withLock { $0[key] }.flatMap { try? JSONDecoder().decode(T.self, from: $0) }
    }

    func setValue<T: Codable>(_ value: T?, forKey key: String) {
        let data = value.flatMap { try? JSONEncoder().encode($0) }
        contents.withLock { $0[key] = data }
        hub.notify([key])
    }

    func reportEverything() {
        hub.notify(nil)
    }

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        observers.withLock { $0 += 1 }
        return hub.add(handler)
    }
}

/// A store that does not know which of its keys have changed.
private final class Vague: DefaultsStore, Sendable {
    let storeDescription = "Vague \(UUID().uuidString)"
    private let hub = ChangeHub()
    private let memory = MemoryDefaults()

    func storedValue(forKey key: String) -> PropertyListValue? { memory.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try memory.setStoredValue(value, forKey: key)
        hub.notify(nil)
    }
    func storedKeys() -> [String] { memory.storedKeys() }
    func flush() {}
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation { hub.add(handler) }
}

/// A task that waits for the values of a sequence, one after the other.
@TestActor
private final class Received<Value: Sendable> {
    private let values: AsyncStream<Value>
    private let task: Task<Void, Never>

    init(_ updates: @escaping @TestActor () -> ValueUpdates<Value>) {
        let (values, continuation) = AsyncStream<Value>.makeStream()
        self.values = values
        task = Task { @TestActor in
            await withTaskExecutorPreference(TestThreads.waiting) { @TestActor in
                var updates = updates().makeAsyncIterator()
                while let value = await updates.next(isolation: TestActor.shared) {
                    continuation.yield(value)
                }
                continuation.finish()
            }
        }
    }

    /// Waits for the next value.
    func next() async -> Value? {
        var iterator = values.makeAsyncIterator()
        return await iterator.next(isolation: TestActor.shared)
    }

    /// Ends the task, and returns the values that it has received since.
    func end() async -> [Value] {
        task.cancel()
        await task.value
        var received: [Value] = []
        while let value = await next() {
            received.append(value)
        }
        return received
    }
}

@TestActor
@Suite("A container's updates", .waits)
struct ContainerUpdatesTests {
    @Test("come for changes of its own key only, from a custom storage too")
    func otherKeys() async throws {
        let storage = Reporting()
        let container = KeyValueContainer<Level>(storage: storage, key: "level", defaultValue: Level(number: 0))
        let other = KeyValueContainer<Int>(storage: storage, key: "another")
        let levels = Received { container.updates }
        #expect(await levels.next()??.number == 0)
        let others = Received { other.updates }
        #expect(await others.next() == .some(nil))
        let reads = storage.readCount
        storage.setValue(1, forKey: "another")
        // This comes after anything for the container, whose task has been waiting longer.
        #expect(await others.next() == 1)
        #expect(storage.readCount == reads + 1)
        storage.setValue(Level(number: 1), forKey: "level")
        #expect(await levels.next()??.number == 1)
        // The changed keys aren't known, so this one may have changed.
        storage.reportEverything()
        #expect(await levels.next()??.number == 1)
        #expect(await levels.end().isEmpty)
        #expect(await others.end().isEmpty)
    }

    @Test("and those of keys don't come for a value that is equal, though another one is stored")
    func equalValues() async throws {
        let store = MemoryDefaults()
        let key = DefaultsKey<Int>("number", default: 5)
        let numbers = Received { Defaults(suite: store).updates(key) }
        #expect(await numbers.next() == 5)
        let others = Received { Defaults(suite: store).updates(DefaultsKey<Int>("another")) }
        #expect(await others.next() == 0)
        for value in [PropertyListValue.integer(5), .real(5), .string("5")] {
            try store.setStoredValue(value, forKey: "number")
        }
        try store.setStoredValue(.integer(1), forKey: "another")
        // This comes after anything for the numbers, whose task has been waiting longer.
        #expect(await others.next() == 1)
        try store.setStoredValue(.real(6), forKey: "number")
        #expect(await numbers.next() == 6)
        try store.setStoredValue(nil, forKey: "number")
        #expect(await numbers.next() == 5)
        #expect(await numbers.end().isEmpty)
        #expect(await others.end().isEmpty)
    }

    @Test("don't come for what is stored already, though its values can't be compared")
    func equalContents() async throws {
        let store = Vague()
        let container = KeyValueContainer<Level>(storage: store, key: "level")
        let levels = Received { container.updates }
        try #require(await levels.next() != nil)
        container.value = Level(number: 1)
        #expect(await levels.next()??.number == 1)
        let others = Received { KeyValueContainer<Int>(storage: store, key: "another").updates }
        #expect(await others.next() == .some(nil))
        container.value = Level(number: 1)
        try store.setStoredValue(.integer(1), forKey: "another")
        // This comes after anything for the level, whose task has been waiting longer.
        #expect(await others.next() == 1)
        container.value = Level(number: 2)
        #expect(await levels.next()??.number == 2)
        #expect(await levels.end().isEmpty)
        #expect(await others.end().isEmpty)
    }

    @Test("of several keys come for each of them", arguments: StoreKind.allCases)
    func severalKeys(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let keys = ["a", "b", "c"].map { DefaultsKey<Int>($0) }
            var updates = Defaults(suite: store).updates(keys[0], keys[1], keys[2]).makeAsyncIterator()
            _ = await updates.next(isolation: #isolation)
            for (number, key) in keys.enumerated() {
                Defaults(suite: store)[key] = number + 1
                let latest = await updates.next(isolation: #isolation)
                let numbers = latest.map { [$0.0, $0.1, $0.2] } ?? []
                #expect(numbers.reduce(0, +) == (number + 1) * (number + 2) / 2)
            }
        }
    }

    @Test("and tracked reads observe a storage once, however many there are, and until there is no reader left")
    func tracking() throws {
        let storage = Reporting()
        let notices = Locked(0)
        func track() {
            withObservationTracking {
                _ = KeyValueContainer<Int>(storage: storage, key: "tracked \(ObjectIdentifier(storage))").value
            } onChange: {
                notices.withLock { $0 += 1 }
            }
        }
        let key = "tracked \(ObjectIdentifier(storage))"
        for _ in 0..<10 {
            track()
        }
        #expect(storage.observerCount == 1)
        storage.setValue(1, forKey: "another")
        #expect(notices.withLock { $0 } == 0)
        storage.setValue(1, forKey: key)
        #expect(notices.withLock { $0 } == 10)
        // A new read, as views make it, keeps the same observation.
        track()
        #expect(storage.observerCount == 1)
        storage.reportEverything()
        #expect(notices.withLock { $0 } == 11)
        storage.setValue(2, forKey: key)
        track()
        #expect(storage.observerCount == 2)
        storage.setValue(3, forKey: key)
        #expect(notices.withLock { $0 } == 12)
        storage.setValue(4, forKey: key)
    }

    @Test("of a part of a store that doesn't know which keys changed come all the same")
    func unknownKeys() async throws {
        let store = Vague()
        let (storage, container) = withDefaults(store) {
            let storage = PersistentStorage(keyPrefix: "a.")
            return (storage, KeyValueContainer<Int>(storage: store, key: "a.k"))
        }
        let heard = Locked<[Set<String>?]>([])
        let observation = withDefaults(store) { storage?.observeChanges { keys in heard.withLock { $0.append(keys) } } }
        var updates = container.updates.makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation) == .some(nil))
        try store.setStoredValue(.integer(1), forKey: "a.k")
        #expect(heard.withLock { $0 } == [nil])
        #expect(await updates.next(isolation: #isolation) == 1)
        observation?.cancel()
        var changes = store.changes().makeAsyncIterator()
        try store.setStoredValue(.integer(2), forKey: "a.k")
        #expect(await changes.next(isolation: #isolation) == [])
    }
}

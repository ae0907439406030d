// Code that crosses into tasks, actors and concurrent functions. Where declarations are isolated to the main actor,
// `nonisolated` exempts keys and constants; settings types need nothing.
import Default

nonisolated extension Defaults.Keys {
    static let volume = Key<Double>("volume")
    static let title = Key<String?>("title")
}

nonisolated let suite = MemoryDefaults()
nonisolated let title = Stored(.title)
nonisolated let settings = Defaults(suite: suite)

nonisolated extension PersistentStorage {
    var plays: KeyValueContainer<Int> { makeContainer() }
}

struct Deck: DefaultStorable {
    struct Speed: Codable {
        var rpm = 33
    }

    var speed = Speed()
    var plays = 0
    static let defaultValue = Deck()
}

actor Turntable {
    func play(in store: MemoryDefaults) throws {
        try Deck.update(in: store) { $0.plays += 1 }
        store[.volume] += 1
        Defaults(suite: store)[.title] = "actor"
    }
}

@concurrent
func playConcurrently(in store: MemoryDefaults) async throws {
    try Deck.update(in: store) { $0.plays += 1 }
    store[.volume] += 1
    for await deck in Deck.updates(in: store) where deck?.plays ?? 0 > 0 {
        break
    }
}

func playInTask(_ store: MemoryDefaults) async throws {
    try await Task.detached {
        try Deck.update(in: store) { $0.plays += 1 }
        store[.volume] += 1
        if let deck = Deck.read(from: store) {
            deck.write(to: store, withKey: "copy")
        }
    }.value
}

func storeInTasks() {
    Task.detached {
        PersistentStorage()?.setValue(1, forKey: "count")
        PersistentStorage()?.plays.value = 1
        settings[.volume] = 0.5
        title.wrappedValue = "Otto"
        try Deck.update { $0.plays += 1 }
    }
    storage.setValue(2, forKey: "count")
    storage.counter.value? += 1
    settings[.volume] -= 0.1
    title.wrappedValue? += "!"
}

/// Uses a property whose store was given, which stays in its isolation.
func use(_ store: any DefaultsStore) {
    let volume: Stored<Double, any DefaultsStore> = Stored(.volume, suite: store)
    volume.wrappedValue += volume.projectedValue.storedValue(forKey: "volume") == nil ? 0.1 : 0
}

import Default
import Observation
import Testing

@Suite("Keys, settings types and containers")
struct DeclarationTests {
    @Test("are declared without further annotations, and work")
    func declarations() {
        withDefaults(MemoryDefaults()) {
            useDeclarations()
            #expect(Defaults[.item].name == "ab")
            #expect(Defaults[.items] == [Item()])
            #expect(Defaults[.theme] == .dark)
            #expect(Settings.read()?.level == 4)
            #expect(Visual.read()?.themeName == "dark")
            #expect(storage.item.value == Item())
            #expect(storage.counter.value == 1)
            #expect(Defaults[.count] == 1)
        }
    }

    @Test("are used in detached tasks, concurrent functions and actors")
    func tasks() async throws {
        let store = MemoryDefaults()
        try await playInTask(store)
        try await playConcurrently(in: store)
        try await Turntable().play(in: store)
        #expect(Deck.read(from: store)?.plays == 3)
        #expect(Deck.read(from: store, forKey: "copy")?.speed.rpm == 33)
        #expect(store[.volume] == 3)
        #expect(store[.title] == "actor")
    }

    @Test("are observed one by one in an observable class")
    @MainActor
    func model() {
        let store = MemoryDefaults()
        let changes = MemoryDefaults()
        withDefaults(store) {
            let model = Model()
            withObservationTracking {
                _ = model.volume
            } onChange: {
                changes[.volume] += 1
            }
            Defaults[.title] = "x"
            #expect(changes[.volume] == 0)
            model.volume += 0.5
            #expect(changes[.volume] == 1)
            #expect(store[.volume] == 0.5)
        }
    }

    @Test("are observed")
    func observation() {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let listener = Listener()
        let observation = defaults.updates(.count).observe { count in
            store.df.store(count, forKey: "updated to")
        }
        defaults.changes(.count, .name).observe(for: listener) { listener, change in
            listener.hear(change.new.0, in: store)
        }
        defaults[.count] = 2
        #expect(store.df.fetch(forKey: "updated to", type: Int.self) == 2)
        #expect(store.df.fetch(forKey: "changed to", type: Int.self) == 2)
        observation.cancel()
    }
}

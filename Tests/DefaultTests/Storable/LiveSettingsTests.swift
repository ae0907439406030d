import Default
import Foundation
import Testing

private struct Look: DefaultStorable, Equatable {
    var size = 1.0
    var label: String { "size \(size)" }
    static let defaultValue = Look()
}

@Suite("The live settings of a type", .ownCache)
struct LiveSettingsTests {
    @Test("are stored as a whole and by properties, under their key in their store", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        try kind.withStore { store in
            let live = LiveSettings<Look>(in: store, forKey: "own")
            live.value = Look(size: 2)
            #expect(store.storedKeys() == ["own"])
            #expect(live.value == Look(size: 2) && live.size == 2)
            #expect(live.label == "size 2.0")
            live.size = 3
            let stored = try Look.load(from: store, forKey: "own")
            #expect(stored == Look(size: 3))
            #expect(live.label == "size 3.0")
            let other = LiveSettings(default: Look(size: 9), in: store, forKey: "other")
            #expect(other.label == "size 9.0")
            other.value = Look(size: 8)
            #expect(store.storedKeys().sorted() == ["other", "own"])
            #expect(live.size == 3)
        }
    }

    @Test("are changed by a call that throws, and removed", arguments: StoreKind.allCases)
    func calls(kind: StoreKind) throws {
        try kind.withStore { store in
            let live = LiveSettings<Look>(in: store, forKey: "own")
            let before = try live.update { look in
                defer { look.size += 1 }
                return look.size
            }
            #expect(before == 1 && live.size == 2)
            #expect(try Look.load(from: store, forKey: "own") == Look(size: 2))
            expectError(.encodingFailed) { try live.update { $0.size = .nan } }
            #expect(throws: CancellationError.self) {
                try live.update { look in
                    look.size = 5
                    throw CancellationError()
                }
            }
            #expect(live.size == 2)
            live.clear()
            #expect(live.size == 1 && store.storedKeys() == [])
            live.size = 4
            try live.remove()
            #expect(live.size == 1 && store.storedKeys() == [])
        }
    }

    @Test("report a value that can't be encoded, and keep the stored one", arguments: StoreKind.allCases)
    func encoding(kind: StoreKind) throws {
        try kind.withStore { store in
            let live = LiveSettings<Look>(in: store, forKey: "own")
            live.size = 2
            let collector = EventCollector()
            collector.collect {
                live.size = .nan
                live.value = Look(size: .infinity)
            }
            #expect(collector.codes == [.encodingFailed, .encodingFailed])
            #expect(collector.events.allSatisfy { $0.kind == .writeFailed && $0.error.key == "own" })
            #expect(live.value == Look(size: 2))
        }
    }

    @Test("report the error of a store that can't be used, with their key and type")
    func failingStore() {
        for key in ["own", nil] {
            let live = LiveSettings(default: Look(size: 9), in: Refusing(), forKey: key)
            let collector = EventCollector()
            collector.collect {
                #expect(live.size == 9)
                live.size = 2
                live.value = Look()
            }
            #expect(collector.events.map(\.kind) == [.readFailed, .writeFailed, .writeFailed])
            #expect(collector.codes == [.storeFailed, .storeFailed, .storeFailed])
            for error in collector.events.map(\.error) {
                #expect(error.key == key ?? "Look")
                #expect(error.type == Look.self && error.store == "Refusing")
                #expect(error.underlyingError is Refusing.Refusal)
            }
        }
    }
}

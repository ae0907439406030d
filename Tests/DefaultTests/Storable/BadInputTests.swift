import Default
import Foundation
import Testing

private struct Level: DefaultStorable, Equatable {
    var value: Double
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Level? { Level(value: 3) }
}

private struct Stubborn: Encodable {
    struct Refusal: Error {}
    func encode(to encoder: any Encoder) throws { throw Refusal() }
}

@Suite("Bad input")
struct BadInputTests {
    @Test("that can't be encoded is reported, and keeps the stored value", arguments: StoreKind.allCases)
    func encoding(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try Level(value: 1).save()
            let before = store.data(forKey: "Level")
            let collector = EventCollector()
            collector.collect {
                Level(value: .nan).write()
                store.df.store(Stubborn(), forKey: "Level")
                store.df.store(Double.infinity, forKey: "Level")
            }
            #expect(collector.codes == [.encodingFailed, .encodingFailed, .encodingFailed])
            #expect(collector.events.allSatisfy { $0.kind == .writeFailed && $0.error.key == "Level" })
            #expect(store.data(forKey: "Level") == before)

            let error = expectError(.encodingFailed) { try Level(value: .nan).save() }
            #expect(error?.underlyingError is EncodingError)
            #expect(error?.type == Level.self)
            let thrown = expectError(.encodingFailed) { try store.df.save(Stubborn(), forKey: "Level") }
            #expect(thrown?.underlyingError is Stubborn.Refusal)
            #expect(store.data(forKey: "Level") == before)
        }
    }

    @Test(
        "that is stored and can't be decoded is reported once, and kept however often it is read",
        arguments: StoreKind.allCases,
        ["", "{", "null", "[]", "3", #"{"value":3"#, "\u{FF}\u{0}"]
    )
    func decoding(kind: StoreKind, text: String) throws {
        try kind.withCurrentStore { store in
            let bytes = Data(text.utf8)
            try store.set(bytes, forKey: "Level")
            let collector = EventCollector()
            collector.collect {
                for _ in 0..<5 {
                    #expect(Level.read() == Level(value: 3))
                    #expect(store.df.fetch(forKey: "Level", type: Level.self) == nil)
                }
            }
            #expect(collector.codes == [.undecodable])
            #expect(collector.events.first?.kind == .readFailed)
            let error = expectError(.undecodable) { try Level.load() }
            #expect(error?.underlyingError is DecodingError)
            #expect(error?.key == "Level")
            #expect(error?.type == Level.self && error?.store == store.storeDescription)
            #expect(error?.description.contains("The \(bytes.count) bytes stored under") == true)
            #expect(store.data(forKey: "Level") == bytes)
        }
    }

    @Test("that is stored and is not Data is reported once, and kept", arguments: StoreKind.allCases)
    func mismatch(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set("a secret", forKey: "Level")
            let collector = EventCollector()
            collector.collect {
                for _ in 0..<5 { #expect(Level.read() == Level(value: 3)) }
            }
            #expect(collector.codes == [.typeMismatch])
            let error = expectError(.typeMismatch) { try Level.load() }
            #expect(error?.description.hasPrefix("A string is stored under") == true)
            #expect(error?.description.contains("secret") == false)
            #expect(error?.key == "Level" && error?.type == Level.self && error?.store == store.storeDescription)
            #expect(error?.underlyingError == nil)
            #expect(store.object(forKey: "Level") as? String == "a secret")
        }
    }

    @Test("as a key is reported, and nothing is stored", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            for key in keysThatNoStoreTakes {
                let collector = EventCollector()
                collector.collect {
                    Level(value: 1).write(withKey: key)
                    store.df.store(1, forKey: key)
                    #expect(Level.read(forKey: key) == Level(value: 3))
                    Level.clear(forKey: key)
                }
                #expect(collector.codes == [.invalidKey, .invalidKey, .invalidKey, .invalidKey])
                let kinds = collector.events.map(\.kind)
                #expect(kinds == [.writeFailed, .writeFailed, .readFailed, .removalFailed])
                expectError(.invalidKey) { try Level.loadWithReport(forKey: key) }
                expectError(.invalidKey) { try Level.migrate(forKey: key) }
                expectError(.invalidKey) { try Level.restoreQuarantined(forKey: key) }
                expectError(.invalidKey) { try Level.removeQuarantined(forKey: key) }
                expectError(.invalidKey) { try Level.move(from: store, forKey: key) }
                expectError(.invalidKey) { try Level(value: 1).save(withKey: key) }
                expectError(.invalidKey) { try Level.load(forKey: key) }
                expectError(.invalidKey) { try Level.remove(forKey: key) }
                expectError(.invalidKey) { try Level.update(forKey: key) { $0.value += 1 } }
                #expect(store.object(forKey: key) == nil)
            }
        }
    }
}

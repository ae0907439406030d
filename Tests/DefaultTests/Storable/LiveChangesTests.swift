import Default
import DefaultJournal
import Foundation
import Testing

private struct Window: Codable, Equatable {
    var width = 0
    var title = "none"
}

private struct Session: DefaultStorable, Equatable {
    var count = 0
    var names: [String] = []
    var window = Window()
    var ratio = 1.0
    static let defaultValue = Session()
}

/// A store that may refuse exclusive access, and counts how often it begins and ends.
private final class Gate: DefaultsStore, Sendable {
    struct Refusal: Error {}

    private struct Calls {
        var refuses = false
        var begins = 0
        var ends = 0
    }

    let storeDescription = "Gate of live settings"
    private let contents = MemoryDefaults()
    private let calls = Locked(Calls())

    var begins: Int { calls.withLock { $0.begins } }
    var ends: Int { calls.withLock { $0.ends } }

    func refuse() { calls.withLock { $0.refuses = true } }

    func storedValue(forKey key: String) -> PropertyListValue? { contents.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try contents.setStoredValue(value, forKey: key)
    }
    func storedKeys() -> [String] { contents.storedKeys() }
    func flush() {}

    func beginExclusiveAccess() throws {
        try calls.withLock {
            if $0.refuses { throw Refusal() }
            $0.begins += 1
        }
    }

    func endExclusiveAccess() { calls.withLock { $0.ends += 1 } }
}

@Suite("Changes in place of live settings", .waits)
struct LiveChangesTests {
    @Test("lose nothing on eight threads", arguments: StoreKind.allCases)
    func threads(kind: StoreKind) throws {
        let rounds = TestExtent.pick(brief: 5, full: kind.rounds)
        try kind.withStore { store in
            // The object may be used wherever its store may be used.
            nonisolated(unsafe) let live = LiveSettings<Session>(in: store)
            let shared = UnsafeStore(store)
            try onEightThreads {
                let own = LiveSettings<Session>(in: shared.store)
                for round in 0..<rounds {
                    live.count += 1
                    own.names.append("\(round)")
                    own.window.width += 1
                    live.value.window.width += 1
                    live.value.count += 1
                    live.window.title = "set"
                }
            }
            #expect(live.count == 16 * rounds)
            #expect(live.names.count == 8 * rounds)
            #expect(live.window == Window(width: 16 * rounds, title: "set"))
            #expect(Session.read(from: store) == live.value)
        }
    }

    @Test("lose nothing in several processes")
    func processes() throws {
        try withTemporaryDirectory { directory in
            let suite = directory.appending(path: "suite.defaults")
            let rounds = TestExtent.pick(brief: 30, full: 100)
            let helpers = try (0..<4).map { _ in try TestHelper.start(["increment-live", suite.path, "\(rounds)"]) }
            for helper in helpers {
                helper.waitUntilExit()
                #expect(helper.status == 0)
            }
            let outcome = try TestHelper.run(["print-live", suite.path])
            #expect(outcome.output == "\(8 * rounds) \(4 * rounds)\n", "\(outcome.errors)")
        }
    }

    @Test("keep what the type doesn't know, and use the store and the key of the object", arguments: StoreKind.allCases)
    func unknownFields(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.setStoredValue(.data(Data(#"{"count":1,"theme":"dark"}"#.utf8)), forKey: "own")
            let live = LiveSettings<Session>(in: store, forKey: "own")
            live.count += live.count
            live.value.window.width -= live.count
            live.names.append("\(live.names.count) \(live.window.width)")
            let expected = Session(count: 2, names: ["0 -2"], window: Window(width: -2))
            #expect(live.value == expected && store.storedKeys() == ["own"])
            guard case .data(let data) = store.storedValue(forKey: "own") else {
                Issue.record("The settings are not stored as data.")
                return
            }
            #expect(String(decoding: data, as: UTF8.self).contains(#""theme":"dark""#))
        }
    }

    @Test("begin exclusive access and end it as often, and store nothing when they throw or can't be encoded")
    func outcomes() throws {
        struct Stop: Error {}
        func stop(_ value: inout Int) throws {
            value = 9
            throw Stop()
        }
        let store = Gate()
        let live = LiveSettings<Session>(in: store)
        live.count += 1
        #expect(store.begins > 0 && store.ends == store.begins)
        #expect(throws: Stop.self) { try stop(&live.count) }
        #expect(throws: Stop.self) { try stop(&live.window.width) }
        #expect(throws: Stop.self) { try stop(&live.value.window.width) }
        #expect(store.ends == store.begins)
        let collector = EventCollector()
        collector.collect { live.ratio *= .infinity }
        #expect(collector.events.map(\.kind) == [.writeFailed] && collector.codes == [.encodingFailed])
        #expect(store.ends == store.begins)
        #expect(live.value == Session(count: 1))
    }

    @Test("of a store that refuses exclusive access store nothing, and say why")
    func refusal() throws {
        let store = Gate()
        let live = LiveSettings<Session>(in: store)
        live.names = ["first", "last"]
        store.refuse()
        let collector = EventCollector()
        collector.collect {
            // The change starts from the stored value, although its result can't be stored.
            #expect(live.names.popLast() == "last")
            live.count += 1
            live.value.count += 1
            live.window.width += 1
        }
        #expect(collector.events.map(\.kind) == Array(repeating: .writeFailed, count: 4))
        for error in collector.events.map(\.error) {
            #expect(error.code == .storeFailed && error.underlyingError is Gate.Refusal)
            #expect(error.key == "Session" && error.type == Session.self && error.store == "Gate of live settings")
        }
        #expect(live.value == Session(names: ["first", "last"]))
    }

    @Test("of a store that can't be read store nothing, and report that once")
    func unreadableStore() {
        let live = LiveSettings<Session>(in: Refusing())
        let collector = EventCollector()
        collector.collect {
            live.count += 1
            live.count = 5
        }
        #expect(collector.events.map(\.kind) == [.writeFailed, .writeFailed])
        #expect(collector.codes == [.storeFailed, .storeFailed])
    }
}

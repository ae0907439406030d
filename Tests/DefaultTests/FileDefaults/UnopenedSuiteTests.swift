import DefaultJournal
import Foundation
import Testing

@testable import Default

@Suite("A suite that can't be opened yet", .waits)
struct UnopenedSuiteTests {
    /// Runs a test on a suite at a path that can be created only after `unblock`.
    private func withUnopenedSuite(
        arguments: [String] = [],
        _ test: (_ suite: FileDefaults, _ unblock: () throws -> Void) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            // There is a file where a directory has to be.
            let obstacle = directory.appending(path: "place")
            try Data().write(to: obstacle)
            let suite = FileDefaults(
                suite: FileSuite(location: .directory(obstacle.appending(path: "s"))),
                durability: .background,
                sources: DefaultsSources(arguments: LaunchArguments(arguments))
            )
            expectError(.storeUnavailable) { try suite.checkAvailability() }
            try test(suite) { try FileManager.default.removeItem(at: obstacle) }
        }
    }

    @Test("has registered values all the same, and keeps them when it is opened")
    func registered() throws {
        try withUnopenedSuite { suite, unblock in
            try suite.register(defaults: ["a": 1, "b": 1])
            try suite.register(defaults: ["b": 2, "c": 2])
            #expect(suite.integer(forKey: "a") == 1)
            #expect(suite.integer(forKey: "b") == 2)
            #expect(suite.object(forKey: "d") == nil)
            #expect(suite.dictionaryRepresentation() as? [String: Int] == ["a": 1, "b": 2, "c": 2])
            #expect(suite.storedKeys() == [])
            expectError(.storeUnavailable) { try suite.set(3, forKey: "a") }
            expectError(.storeUnavailable) { try suite.flush() }
            expectError(.storeUnavailable) { try suite.withExclusiveAccess {} }
            expectError(.invalidKey) { try suite.register(defaults: ["": 1, "d": 1]) }
            let tooDeep = (0..<257).reduce(PropertyListValue.integer(1)) { value, _ in .array([value]) }
            expectError(.unsupportedValue) { try suite.register(defaults: ["d": tooDeep]) }
            #expect(suite.object(forKey: "d") == nil)

            try unblock()
            #expect(suite.integer(forKey: "a") == 1)
            #expect(suite.storedKeys() == [])
            try suite.set(3, forKey: "a")
            try suite.register(defaults: ["c": 4])
            #expect(suite.dictionaryRepresentation() as? [String: Int] == ["a": 3, "b": 2, "c": 4])
            #expect(suite.storedKeys() == ["a"])
        }
    }

    @Test("has its keys' defaults, says why nothing is found or changed, and has their values once it is opened")
    func keys() throws {
        try withUnopenedSuite { suite, unblock in
            let defaults = Defaults(suite: suite)
            let key = Defaults.Key<Int>("n", default: 7)
            let container: KeyValueContainer<Int> = suite.makeContainer(default: 5, key: "n")
            typealias Kind = DefaultsDiagnostics.Event.Kind
            // The first call, whichever it is, reports once that the suite can't be opened.
            let reads: [() -> Void] = [
                { #expect(defaults["n"].string == nil) }, { #expect(!defaults.hasKey("n")) },
                { #expect(defaults.keys == []) }, { #expect(suite.string(forKey: "n") == nil) },
                { #expect(suite.dictionaryRepresentation().isEmpty) },
            ]
            let opening = EventCollector()
            for read in reads { opening.collect(read) }
            #expect(opening.events.map(\.kind) == [.openFailed] && opening.codes == [.storeUnavailable])
            let calls: [(Kind, () -> Void)] = [
                (.readFailed, { #expect(defaults[key] == 7) }), (.readFailed, { #expect(container.value == 5) }),
                (.readFailed, { #expect(!container.exists) }), (.writeFailed, { defaults[key] = 1 }),
                (.writeFailed, { defaults[key] += 1 }), (.writeFailed, { defaults["n"] = 1 }),
                (.writeFailed, { defaults["n"] += 1 }), (.writeFailed, { container.value = 1 }),
                (.removalFailed, { defaults.reset(key) }), (.removalFailed, { defaults.removeAll() }),
            ]
            for (number, (kind, call)) in calls.enumerated() {
                let collector = EventCollector()
                collector.collect(call)
                #expect(collector.events.map(\.kind) == [kind] && collector.codes == [.storeUnavailable], "\(number)")
            }
            expectError(.storeUnavailable) { try defaults.load(key) }
            expectError(.storeUnavailable) { try defaults.save(1, for: key) }
            expectError(.storeUnavailable) { try defaults.update(key) { $0 += 1 } }
            expectError(.storeUnavailable) { try container.update { $0 = 1 } }
            #expect(!defaults.hasKey("n") && defaults["n"].int == nil && defaults.keys == [])

            try unblock()
            expectEvents([]) { defaults[key] += 1 }
            #expect(try defaults.load(key) == 8)
            #expect(container.value == 8)
        }
    }

    @Test("has observers whose handlers may keep what ends other observations")
    func nestedEnds() throws {
        /// Ends an observation when it is deallocated.
        final class Part: Sendable {
            let observation: StoreObservation
            init(_ observation: StoreObservation) { self.observation = observation }
        }
        try withUnopenedSuite { suite, unblock in
            let heard = Locked(0)
            var part: Part? = Part(suite.observeChanges { _ in heard.withLock { $0 += 1 } })
            let observation = suite.observeChanges { [part] _ in withExtendedLifetime(part) {} }
            part = nil
            observation.cancel()
            try unblock()
            try suite.set(1, forKey: "k")
            #expect(heard.withLock { $0 } == 0)
        }
    }

    @Test("calls the observers that were added before from its opening on, unless they have ended")
    func observers() throws {
        try withUnopenedSuite { suite, unblock in
            let heard = Locked<[[Set<String>?]]>([[], [], []])
            var observations = heard.withLock { $0.indices }.map { number in
                suite.observeChanges { keys in heard.withLock { $0[number].append(keys) } }
            }
            observations.removeFirst().cancel()
            #expect(heard.withLock { $0 } == [[], [], []])

            try unblock()
            try suite.checkAvailability()
            // The changed keys aren't known: any of them may have changed.
            #expect(heard.withLock { $0 } == [[], [nil], [nil]])
            try suite.set(1, forKey: "k")
            #expect(heard.withLock { $0 } == [[], [nil, ["k"]], [nil, ["k"]]])
            observations.removeFirst().cancel()
            try suite.set(2, forKey: "k")
            #expect(heard.withLock { $0 } == [[], [nil, ["k"]], [nil, ["k"], ["k"]]])
            #expect(suite.isObserved)
            observations.removeFirst().cancel()
            #expect(!suite.isObserved)
        }
    }

    @Test("releases the handlers of observations that have ended")
    func releasedHandlers() throws {
        final class Captured: Sendable {}
        try withUnopenedSuite { suite, unblock in
            weak var released: Captured?
            weak var kept: Captured?
            let observations = [Captured(), Captured()].enumerated().map { number, captured in
                if number == 0 { released = captured } else { kept = captured }
                return suite.observeChanges { _ in withExtendedLifetime(captured) {} }
            }
            observations[0].cancel()
            #expect(released == nil)
            #expect(kept != nil)
            try unblock()
            try suite.checkAvailability()
            #expect(kept != nil)
            observations[1].cancel()
            #expect(kept == nil)
        }
    }

    @Test("gives updates the value that is there once it is opened")
    func updates() async throws {
        try await withTemporaryDirectory { directory in
            let obstacle = directory.appending(path: "place")
            try Data().write(to: obstacle)
            let url = obstacle.appending(path: "s")
            let suite = FileDefaults(
                suite: FileSuite(location: .directory(url)),
                durability: .background,
                sources: DefaultsSources(arguments: LaunchArguments([]))
            )
            var values = Defaults(suite: suite).updates(DefaultsKey<Int>("k")).makeAsyncIterator()
            #expect(await values.next(isolation: nil) == 0)
            try FileManager.default.removeItem(at: obstacle)
            try FileDefaults(url: url).set(5, forKey: "k")
            try suite.checkAvailability()
            #expect(await values.next(isolation: nil) == 5)
        }
    }

    @Test("takes part in the transaction that its thread began through another object")
    func transactionOfAnotherObject() throws {
        struct Stop: Error {}
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            func unopened() -> FileDefaults {
                FileDefaults(suite: FileSuite(location: .directory(url)), durability: .background, sources: nil)
            }
            let suite = try FileDefaults(url: url)
            try suite.set(1, forKey: "removed")
            #expect(throws: Stop.self) {
                try suite.transaction {
                    try unopened().set(1, forKey: "set")
                    #expect(suite.object(forKey: "set") as? Int == 1)
                    try unopened().removeObject(forKey: "removed")
                    throw Stop()
                }
            }
            #expect(suite.storedKeys() == ["removed"])
        }
    }

    @Test("has its launch arguments all the same")
    func launchArguments() throws {
        try withUnopenedSuite(arguments: ["program", "-k", "5"]) { suite, unblock in
            try suite.register(defaults: ["k": 1, "r": 1])
            #expect(suite.integer(forKey: "k") == 5)
            #expect(suite.dictionaryRepresentation().keys.sorted() == ["k", "r"])
            #expect(suite.dictionaryRepresentation()["k"] as? String == "5")
            try unblock()
            try suite.set(7, forKey: "k")
            #expect(suite.integer(forKey: "k") == 5)
        }
    }
}

@Suite("Events that are deferred")
struct DeferredEventsTests {
    @Test("are reported once, in their order, when no lock is held any more, and later ones immediately")
    func order() {
        func event(_ key: String) -> DefaultsDiagnostics.Event {
            .init(kind: .storeDamaged, error: DefaultsError(.storeDamaged, reason: "", key: key))
        }
        let collector = EventCollector()
        collector.collect {
            let events = DeferredEvents()
            events.report(event("a"))
            events.report(event("b"))
            #expect(collector.events.isEmpty)
            events.release()
            #expect(collector.events.map(\.error.key) == ["a", "b"])
            events.report(event("c"))
            #expect(collector.events.map(\.error.key) == ["a", "b", "c"])
            events.release()
        }
        #expect(collector.events.count == 3)
    }
}

@Suite("Arguments of the command line")
struct CommandLineTests {
    private func values(_ arguments: String...) -> [String: PropertyListValue] {
        let values = LaunchArguments(["program"] + arguments).entries
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.string, $0.value) })
    }

    @Test("are keys with a dash, each with the value behind it")
    func pairs() {
        #expect(values() == [:])
        #expect(values("-a", "1", "-b", "x y") == ["a": .string("1"), "b": .string("x y")])
        #expect(values("a", "-b", "c", "d", "-e", "f") == ["b": .string("c"), "e": .string("f")])
        // The program's own name is no argument, even with a dash.
        #expect(LaunchArguments(["-program", "x"]).entries == [:])
        #expect(LaunchArguments([]).entries == [:])
    }

    @Test("are none where no value is behind them, or where the key is a number or has two dashes")
    func others() {
        #expect(values("-a") == [:])
        #expect(values("-a", "-b", "c") == ["b": .string("c")])
        #expect(values("-a", "--b", "c") == [:])
        #expect(values("--a", "b", "-c", "d") == ["c": .string("d")])
        #expect(values("-", "b") == [:])
        #expect(values("-5", "b") == [:])
        #expect(values("-a", "-5", "b") == ["a": .string("-5")])
        #expect(values("-a", "") == ["a": .string("")])
        #expect(values("-a", "1", "-a", "2") == ["a": .string("2")])
        #expect(values("-.5", "b") == [:])
        #expect(values("-a", "-.5") == ["a": .string("-.5")])
    }

    @Test("may have keys that begin like the words for numbers")
    func words() {
        #expect(values("-inf", "b") == ["inf": .string("b")])
        #expect(values("-nan", "-infinity", "b") == ["infinity": .string("b")])
    }

    @Test("are property lists where they look like ones, and strings where they aren't")
    func propertyLists() {
        #expect(values("-a", "(x, y)") == ["a": .array([.string("x"), .string("y")])])
        #expect(values("-a", "{x = y;}") == ["a": .dictionary(["x": .string("y")])])
        #expect(values("-a", "<010203>") == ["a": .data(Data([1, 2, 3]))])
        #expect(values("-a", "(x, y") == ["a": .string("(x, y")])
        #expect(values("-a", "\"x\"") == ["a": .string("\"x\"")])
        let xml = "<plist version=\"1.0\"><array><integer>1</integer><true/></array></plist>"
        #expect(values("-a", xml, "-b", "") == ["a": .array([.integer(1), .boolean(true)]), "b": .string("")])
        #expect(values("-a", "<plist>") == ["a": .string("<plist>")])
    }

    @Test("override what is stored and registered, in data(forKey:) and in listings too, and are not stored")
    func override() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let stored = try FileDefaults(url: url)
            let suite = FileDefaults(
                suite: stored.suite,
                durability: .background,
                sources: DefaultsSources(
                    arguments: LaunchArguments([
                        "program", "-blob", "<010203>", "-name", "argument", "-both", "argument",
                    ])
                )
            )
            try suite.set(Data([9]), forKey: "blob")
            try suite.set("stored", forKey: "other")
            try suite.set("stored", forKey: "both")
            try suite.register(defaults: ["name": "registered", "both": "registered", "third": "registered"])
            #expect(suite.data(forKey: "blob") == Data([1, 2, 3]))
            #expect(suite.string(forKey: "name") == "argument")
            #expect(suite.dictionaryRepresentation()["blob"] as? Data == Data([1, 2, 3]))
            let texts = suite.dictionaryRepresentation().compactMapValues { $0 as? String }
            #expect(
                texts == ["name": "argument", "other": "stored", "both": "argument", "third": "registered"]
            )
            #expect(suite.storedKeys().sorted() == ["blob", "both", "other"])
            #expect(stored.data(forKey: "blob") == Data([9]))
            #expect(stored.string(forKey: "both") == "stored")
            try suite.removeObject(forKey: "blob")
            #expect(suite.data(forKey: "blob") == Data([1, 2, 3]))
            #expect(stored.data(forKey: "blob") == nil)
        }
    }
}

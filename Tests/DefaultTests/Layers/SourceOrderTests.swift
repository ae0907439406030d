@testable import Default
import DefaultJournal
import DefaultOperators
import Foundation
import Testing

extension DefaultsKeys {
    fileprivate static let volume = DefaultsKey<Double>("volume", default: 0.1)
    fileprivate static let token = DefaultsKey<String?>("token")
}

@Suite("Layers of a store")
struct SourceOrderTests {
    private let vendor = ValuesSource.values(["volume": 0.5, "station": "vendor"], name: "vendor")

    @Test(
        "are mandatory values, overrides, what is stored, fallbacks, and what is registered",
        arguments: LayeredStoreKind.allCases
    )
    func order(kind: LayeredStoreKind) throws {
        let keys: [String: PropertyListValue] = ["all": "mandatory"]
        let over: [String: PropertyListValue] = ["all": "override", "over": "override"]
        let under: [String: PropertyListValue] = [
            "all": "fallback", "over": "fallback", "stored": "fallback", "under": "fallback",
        ]
        try kind.withStore(
            mandatory: [.values(keys, name: "policy")],
            overrides: [.values(over, name: "first"), .values(["over": "second"], name: "second")],
            fallbacks: [.values(under, name: "vendor"), .values(["under": "last", "last": "last"], name: "last")]
        ) { store in
            for key in ["over", "stored"] { try store.set("stored", forKey: key) }
            #expect(store.string(forKey: "all") == "mandatory")
            #expect(store.string(forKey: "over") == "override")
            #expect(store.string(forKey: "stored") == "stored")
            #expect(store.string(forKey: "under") == "fallback")
            #expect(store.string(forKey: "last") == "last")
            #expect(store.string(forKey: "none") == nil)
            // A write stores the value, wherever the effective one comes from.
            try store.removeObject(forKey: "over")
            try store.removeObject(forKey: "stored")
            #expect(store.string(forKey: "over") == "override" && store.string(forKey: "stored") == "fallback")
        }
    }

    @Test("have launch arguments below mandatory values and above overrides, and registered values last")
    func argumentsAndRegistered() throws {
        try withTemporaryDirectory { directory in
            let sources = DefaultsSources(
                mandatory: [.values(["a": "mandatory"], name: "policy")],
                arguments: LaunchArguments(["tool", "-a", "argument", "-b", "argument"]),
                overrides: [.values(["b": "override", "c": "override"], name: "over")],
                fallbacks: [.values(["d": "fallback"], name: "vendor")]
            )
            let suite = FileDefaults(
                suite: FileSuite(location: .directory(directory.appending(path: "s"))),
                durability: .background,
                sources: sources
            )
            try suite.register(defaults: ["d": "registered", "e": "registered", "a": "registered"])
            #expect(
                ["a", "b", "c", "d", "e"].map { suite.string(forKey: $0) }
                    == ["mandatory", "argument", "override", "fallback", "registered"]
            )
            #expect(suite.origins(forKey: "a").map(\.kind) == [.mandatory, .argument, .registered])
            #expect(suite.origin(forKey: "e")?.kind == .registered)
        }
    }

    @Test("say where a value comes from, and what it hides", arguments: LayeredStoreKind.allCases)
    func origins(kind: LayeredStoreKind) throws {
        try kind.withStore(
            mandatory: [.values(["volume": 1], name: "policy")],
            overrides: [.values(["volume": 0.9], name: "first")],
            fallbacks: [vendor]
        ) { store in
            try store.set("mine", forKey: "station")
            #expect(store.origins(forKey: "volume").map(\.kind) == [.mandatory, .override, .fallback])
            #expect(store.origins(forKey: "volume").map(\.name) == ["policy", "first", "vendor"])
            #expect(store.origins(forKey: "station").map(\.kind) == [.stored, .fallback])
            #expect(store.origin(forKey: "station")?.name == store.storeDescription)
            #expect(store.origin(forKey: "nothing") == nil)
            #expect(store.objectIsForced(forKey: "volume") && !store.objectIsForced(forKey: "station"))
            #expect("\(store.origins(forKey: "volume")[2])" == "fallback (vendor)")
            let defaults = Defaults(suite: store as any DefaultsStore)
            #expect(defaults.origin(of: .volume)?.kind == .mandatory && defaults.isForced(.volume))
        }
    }

    @Test("are named by the error of a key whose value they have in another form", arguments: LayeredStoreKind.allCases)
    func mismatches(kind: LayeredStoreKind) throws {
        let wrong = ValuesSource.values(["volume": "loud"], name: "the vendor's values")
        let sources: [(overrides: [any DefaultsSource], fallbacks: [any DefaultsSource], place: String)] = [
            ([EnvironmentSource(prefix: "APP_", in: ["APP_VOLUME": "loud"])], [], "the environment (APP_…)"),
            ([], [wrong], "the vendor's values"),
        ]
        for (overrides, fallbacks, place) in sources {
            try kind.withStore(overrides: overrides, fallbacks: fallbacks) { store in
                let error = expectError(.typeMismatch) { try Defaults(suite: store).load(.volume) }
                let text = #""volume" is a string in \#(place), which can't be read as Double. Correct it there."#
                #expect(error?.description.contains(text) == true, "\(String(describing: error))")
            }
        }
        try kind.withStore { store in
            try store.set("loud", forKey: "volume")
            let error = expectError(.typeMismatch) { try Defaults(suite: store).load(.volume) }
            #expect(error?.description.contains("A string is stored under \"volume\"") == true)
        }
    }

    @Test(
        "don't become the user's own by a change that leaves the value as it was",
        arguments: LayeredStoreKind.allCases
    )
    func unchangedValues(kind: LayeredStoreKind) throws {
        let values: [String: PropertyListValue] = ["token": "secret", "volume": 0.5]
        for layer in 0..<3 {
            func sources(_ number: Int) -> [any DefaultsSource] {
                number == layer ? [.values(values, name: "test")] : []
            }
            try kind.withStore(mandatory: sources(0), overrides: sources(1), fallbacks: sources(2)) { store in
                try expectEvents([]) {
                    let defaults = Defaults(suite: store)
                    defaults[.token] ?= "none"
                    defaults[.volume] *= 1
                    try defaults.update(.volume) { $0 += 0 }
                    let container = KeyValueContainer<String>(storage: store, key: "token")
                    container.value ?= "none"
                    try container.update { value in value = value ?? "none" }
                }
                #expect(store.storedKeys() == [])
                // What is assigned is stored, even if it is the same.
                guard layer > 0 else { return }
                Defaults(suite: store)[.volume] = 0.5
                #expect(store.ownValue(forKey: "volume") == 0.5)
            }
        }
    }

    @Test("don't count as stored in listings", arguments: LayeredStoreKind.allCases)
    func listings(kind: LayeredStoreKind) throws {
        try kind.withStore(overrides: [.values(["over": 1], name: "over")], fallbacks: [vendor]) { store in
            let defaults = Defaults(suite: store as any DefaultsStore)
            try store.set(1, forKey: "own")
            #expect(store.storedKeys() == ["own"])
            #expect(defaults.keys == ["own"])
            #expect(!defaults.exists(key: .volume) && !defaults.hasKey("over") && defaults.hasKey("own"))
            #expect(defaults[.volume] == 0.5)
        }
    }

    @Test("are all in the effective listing, which has a name of its own")
    func effectiveListing() throws {
        let store = MemoryDefaults(overrides: [.values(["over": 1], name: "over")], fallbacks: [vendor])
        try store.set(1, forKey: "own")
        try store.set("mine", forKey: "station")
        let all = store.dictionaryRepresentation()
        #expect(all.count == 4 && all["over"] as? Int == 1 && all["own"] as? Int == 1)
        #expect(all["volume"] as? Double == 0.5 && all["station"] as? String == "mine")
        let variables = EnvironmentSource(prefix: "APP_", in: ["APP_VOLUME": "0.7"])
        let listening = MemoryDefaults(fallbacks: [variables, vendor])
        #expect(listening.dictionaryRepresentation()["volume"] as? String == listening.string(forKey: "volume"))
    }

    @Test(
        "give a typed key its effective value, from which changes in place start",
        arguments: LayeredStoreKind.allCases
    )
    func typedKeys(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [vendor]) { store in
            let store: any DefaultsStore = store
            store[.volume] += 0.25
            #expect(store.ownValue(forKey: "volume") == 0.75)
            #expect(store.origin(forKey: "volume")?.kind == .stored)
            store[.volume] = 0.5
            // A typed key is a whole value: it is stored, though the fallback has the same.
            #expect(store.ownValue(forKey: "volume") == 0.5)
        }
    }

    @Test(
        "refuse writes and removals of mandatory keys, with the name of the source",
        arguments: LayeredStoreKind.allCases
    )
    func mandatory(kind: LayeredStoreKind) throws {
        try kind.withStore(mandatory: [.values(["volume": 1], name: "policy")]) { store in
            try store.set(1, forKey: "other")
            expectError(.mandatory) { try store.set(0.4, forKey: "volume") }
            expectError(.mandatory) { try store.removeObject(forKey: "volume") }
            let error = #expect(throws: DefaultsError.self) { try store.set(0.4, forKey: "volume") }
            #expect(error?.description.contains("policy has it") == true)
            let defaults = Defaults(suite: store as any DefaultsStore)
            expectReport(.mandatory) { defaults[.volume] = 0.3 }
            expectReport(.mandatory) { defaults[.volume] += 0.3 }
            expectReport(.mandatory) { defaults["volume"] = "x" }
            expectReport(.mandatory) { defaults.reset(.volume) }
            expectError(.mandatory) { try defaults.save(0.3, for: .volume) }
            expectError(.mandatory) { try defaults.update(.volume) { $0 = 0.3 } }
            #expect(store.ownValue(forKey: "volume") == nil && store.double(forKey: "volume") == 1)
            if kind != .own {
                expectError(.mandatory) {
                    try store.transaction {
                        try store.setStoredValue(2, forKey: "other")
                        try store.setStoredValue(2, forKey: "volume")
                    }
                }
                #expect(store.ownValue(forKey: "other") == 1)
            }
        }
    }

    @Test("keep what was stored for a mandatory key when all is removed, and remove the rest")
    func removeAll() throws {
        for kind in LayeredStoreKind.allCases {
            let policy = ChangingSource([:])
            try kind.withStore(mandatory: [policy]) { store in
                for key in ["a", "b", "c"] { try store.set(1, forKey: key) }
                policy.change(to: ["b": 2])
                expectError(.mandatory) { try store.removeAll() }
                #expect(store.storedKeys() == ["b"])
            }
        }
    }

    @Test("make all of a store mandatory while a mandatory source can't be used", arguments: LayeredStoreKind.allCases)
    func unusableMandatory(kind: LayeredStoreKind) throws {
        let policy = ChangingSource(["volume": 1])
        try kind.withStore(mandatory: [policy]) { store in
            try store.set(3, forKey: "other")
            #expect(store.double(forKey: "volume") == 1)
            expectEvents([.sourceUnusable]) { policy.change(to: nil) }
            // Reads give what they would give without it.
            #expect(store.double(forKey: "volume") == 0 && store.integer(forKey: "other") == 3)
            expectError(.mandatory) { try store.set(4, forKey: "other") }
            expectError(.mandatory) { try Deck(size: 4).save(to: store) }
            expectError(.mandatory) { try store.removeAll() }
            #expect(store.integer(forKey: "other") == 3)
            expectEvents([.sourceRestored]) { policy.change(to: ["volume": 2]) }
            try store.set(4, forKey: "other")
            #expect(store.double(forKey: "volume") == 2)
        }
        // In a new process as in one that had read it before.
        let broken = ChangingSource(nil)
        try expectEvents([.sourceUnusable]) {
            try kind.withStore(mandatory: [broken]) { store in
                expectError(.mandatory) { try store.set(4, forKey: "other") }
                #expect(store.object(forKey: "volume") == nil)
            }
        }
    }

    @Test("keep the last good values of a fallback that can't be used", arguments: LayeredStoreKind.allCases)
    func unusableFallback(kind: LayeredStoreKind) throws {
        let vendor = ChangingSource(["volume": 0.5])
        try kind.withStore(fallbacks: [vendor]) { store in
            #expect(store.double(forKey: "volume") == 0.5)
            expectEvents([.sourceUnusable]) { vendor.change(to: nil) }
            expectEvents([]) { vendor.change(to: nil) }
            #expect(store.double(forKey: "volume") == 0.5)
            try store.set(1, forKey: "other")
            expectEvents([.sourceRestored]) { vendor.change(to: ["volume": 0.6]) }
            #expect(store.double(forKey: "volume") == 0.6)
        }
    }

    @Test("say nothing of keys that no store can have", arguments: LayeredStoreKind.allCases)
    func unusableKeys(kind: LayeredStoreKind) throws {
        let vendor = ValuesSource.values(["": 1, "Level\0": 2, "volume": 0.5], name: "vendor")
        let variables = EnvironmentSource(prefix: "APP_", in: ["APP_LEVEL_": "x"])
        try kind.withStore(fallbacks: [vendor, variables]) { store in
            for key in keysThatNoStoreTakes + ["Level\0"] { #expect(store.storedValue(forKey: key) == nil) }
            #expect(store.double(forKey: "volume") == 0.5)
        }
    }

    @Test("are observed: a source's change is a change of its keys", arguments: LayeredStoreKind.allCases)
    func observation(kind: LayeredStoreKind) throws {
        let vendor = ChangingSource(["volume": 0.5, "same": 1])
        try kind.withStore(fallbacks: [vendor]) { store in
            #expect(store.double(forKey: "volume") == 0.5)
            let seen = Locked<[Set<String>?]>([])
            let observation = store.observeChanges { keys in seen.withLock { $0.append(keys) } }
            let second = store.observeChanges { _ in }
            vendor.change(to: ["volume": 0.6, "same": 1, "new": 2])
            #expect(seen.withLock({ $0 }) == [["volume", "new"]])
            // While this thread has exclusive access it hears of nothing.
            try store.withExclusiveAccess {
                vendor.change(to: ["volume": 0.7, "same": 1, "new": 2])
                #expect(seen.withLock({ $0 }).count == 1)
            }
            #expect(seen.withLock({ $0 }) == [["volume", "new"], ["volume"]])
            // No rollback takes it back.
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                try store.transaction {
                    vendor.change(to: ["volume": 0.7, "same": 1, "new": 3])
                    throw Stop()
                }
            }
            #expect(seen.withLock({ $0 }) == [["volume", "new"], ["volume"], ["new"]])
            observation.cancel()
            vendor.change(to: ["volume": 0.8])
            #expect(seen.withLock({ $0 }).count == 3)
            second.cancel()
        }
    }
}

import Foundation
import Testing

@testable import Default

private struct Palette: Codable, Equatable {
    var name = "default"
    var colors = ["red"]
    var isShared = false
}

private struct Page: DefaultProviding, Equatable {
    var url: String
    var tags: [String] = []
    static var defaultValue: Page? { Page(url: "blank") }
}

/// A type with an object that readers share if they share the value.
private struct Case: DefaultStorable {
    final class Label: Codable {
        var text = "l"
    }

    var label = Label()
    var width = 1
    static var defaultValue: Case? { Case() }
}

extension Defaults.Keys {
    fileprivate static let palette = Defaults.Key<Palette>("palette", default: Palette())
    fileprivate static let pages = Defaults.Key<[Page]>("pages")
    fileprivate static let home = Defaults.Key<Page?>("home")
}

@Suite("A typed key", .ownCache)
struct KeyCompletionTests {
    private let lacking = Data(#"{"name":"x","colors":["blue"]}"#.utf8)
    private let unusable = Data(#"{"name":7,"colors":["blue"],"isShared":true}"#.utf8)

    @Test("fills values in from its default, reports that, and changes nothing", arguments: StoreKind.allCases)
    func reading(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            // The bytes differ for each store, since facts about bytes are remembered for all stores.
            let lacking = Data(#"{"name":"x","colors":["\#(kind)"]}"#.utf8)
            try store.set(lacking, forKey: "palette")
            let collector = EventCollector()
            try collector.collect {
                for _ in 0..<5 {
                    #expect(defaults[.palette] == Palette(name: "x", colors: ["\(kind)"]))
                    let loaded = try defaults.load(.palette)
                    #expect(loaded == Palette(name: "x", colors: ["\(kind)"]))
                }
            }
            #expect(collector.events.map(\.kind) == [.filledIn])
            #expect(collector.events.first?.severity == .info)
            #expect(collector.events.first?.report?.filledIn == ["isShared"])
            #expect(store.data(forKey: "palette") == lacking)
            defaults[.palette].name = "y"
            #expect(defaults[.palette] == Palette(name: "y", colors: ["\(kind)"]))
            #expect(try defaults.quarantined(.palette).isEmpty)
        }
    }

    @Test("quarantines what it can't use, whichever way it is replaced", arguments: StoreKind.allCases)
    func writing(kind: StoreKind) throws {
        let replacements: [(Defaults) throws -> Void] = [
            { $0[.palette] = Palette() }, { $0[.palette].name = "y" }, { try $0.save(Palette(), for: .palette) },
            { try $0.update(.palette) { $0.name = "y" } },
        ]
        for reads in [0, 5] {
            for replace in replacements {
                try kind.withStore { store in
                    let defaults = Defaults(suite: store)
                    try store.set(unusable, forKey: "palette")
                    try EventCollector().collect {
                        for _ in 0..<reads {
                            #expect(defaults[.palette] == Palette(colors: ["blue"], isShared: true))
                        }
                        try replace(defaults)
                    }
                    #expect(try defaults.quarantined(.palette).map(\.data) == [unusable])
                }
            }
        }
    }

    @Test("fills in elements and optional values from their type's default", arguments: StoreKind.allCases)
    func elements(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            // The bytes differ for each store, since facts about bytes are remembered for all stores.
            try store.set(Data(#"[{"url":"a"},7,{"url":"b","tags":["\#(kind)"]}]"#.utf8), forKey: "pages")
            try store.set(Data(#"{"url":"h","kind":"\#(kind)"}"#.utf8), forKey: "home")
            let collector = EventCollector()
            collector.collect {
                #expect(defaults[.pages] == [Page(url: "a"), Page(url: "b", tags: ["\(kind)"])])
                #expect(defaults[.home] == Page(url: "h"))
                defaults[.pages].append(Page(url: "c"))
            }
            #expect(collector.events.map { $0.report?.unusable.map(\.path) } == [["[1]"], [], nil])
            #expect(defaults[.pages].map(\.url) == ["a", "b", "c"])
            #expect(try defaults.quarantined(.pages).count == 1)
        }
    }

    @Test("does the same in a container", arguments: StoreKind.allCases)
    func containers(kind: StoreKind) throws {
        try kind.withStore { store in
            let container = KeyValueContainer(storage: store, key: "palette", defaultValue: Palette())
            try store.set(lacking, forKey: "palette")
            try EventCollector().collect {
                #expect(container.value == Palette(name: "x", colors: ["blue"]))
                #expect(container.exists)
                container.value?.name = "y"
                #expect(container.value == Palette(name: "y", colors: ["blue"]))
                try container.update { $0?.isShared = true }
                #expect(container.value == Palette(name: "y", colors: ["blue"], isShared: true))
                #expect(store.object(forKey: "palette.quarantine") == nil)
                try store.set(unusable, forKey: "palette")
                container.value = Palette()
                #expect(store.object(forKey: "palette.quarantine") != nil)
            }
        }
    }

    @Test(
        "fills in a value with an object for each read separately, as its container and a settings type do",
        arguments: [#"{"label":{"text":"l"}}"#, #"{"width":1}"#, #"{"label":7,"width":1}"#]
    )
    func objects(json: String) throws {
        let store = MemoryDefaults()
        let key = Defaults.Key<Case>("key", default: Case())
        let optional = Defaults.Key<Case?>("optional")
        let container = KeyValueContainer(storage: store, key: "container", defaultValue: Case())
        for name in ["key", "optional", "container", "Case"] {
            try store.set(Data(json.utf8), forKey: name)
        }
        let reads: [() throws -> Case?] = [
            { Defaults(suite: store)[key] }, { Defaults(suite: store)[optional] },
            { try Defaults(suite: store).load(key) }, { container.value }, { Case.read(from: store) },
            { try Case.load(from: store) },
        ]
        try EventCollector().collect {
            for (number, read) in reads.enumerated() {
                for _ in 0..<5 {
                    let label = try #require(try read()).label
                    #expect(label.text == "l", "read \(number)")
                    label.text = "changed"
                }
            }
        }
    }

    @Test(
        "with a default fills in what one without, of the same name and type, can't read",
        arguments: StoreKind.allCases
    )
    func keyWithoutDefault(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let without = Defaults.Key<Palette?>("palette")
            let with = Defaults.Key<Palette?>("palette", default: Palette())
            try store.set(lacking, forKey: "palette")
            for _ in 0..<3 { expectError(.undecodable) { try defaults.load(without) } }
            let value = try EventCollector().collect { try defaults.load(with) }
            #expect(value == Palette(name: "x", colors: ["blue"]))
        }
    }

    @Test("stores a quarantined value again that it can fill in from its default", arguments: StoreKind.allCases)
    func restoringFilledIn(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let number = Defaults.Key<Int>("palette", default: 1)
            try EventCollector().collect {
                try store.set(lacking, forKey: "palette")
                defaults[number] = 2
                expectError(.undecodable) { try defaults.restoreQuarantined(Defaults.Key<Palette?>("palette")) }
                #expect(try defaults.restoreQuarantined(.palette)?.data == lacking)
                #expect(defaults[.palette] == Palette(name: "x", colors: ["blue"]))
                #expect(try defaults.quarantined(.palette).map(\.value) == [.integer(2)])
            }
        }
    }

    @Test("stores a quarantined value again that it can read now", arguments: StoreKind.allCases)
    func restoring(kind: StoreKind) throws {
        struct Lenient: Codable { var name: Int }
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let number = Defaults.Key<Lenient?>("palette")
            try EventCollector().collect {
                #expect(try defaults.restoreQuarantined(.palette) == nil)
                try store.set(unusable, forKey: "palette")
                defaults[.palette] = Palette(name: "y")
                let replaced = store.data(forKey: "palette")
                // The value still lacks a part for this type, so it is used in part, and exchanged again.
                #expect(try defaults.restoreQuarantined(.palette)?.data == unusable)
                #expect(defaults[.palette].colors == ["blue"])
                #expect(try defaults.restoreQuarantined(.palette)?.data == replaced)
                #expect(store.data(forKey: "palette") == replaced)
                let kept = try defaults.quarantined(number)
                let restored = try defaults.restoreQuarantined(number)
                #expect(kept.count == 1 && restored == kept.first)
                #expect(restored?.data == unusable && restored?.typeName == "Palette")
                #expect(store.data(forKey: "palette") == unusable)
                #expect(try defaults.quarantined(number).map(\.data) == [replaced])
                // A key for any value accepts each of them.
                #expect(try defaults.restoreQuarantined(Defaults.Key<PropertyListValue?>("palette"))?.data == replaced)
                expectError(.invalidKey) { try defaults.restoreQuarantined(Defaults.Key<Int?>("")) }
                defaults.reset(.palette)
                #expect(try defaults.restoreQuarantined(number)?.data == unusable)
                #expect(store.storedKeys() == ["palette"])
            }
        }
    }

    @Test("does not read what can't be used at all")
    func hopeless() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        for text in ["{", "7", "[]"] {
            try store.set(Data(text.utf8), forKey: "palette")
            expectError(.undecodable) { try defaults.load(.palette) }
        }
    }
}

@testable import Default
import DefaultJournal
import Foundation
import Testing

/// A type with a property for each form that a value can have.
private struct Forms: DefaultStorable, Equatable {
    var large: UInt64 = 0
    var ratio = 0.5
    var icon = Data()
    var date = Date(timeIntervalSinceReferenceDate: 0)
    var names: [String] = []
    var look = Look()
    static let defaultValue: Forms? = Forms()
    static let defaultIdentifier = "Forms"

    struct Look: Codable, Equatable {
        var tint = "red"
        var width: Int?
        var sizes = ["a": 1, "b": 2]
    }
}

/// The same, in a property list.
private struct ListedForms: DefaultStorable, Equatable {
    var size = 1
    var isOn = true
    var name = "x"
    static let defaultValue: ListedForms? = ListedForms()
    static let defaultIdentifier = "ListedForms"
    static let defaultCoder = DefaultsCoder.propertyList
}

/// A type without a default value.
private struct Strict: DefaultStorable, Equatable {
    var name: String
    var count: Int
    static let defaultIdentifier = "Strict"
}

/// A type whose form isn't an object.
private enum Grade: Int, DefaultStorable {
    case low = 1
    case high = 2
    static let defaultValue: Grade? = .low
    static let defaultIdentifier = "Grade"
}

/// The earlier release of ``Current``.
private struct Former: Codable, DefaultProviding {
    var size = "1"
    static let defaultValue: Former? = Former()
}

private struct Current: DefaultStorable, DefaultMigratable, Equatable {
    var width = 1
    static let schemaVersion = 2
    static let defaultValue: Current? = Current()
    static let defaultIdentifier = "Current"

    init(width: Int = 1) { self.width = width }
    init(migrating previous: Former) throws { self.init(width: Int(previous.size) ?? 1) }
}

@Suite("The forms of values in sources of settings types")
struct LayeredFormTests {
    private func source(_ value: PropertyListValue, of type: String) -> ValuesSource {
        .values([type: value], name: "source")
    }

    private func environment(_ variables: [String: String]) -> EnvironmentSource {
        EnvironmentSource(prefix: "APP_", in: variables)
    }

    @Test("are those of the type's coder, for each kind of value", arguments: LayeredStoreKind.allCases)
    func kinds(kind: LayeredStoreKind) throws {
        let date = Date(timeIntervalSinceReferenceDate: 1_000)
        let fields: PropertyListValue = .dictionary([
            "large": .unsigned(.max), "ratio": .real(0.25), "icon": .data(Data([1, 2])), "date": .date(date),
            "names": ["a", "b"], "look": ["tint": "blue"],
        ])
        var expected = Forms(large: .max, ratio: 0.25, icon: Data([1, 2]), date: date, names: ["a", "b"])
        try kind.withStore(fallbacks: [source(fields, of: "Forms")]) { store in
            // A nested property is one value; what it lacks is filled in.
            expected.look.tint = "blue"
            expectEvents([]) { #expect(Forms.read(from: store) == expected) }
        }
    }

    @Test("may be the bytes that the type stores, or their text", arguments: LayeredStoreKind.allCases)
    func bytes(kind: LayeredStoreKind) throws {
        let expected = Forms(ratio: 0.25, names: ["c"])
        let json = try JSONEncoder().encode(expected)
        let text = String(decoding: json, as: UTF8.self)
        for value in [PropertyListValue.data(json), .string(text)] {
            try kind.withStore(fallbacks: [source(value, of: "Forms")]) { store in
                #expect(Forms.read(from: store) == expected)
                #expect(Forms.origin(ofProperty: "ratio", in: store)?.kind == .fallback)
            }
        }
        let list = try PropertyListEncoder().encode(ListedForms(size: 5))
        for value in [PropertyListValue.data(list), #"{"size": 5}"#] {
            try kind.withStore(fallbacks: [source(value, of: "ListedForms")]) { store in
                #expect(ListedForms.read(from: store) == ListedForms(size: 5))
            }
        }
        // Those of the other coder can't be used, and are reported.
        try kind.withStore(fallbacks: [source(.data(json), of: "ListedForms")]) { store in
            expectEvents([.sourceUnusable]) { #expect(ListedForms.read(from: store) == ListedForms()) }
        }
    }

    @Test("of variables are what the property wants", arguments: LayeredStoreKind.allCases)
    func variables(kind: LayeredStoreKind) throws {
        let player = environment(["APP_PLAYER_TAGS": "(x, y)", "APP_PLAYER_IS_MUTED": "on", "APP_PLAYER_SIZE": "1"])
        try kind.withStore(overrides: [player]) { store in
            #expect(Deck.read(from: store) == Deck(isMuted: true, tags: ["x", "y"]))
        }
        for (text, isOn) in [("no", false), ("OFF", false), ("0", false), ("false", false), ("1", true), ("Yes", true)]
        {
            let variables = [
                "APP_LISTED_FORMS_IS_ON": text, "APP_LISTED_FORMS_SIZE": "3", "APP_LISTED_FORMS_NAME": "3",
            ]
            try kind.withStore(overrides: [environment(variables)]) { store in
                #expect(ListedForms.read(from: store) == ListedForms(size: 3, isOn: isOn, name: "3"), "\(text)")
            }
        }
        try kind.withStore(overrides: [environment(["APP_GRADE": "2"])]) { store in
            #expect(Grade.read(from: store) == .high)
        }
    }

    @Test("of variables are what the property wants in any source", arguments: LayeredStoreKind.allCases)
    func placesOfVariables(kind: LayeredStoreKind) throws {
        let source = environment([
            "APP_LISTED_FORMS_SIZE": "3", "APP_LISTED_FORMS_IS_ON": "no", "APP_GRADE": "2",
            "APP_STRICT": "{name = x; count = 3;}",
        ])
        func check(_ store: some DefaultsStore) {
            #expect(ListedForms.read(from: store) == ListedForms(size: 3, isOn: false))
            #expect(Grade.read(from: store) == .high)
            #expect(Strict.read(from: store) == Strict(name: "x", count: 3))
        }
        try kind.withStore(mandatory: [source]) { check($0) }
        try kind.withStore(fallbacks: [source]) { check($0) }
    }

    @Test("of variables are tried as numbers for a type without a default value", arguments: LayeredStoreKind.allCases)
    func withoutDefault(kind: LayeredStoreKind) throws {
        try kind.withStore(overrides: [environment(["APP_STRICT": "{name = x; count = 3;}"])]) { store in
            #expect(Strict.read(from: store) == Strict(name: "x", count: 3))
        }
        try kind.withStore(overrides: [environment(["APP_STRICT": "{name = x;}"])]) { store in
            #expect(Strict.read(from: store) == nil)
        }
    }

    @Test("are registered ones too, below all sources", arguments: [LayeredStoreKind.memory, .file])
    func registered(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [source(["theme": "vendor"], of: "Player")]) { store in
            try store.register(defaults: ["Player": ["theme": "registered", "size": 2, "avatar": "a"]])
            var expected = Deck(theme: "vendor", size: 2)
            expected.avatar = "a"
            #expect(Deck.read(from: store) == expected)
            #expect(Deck.origins(ofProperty: "theme", in: store).map(\.kind) == [.fallback, .registered])
            #expect(Deck.origin(ofProperty: "size", in: store)?.kind == .registered)
            // What is registered stays so, and nil is stored over it.
            try Deck.update(in: store) { $0.avatar = nil }
            expected.avatar = nil
            #expect(Deck.read(from: store) == expected)
        }
    }

    @Test("that are nested are the same in any order, and with null or without", arguments: LayeredStoreKind.allCases)
    func nestedOrder(kind: LayeredStoreKind) throws {
        let look: PropertyListValue = #"{"look":{"width":null,"sizes":{"b":2,"a":1},"tint":"red"}}"#
        try kind.withStore(fallbacks: [source(look, of: "Forms")]) { store in
            let forms = try #require(Forms.read(from: store))
            #expect(forms == Forms())
            try forms.save(to: store)
            #expect(store.ownValue(forKey: "Forms") == nil)
            try Forms.update(in: store) { $0.look.width = 4 }
            #expect(Forms.read(from: store) == Forms(look: .init(width: 4)))
            #expect(Forms.origin(ofProperty: "look", in: store)?.kind == .stored)
        }
    }

    @Test("are stored with a type that has no default value", arguments: LayeredStoreKind.allCases)
    func storedWhole(kind: LayeredStoreKind) throws {
        let mandatory = source(["count": 7], of: "Strict")
        let override = source(["name": "a"], of: "Strict")
        try kind.withStore(mandatory: [mandatory], overrides: [override]) { store in
            try Strict(name: "a", count: 7).save(to: store)
            #expect(store.ownValue(forKey: "Strict") == .data(Data(#"{"count":7,"name":"a"}"#.utf8)))
        }
    }

    @Test("are used beside one that can't be", arguments: LayeredStoreKind.allCases)
    func besideUnusable(kind: LayeredStoreKind) throws {
        let good = source(["size": 4], of: "ListedForms")
        let bad = source(["name": 3, "isOn": false], of: "ListedForms")
        try kind.withStore(overrides: [good], fallbacks: [bad]) { store in
            expectEvents([.sourceUnusable]) {
                #expect(ListedForms.read(from: store) == ListedForms(size: 4, isOn: false))
            }
        }
    }

    @Test("of a release may have its version as text", arguments: LayeredStoreKind.allCases)
    func versions(kind: LayeredStoreKind) throws {
        let old: [String: PropertyListValue] = ["Current": ["size": "5"], "Current.schemaVersion": "1"]
        try kind.withStore(fallbacks: [.values(old, name: "old")]) { store in
            #expect(Current.read(from: store) == Current(width: 5))
        }
        let newer: [String: PropertyListValue] = ["Current": ["width": 6, "new": true], "Current.schemaVersion": "3"]
        try kind.withStore(fallbacks: [.values(newer, name: "newer")]) { store in
            #expect(Current.read(from: store) == Current(width: 6))
        }
    }
}

import Default
import Foundation
import Testing

private struct Renamed: DefaultStorable, Equatable {
    struct Window: Codable, Equatable {
        var width: Int?
        var height = 1
    }
    var color: String?
    var window = Window()
    var größe: Int?

    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Renamed? { Renamed() }
    static var previousIdentifiers: [String] { ["Second", "First"] }
    static var renamedProperties: [String: String] {
        [
            "colour": "color", "w": "window.width", "window.w": "window.width", "mass": "größe", "maß": "größe",
            "": "color", "color": "", "height": "window.height.value",
        ]
    }
}

@Suite("Renaming")
struct RenamingTests {
    @Test(
        "a type finds values under its previous identifiers, in order",
        arguments: StoreKind.allCases
    )
    func identifiers(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let keys = ["Renamed.Type", "First", "Second", "Renamed"]
            for (index, key) in keys.enumerated() {
                try store.set(Data(#"{"color":"\#(index)","window":{"height":1}}"#.utf8), forKey: key)
                #expect(Renamed.read()?.color == "\(index)")
            }
            #expect(Renamed.read(forKey: "other") == Renamed())
            try store.removeObject(forKey: "Renamed")
            // The value is written under the new key once, and kept under the old one.
            #expect(try Renamed.migrate())
            #expect(try !Renamed.migrate())
            try Renamed.update { $0.color? += "!" }
            #expect(store.data(forKey: "Second") == Data(#"{"color":"2","window":{"height":1}}"#.utf8))
            #expect(try Renamed.load()?.color == "2!")

            Renamed.clear()
            #expect(try Renamed.load() == nil)
            for key in keys {
                #expect(store.object(forKey: key) == nil)
            }
        }
    }

    @Test("an identifier keeps the version", arguments: StoreKind.allCases)
    func versions(kind: StoreKind) throws {
        struct Old: DefaultStorable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var schemaVersion: Int { 1 }
        }
        struct New: DefaultMigratable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var schemaVersion: Int { 2 }
            static var previousIdentifiers: [String] { ["Old"] }
            init(migrating previous: Old) { size = previous.size * 10 }
        }
        try kind.withCurrentStore { store in
            try Old(size: 3).save()
            #expect(try New.load()?.size == 30)
            try New.migrate()
            #expect(try New.load()?.size == 30)
            try New.remove()
            #expect(store.object(forKey: "Old.schemaVersion") == nil)
            #expect(store.object(forKey: "New.schemaVersion") == nil)
        }
    }

    @Test("properties finds their values, nested or not, optional or not", arguments: StoreKind.allCases)
    func properties(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let cases: [(String, Renamed)] = [
                (#"{"colour":"red","window":{"height":2}}"#, Renamed(color: "red", window: .init(height: 2))),
                (
                    #"{"colour":"red","color":"blue","window":{"height":2}}"#,
                    Renamed(color: "blue", window: .init(height: 2))
                ),
                (#"{"window":{"height":2,"w":5}}"#, Renamed(window: .init(width: 5, height: 2))),
                (#"{"w":4,"window":{"height":2}}"#, Renamed(window: .init(width: 4, height: 2))),
                (#"{"w":4}"#, Renamed(window: .init(width: 4, height: 1))),
                (#"{"maß":6,"window":{"height":2}}"#, Renamed(window: .init(height: 2), größe: 6)),
            ]
            for (json, expected) in cases {
                try store.set(Data(json.utf8), forKey: "Renamed")
                let (value, report) = try #require(try Renamed.loadWithReport())
                #expect(value == expected, "\(json)")
                #expect(report.filledIn == (json == #"{"w":4}"# ? ["window.height"] : []))
                #expect(report.unusable.isEmpty)
                #expect(store.data(forKey: "Renamed") == Data(json.utf8))
                try Renamed.update { _ in }
                #expect(try Renamed.loadWithReport()?.report.isEmpty == true)
                #expect(try Renamed.load() == expected)
            }
            // Another value blocks the new path, so the property keeps its old name.
            try store.set(Data(#"{"height":3,"window":{"height":2}}"#.utf8), forKey: "Renamed")
            #expect(try Renamed.load() == Renamed(window: .init(height: 2)))
            #expect(try Renamed.quarantined().isEmpty)
        }
    }

    @Test("properties works in property lists")
    func propertyLists() throws {
        struct Old: Codable { var colour = "red" }
        struct New: DefaultStorable {
            var color: String?
            static let defaults = MemoryDefaults()
            static var defaultCoder: DefaultsCoder { .propertyList }
            static var renamedProperties: [String: String] { ["colour": "color"] }
        }
        try New.defaults.df.save(Old(), forKey: "New", encoder: DefaultsCoder.propertyList)
        #expect(try New.load()?.color == "red")
    }
}

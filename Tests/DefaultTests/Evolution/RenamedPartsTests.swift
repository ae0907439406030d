import Default
import Foundation
import Testing

/// A type with names for its properties, one of which may be nil, so that old bytes can be decoded without them.
private struct Tag: DefaultProviding, Equatable {
    var label: String?
    var level = 0
    static let defaultValue = Tag()
    static var renamedProperties: [String: String] { ["text": "label", "rank": "level"] }
}

private struct Note: DefaultStorable, Equatable {
    struct Cover: Codable, Equatable {
        var tag: Tag?
        var title = ""
    }
    var tag: Tag?
    var deep: Tag??
    var cover = Cover()
    var tags: [Tag?] = []
    var others: [Tag]?
    var byName: [String: Tag?] = [:]
    var kind: String?
    static let defaultValue = Note()
    static var renamedProperties: [String: String] { ["type": "kind"] }
}

/// Objects that refer to each other in a circle, and store their names only.
private final class Node: Codable, @unchecked Sendable, Equatable {
    // Nobody changes it once the circle is made.
    let name: String
    private var next: Node?
    private enum CodingKeys: CodingKey { case name }

    init(name: String) { self.name = name }

    static func circle() -> Node {
        let (one, other) = (Node(name: "one"), Node(name: "other"))
        one.next = other
        other.next = one
        return one
    }
    static func == (one: Node, other: Node) -> Bool { one.name == other.name }
}

private struct Ring: DefaultStorable, Equatable {
    var start = Node.circle()
    var tag = Tag()
    static let defaultValue = Ring()
}

/// A type without a default value of its own.
private struct Sheet: Codable, Equatable {
    var tag = Tag()
    var title = ""
}

@Suite("A type's renames, wherever it is stored", .ownCache)
struct RenamedPartsTests {
    private let store = MemoryDefaults()
    private var defaults: Defaults { Defaults(suite: store) }

    private func set(_ json: String, _ key: String) throws { try store.set(Data(json.utf8), forKey: key) }
    private func stored(_ key: String) -> String {
        store.data(forKey: key).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Nested types

    @Test(
        "apply in optional parts, whose bytes can be decoded without them",
        arguments: [
            (#"{"tag":{"text":"a","level":1}}"#, Note(tag: Tag(label: "a", level: 1))),
            (#"{"deep":{"text":"a","rank":1}}"#, Note(deep: Tag(label: "a", level: 1))),
            (
                #"{"cover":{"title":"t","tag":{"text":"a","level":1}}}"#,
                Note(cover: .init(tag: Tag(label: "a", level: 1), title: "t"))
            ),
            (#"{"tags":[null,{"text":"a","level":1}]}"#, Note(tags: [nil, Tag(label: "a", level: 1)])),
            (#"{"others":[{"text":"a","level":1}]}"#, Note(others: [Tag(label: "a", level: 1)])),
            (#"{"byName":{"x":{"text":"a","level":1}}}"#, Note(byName: ["x": Tag(label: "a", level: 1)])),
        ]
    )
    private func optionals(json: String, expected: Note) throws {
        // All else is as the default has it, so that nothing has to be filled in.
        let whole = try DefaultsCoder.json.encode(Note())
        let fields = try #require(JSONSerialization.jsonObject(with: whole) as? [String: Any])
        let own = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let old = try JSONSerialization.data(withJSONObject: fields.merging(own) { $1 })
        try store.set(old, forKey: "Note")
        let (value, report) = try #require(try Note.loadWithReport(from: store))
        #expect(value == expected)
        #expect(report.isEmpty)
        #expect(Note.read(from: store) == expected)
        #expect(store.data(forKey: "Note") == old)
        // The next write stores the new names, and has lost nothing.
        #expect(try Note.migrate(in: store))
        #expect(!stored("Note").contains("text"))
        #expect(try Note.load(from: store) == expected)
        #expect(try Note.quarantined(in: store).isEmpty)
    }

    @Test("are used once: a value under an old name beside the new one is reported and quarantined")
    func bothNames() throws {
        try set(#"{"cover":{"title":""},"tags":[],"byName":{},"tag":{"text":"old","label":"new","level":1}}"#, "Note")
        let (value, report) = try #require(try Note.loadWithReport(from: store))
        #expect(value.tag == Tag(label: "new", level: 1))
        #expect(report.unusable.map(\.path) == ["tag.text"])
        try EventCollector().collect { try Note.update(in: store) { _ in } }
        #expect(try Note.quarantined(in: store).count == 1)
        #expect(try Note.loadWithReport(from: store)?.report.isEmpty == true)
    }

    @Test("are found in a default value whose objects refer to each other in a circle")
    func circle() throws {
        try set(#"{"start":{"name":"a"},"tag":{"text":"b","level":1}}"#, Ring.defaultIdentifier)
        let ring = try #require(try Ring.load(from: store))
        #expect(ring.start.name == "a" && ring.tag == Tag(label: "b", level: 1))
    }

    // MARK: Typed keys and containers

    @Test("apply under typed keys, to the value and in its parts", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let defaults = Defaults(suite: store)
            func check<Value: Codable & Equatable & Sendable>(
                _ json: String,
                _ key: Defaults.Key<Value>,
                _ expected: Value
            ) throws {
                try store.set(Data(json.utf8), forKey: key.storedName)
                let collector = EventCollector()
                try collector.collect {
                    for _ in 0..<3 { #expect(defaults[key] == expected, "\(json)") }
                    // A write of what was read stores the new names only.
                    defaults[key] = expected
                    let text = store.data(forKey: key.storedName).map { String(decoding: $0, as: UTF8.self) }
                    #expect(text?.contains("text") == false && text?.contains("rank") == false)
                    for _ in 0..<3 { #expect(defaults[key] == expected) }
                    try #expect(defaults.quarantined(key).isEmpty)
                }
                #expect(collector.events.isEmpty, "\(json)")
            }
            try check(#"{"text":"a","level":1}"#, .init("optional", default: Tag()), Tag(label: "a", level: 1))
            try check(#"{"text":"a","rank":1}"#, .init("required", default: Tag()), Tag(label: "a", level: 1))
            try check(#"{"text":"a","rank":1}"#, .init("nil", default: nil as Tag?), Tag(label: "a", level: 1))
            try check(#"[{"text":"a","level":1}]"#, .init("list", default: [Tag]()), [Tag(label: "a", level: 1)])
            try check(
                #"{"x":{"text":"a","rank":1}}"#,
                .init("entries", default: [String: Tag]()),
                ["x": Tag(label: "a", level: 1)]
            )
            let note = Note(tag: Tag(label: "a", level: 1), kind: "b")
            try check(
                #"{"tag":{"text":"a","level":1},"type":"b","cover":{"title":""},"tags":[],"byName":{}}"#,
                .init("note", default: Note()),
                note
            )
            try check(
                #"{"tag":{"text":"a","level":1},"title":"t"}"#,
                .init("sheet", default: Sheet()),
                Sheet(tag: Tag(label: "a", level: 1), title: "t")
            )
        }
    }

    @Test("keep what the type doesn't know, and count an old name beside the new one as unusable, under typed keys")
    func keysKeep() throws {
        let key = Defaults.Key<Tag>("tag", default: Tag())
        try set(#"{"text":"a","level":1,"newer":2}"#, "tag")
        defaults[key].level = 3
        #expect(stored("tag") == #"{"label":"a","level":3,"newer":2}"#)
        try #expect(defaults.quarantined(key).isEmpty)

        let both = #"{"label":"new","level":1,"text":"old"}"#
        try set(both, "tag")
        let collector = EventCollector()
        try collector.collect {
            #expect(defaults[key] == Tag(label: "new", level: 1))
            defaults[key].level = 2
            #expect(stored("tag") == #"{"label":"new","level":2}"#)
            try #expect(defaults.quarantined(key).map(\.data) == [Data(both.utf8)])
        }
        #expect(collector.events.map(\.kind) == [.filledIn, .quarantined])
    }

    @Test("are filled in too, under typed keys")
    func keysFilledIn() throws {
        let key = Defaults.Key<[Tag]>("tags", default: [])
        try set(#"[{"text":"a"},{"rank":2}]"#, "tags")
        let collector = EventCollector()
        collector.collect { #expect(defaults[key] == [Tag(label: "a"), Tag(level: 2)]) }
        #expect(collector.events.first?.report?.filledIn == ["[0].level"])
    }

    @Test("apply to bytes that another release stores while the key is observed and cached")
    func keysCached() throws {
        let key = Defaults.Key<Tag>("tag", default: Tag())
        for index in 0..<4 {
            try set(#"{"text":"\#(index)","level":1}"#, "tag")
            for _ in 0..<3 { #expect(defaults[key].label == "\(index)") }
            try set(#"{"label":"n\#(index)","level":1}"#, "tag")
            for _ in 0..<3 { #expect(defaults[key].label == "n\(index)") }
        }
    }

    @Test("apply to a value that is restored under a typed key")
    func restored() throws {
        let key = Defaults.Key<Tag>("tag", default: Tag())
        try set(#"{"label":"new","level":1,"text":"old"}"#, "tag")
        try EventCollector().collect {
            defaults[key] = Tag(label: "x", level: 2)
            try #expect(defaults.restoreQuarantined(key) != nil)
            #expect(defaults[key] == Tag(label: "new", level: 1))
        }
    }

    @Test("apply in containers")
    func containers() throws {
        let container = KeyValueContainer(storage: store, key: "tag", defaultValue: Tag())
        try set(#"{"text":"a","level":1,"newer":2}"#, "tag")
        #expect(container.value == Tag(label: "a", level: 1))
        container.value?.level = 2
        #expect(stored("tag") == #"{"label":"a","level":2,"newer":2}"#)
    }
}

import Default
import Foundation
import SettingsValues
import Testing

@testable import SettingsPage

/// A suite in memory.
struct MemorySuite: PageSuite {
    let memory = MemoryDefaults()
    var declaredValues: [String: PropertyListValue] = [:]

    var store: any DefaultsStore & Sendable { memory }

    func writableStore() -> any DefaultsStore & Sendable { memory }
}

struct EditTests {
    private let suite = MemorySuite()
    private var editor: Editor { Editor(suite, hiding: KeyPatterns(patterns: ["token"])) }

    private func version(_ key: String) -> String? { suite.memory.storedValue(forKey: key)?.version }

    private func set(_ key: String, _ text: String, _ form: ValueForm = .string, expected: String? = nil) -> Edit {
        Edit(key: key, action: .set, value: EditedValue(form: form, text: text), expected: expected)
    }

    @Test("Several edits are stored together, each with its type")
    func together() throws {
        try suite.memory.set("red", forKey: "color")
        let result = editor.apply([
            set("color", "blue", expected: version("color")), set("count", "5", .integer), set("share", "1", .real),
        ])
        #expect(result.outcome == .stored)
        #expect(suite.memory.storedValue(forKey: "color") == .string("blue"))
        #expect(suite.memory.storedValue(forKey: "count") == .integer(5))
        #expect(suite.memory.storedValue(forKey: "share") == .real(1))
        // With which an edit that was made meanwhile goes on.
        #expect(result.versions.map(\.key) == ["color", "count", "share"])
        #expect(editor.apply([set("color", "green", expected: result.versions[0].version)]).outcome == .stored)
    }

    @Test(
        "A value that another program has changed, stored or removed since is not overwritten, and nothing else is stored"
    )
    func conflict() throws {
        try suite.memory.set("red", forKey: "color")
        let shown = version("color")
        for meanwhile in [PropertyListValue.string("green"), nil] {
            try suite.memory.setStoredValue(meanwhile, forKey: "color")
            try suite.memory.set("taken", forKey: "new")
            let result = editor.apply([
                set("other", "1"), set("color", "blue", expected: shown), set("new", "mine"),
            ])
            #expect(result.outcome == .conflict)
            #expect(result.conflicts.map(\.key) == ["color", "new"])
            #expect(result.conflicts.map(\.current?.preview) == [meanwhile == nil ? nil : "green", "taken"])
            #expect(suite.memory.storedKeys().count == (meanwhile == nil ? 1 : 2))
            // The person has seen both now, and chooses.
            let chosen = set("color", "blue", expected: result.conflicts[0].version)
            #expect(editor.apply([chosen]).outcome == .stored)
            try suite.memory.set("red", forKey: "color")
        }
    }

    @Test("What can't be read, or isn't shown, stores nothing of all edits")
    func refusal() throws {
        try suite.memory.set("s3cret", forKey: "token")
        for bad in [
            set("count", "many", .integer), set("token", "guess", expected: version("token")), set("", "no key"),
        ] {
            let result = editor.apply([set("color", "blue"), bad])
            #expect(result.outcome == .refused && !result.message.isEmpty)
            #expect(suite.memory.storedKeys() == ["token"])
        }
    }

    @Test("A removed value comes back by undo, unless another one has taken its place")
    func undo() throws {
        try suite.memory.set(Data([1, 2]), forKey: "bytes")
        let editor = editor
        let removal = Edit(key: "bytes", action: .remove, value: nil, expected: version("bytes"))
        let result = editor.apply([removal])
        let undo = try #require(result.undo.first)
        #expect(suite.memory.storedKeys().isEmpty)
        try suite.memory.set("another", forKey: "bytes")
        #expect(editor.undo(undo.token).outcome == .conflict)
        try suite.memory.removeObject(forKey: "bytes")
        #expect(editor.undo(undo.token).outcome == .stored)
        #expect(suite.memory.data(forKey: "bytes") == Data([1, 2]))
        #expect(editor.undo(undo.token).outcome == .refused)
    }

    @Test("A quarantined value is shown with its reason, restored, and exchanged with the one that it replaces")
    func quarantine() throws {
        try suite.memory.set("{broken", forKey: "numbers")
        let key = Defaults.Key<Int>("numbers", default: 0)
        try Defaults(suite: suite.memory).save(5, for: key)
        let found = try #require(QuarantinedRow.all(in: suite.memory, hiding: KeyPatterns()).first)
        #expect(found.row.preview == "{broken" && found.typeName == "Int")
        let restoring = Edit(key: "numbers", action: .restore, value: nil, expected: found.version)
        #expect(editor.apply([restoring]).outcome == .stored)
        #expect(suite.memory.string(forKey: "numbers") == "{broken")
        // What was shown is not what is quarantined now.
        #expect(editor.apply([restoring]).outcome == .conflict)
        #expect(QuarantinedRow.all(in: suite.memory, hiding: KeyPatterns()).map(\.row.preview) == ["5"])
    }

    @Test("Changes are given with what was shown before, after the position that a page has")
    func events() async throws {
        try suite.memory.set("red", forKey: "color")
        let live = LiveSuite(suite, hiding: KeyPatterns(patterns: ["token"]))
        let begin = live.snapshot()
        #expect(begin.rows.map(\.key) == ["color"])
        var signals = live.signals().makeAsyncIterator()
        var missed: [(position: String, event: LiveSuite.Event)] = []
        for (number, (key, value)) in [("color", "blue"), ("token", "s3cret")].enumerated() {
            try suite.memory.set(value, forKey: key)
            // Now and then a signal comes without an event.
            while missed.count <= number, await signals.next() != nil {
                guard case .events(let events) = live.events(after: begin.position) else {
                    Issue.record("The events are not known.")
                    return
                }
                missed = events
            }
        }
        let changes = missed.flatMap(\.event.changes)
        #expect(changes.map(\.old?.preview) == ["red", nil])
        #expect(changes.map(\.new?.preview) == ["blue", "<hidden>"])
        guard case .events(let none) = live.events(after: try #require(missed.last).position) else {
            Issue.record("The position is not known.")
            return
        }
        #expect(none.isEmpty)
        for position in ["", "another-0", begin.position + "9"] {
            guard case .tooMuch = live.events(after: position) else {
                Issue.record("\(position) was understood.")
                return
            }
        }
    }

    @Test("Keys that differ in their bytes only are different keys")
    func equalStrings() throws {
        let live = LiveSuite(suite, hiding: KeyPatterns())
        try suite.memory.set("composed", forKey: "\u{E9}")
        try suite.memory.set("decomposed", forKey: "e\u{301}")
        #expect(live.snapshot().rows.map(\.preview).sorted() == ["composed", "decomposed"])
    }

    @Test("Values that programs use by default are shown as not stored, and can be")
    func declared() throws {
        var suite = MemorySuite()
        suite.declaredValues = ["checkout": .boolean(true)]
        let live = LiveSuite(suite, hiding: KeyPatterns())
        let row = try #require(live.snapshot().rows.first)
        #expect(row.key == "checkout" && row.preview == "true" && row.version == nil)
        #expect(live.editor.apply([set("checkout", "false", .boolean, expected: row.version)]).outcome == .stored)
        #expect(live.snapshot().rows.map(\.preview) == ["false"])
        #expect(suite.memory.storedValue(forKey: "checkout") == .boolean(false))
    }
}

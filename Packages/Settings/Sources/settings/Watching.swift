import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows each change of a suite, or of one value, with its time, until it is ended.",
        discussion: """
            What is stored is shown, as read does; what programs find may differ, where a value is mandatory or has a fallback. \
            A change costs what has changed, however much the suite holds, unless the suite is damaged or read-only.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key; all keys without one.", completion: .keys)
    var key: String?

    @Flag(help: "Show each change as a line of JSON: its time, its key, and the value unless it was removed.")
    var json = false

    @OptionGroup
    var display: DisplayOptions

    func run() async throws {
        let store = try openStore()
        // Watching begins here, before the values are read that the first change is compared with.
        var changes = store.changes().makeAsyncIterator()
        var known = KnownValues(try SuiteContents(of: store))
        // On standard error, so that standard output holds changes alone.
        note("Watching \(suite).")
        while let keys = await changes.next(isolation: nil) {
            // Storing an equal value is not a change. An empty set says that the store doesn't know which keys have
            // changed; and keys that are equal as strings may differ in their bytes, which a set of strings doesn't
            // show.
            let changed =
                keys.isEmpty || keys.contains { !$0.utf8.allSatisfy { $0 < 0x80 } }
                ? known.update(to: try SuiteContents(of: store)) : known.update(keys, from: store)
            for change in changed where key == nil || key == change.key {
                try show(change)
            }
        }
    }

    /// A sound suite is opened as any program does, which changes none of its values and makes each change cheap to
    /// find; of another one a look must not become a repair.
    private func openStore() throws -> FileDefaults {
        // A write that is going on looks like one that was cut short.
        for _ in 0..<8 {
            let (url, found) = try suite.inspection()
            if found.isIntact, found.unfinishedBytes == 0, found.formatVersion != nil {
                return try suite.open(url, sourcesOf: nil)
            }
        }
        return try suite.reading()
    }

    private func show(_ change: KnownValues.Change) throws {
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        if json {
            var members = [
                JSONText.Member(name: "time", value: .string(time)),
                JSONText.Member(name: "key", value: .string(change.key)),
            ]
            if let value = change.value {
                members.append(.init(name: "value", value: display.patterns.readableJSON(value, forKey: change.key)))
            }
            try write(JSONText.object(members).line + "\n")
            return
        }
        var text = display.text
        text.append("\(time) ", .faint)
        if let value = change.value {
            text.appendEntry(shownKey(change.key), named: change.key, separator: " = ") { $0.append(value) }
        } else {
            text.append(shownKey(change.key), .key)
            text.append(" removed")
        }
        text.append("\n")
        try write(text)
    }
}

/// The values of a suite as they were last seen.
private struct KnownValues {
    struct Change {
        let key: String
        /// The new value; nil if it was removed.
        let value: PropertyListValue?
    }

    private var values: [[UInt8]: PropertyListValue]

    init(_ contents: SuiteContents) {
        values = Self.byKey(contents)
    }

    private static func byKey(_ contents: SuiteContents) -> [[UInt8]: PropertyListValue] {
        Dictionary(contents.entries.map { (Array($0.key.utf8), $0.value) }) { $1 }
    }

    /// Looks at some keys.
    mutating func update(_ keys: Set<String>, from store: FileDefaults) -> [Change] {
        keys.sorted().compactMap { key in change(Array(key.utf8), to: store.storedValue(forKey: key)) }
    }

    /// Looks at all keys.
    mutating func update(to contents: SuiteContents) -> [Change] {
        let new = Self.byKey(contents)
        let keys = Set(values.keys).union(new.keys)
        return keys.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { change($0, to: new[$0]) }
    }

    private mutating func change(_ key: [UInt8], to new: PropertyListValue?) -> Change? {
        let old = values[key]
        if let old, let new, old.isIdentical(to: new) { return nil }
        if old == nil, new == nil { return nil }
        values[key] = new
        return Change(key: String(decoding: key, as: UTF8.self), value: new)
    }
}

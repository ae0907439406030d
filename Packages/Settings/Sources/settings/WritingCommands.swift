import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Write: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores a value, in a new suite if there is none of the name.",
        usage: "settings write <suite> <key> [--create] [--from <file>] [-TYPE] VALUE ...",
        discussion: ValueArguments.help
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key.", completion: .keys)
    var key: String

    @Option(
        name: .customLong("from"),
        help: "Read the value's text, or with -data its bytes, from a file or a pipe; \"-\" is standard input.",
        completion: .file()
    )
    var source: String?

    @Flag(help: "Make a new suite at a path. One that is given by its name is made without this.")
    var create = false

    @Argument(
        parsing: .captureForPassthrough,
        help: "The value, with its type before it unless it is a string. --from and --create may come here as well.",
        completion: .list(ValueArguments.types)
    )
    var value: [String] = []

    func validate() throws {
        let words = try words
        if words.source == nil {
            _ = try ValueArguments(words.rest)
        } else {
            // Standard input is read once, when the command runs.
            try ValueArguments.checkType(words.rest)
        }
    }

    func run() throws {
        let words = try words
        // What is wrong with the key and the value is found before a suite is made for it.
        let change =
            try words.source.map { try ValueArguments(words.rest, content: readInput($0)) }
            ?? ValueArguments(words.rest)
        try SuiteContents(entries: [SuiteContents.Entry(key: key, value: change.given)]).checkStorable()
        let store = try suite.existingOrNew(creates: words.creates)
        switch change {
        case .value(let value):
            try store.setStoredValue(value, forKey: key)
        case .addedElements(let added):
            try store.withExclusiveAccess {
                try store.setStoredValue(.array(try array(in: store) + added), forKey: key)
            }
        case .addedEntries(let added):
            try store.withExclusiveAccess {
                try store.setStoredValue(.dictionary(try dictionary(in: store).merging(added) { $1 }), forKey: key)
            }
        }
    }

    /// The options, wherever they are: after the key the parser leaves all to this command.
    ///
    /// The word after -string is a text, whatever it looks like.
    private var words: (rest: [String], source: String?, creates: Bool) {
        get throws {
            var (source, creates) = (source, create)
            var rest: [String] = []
            var words = value[...]
            var isText = false
            while let word = words.popFirst() {
                if isText {
                    rest.append(word)
                    isText = false
                } else if word == "--", rest.isEmpty {
                    continue
                } else if word == "--create" {
                    creates = true
                } else if word == "--from" {
                    guard let file = words.popFirst() else {
                        throw ValidationError("--from needs a file.")
                    }
                    source = file
                } else if word.hasPrefix("--from=") {
                    source = String(word.dropFirst("--from=".count))
                } else {
                    rest.append(word)
                    isText = word == "-string"
                }
            }
            if source == nil, rest.last == "-",
                rest.count == 1 || rest.count == 2 && ValueArguments.scalarTypes.contains(rest[0])
            {
                rest.removeLast()
                source = "-"
            }
            return (rest, source, creates)
        }
    }

    private func array(in store: FileDefaults) throws -> [PropertyListValue] {
        switch store.ownValue(forKey: key) {
        case nil: []
        case .array(let elements): elements
        default: throw ToolError("What is stored under \(key.debugDescription) is not an array; nothing was added.")
        }
    }

    private func dictionary(in store: FileDefaults) throws -> [String: PropertyListValue] {
        switch store.ownValue(forKey: key) {
        case nil: [:]
        case .dictionary(let entries): entries
        default: throw ToolError("What is stored under \(key.debugDescription) is not a dictionary; nothing was added.")
        }
    }
}

struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes a value, or with --all those of the whole suite.",
        discussion: """
            With a value goes what the library keeps beside it: its version, and what was quarantined for its key. The suite stays, \
            for the programs that have it open.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key.", completion: .keys)
    var key: String?

    @Flag(help: "Remove all values.")
    var all = false

    func validate() throws {
        // An empty variable in a script must not cost the suite.
        if key == "" { throw ValidationError("The key is empty. --all removes all values.") }
        if key == nil, !all { throw ValidationError("Name the key of the value to remove, or write --all.") }
        if key != nil, all { throw ValidationError("--all removes all values, and takes no key.") }
    }

    func run() throws {
        let store = try suite.existing()
        try store.transaction {
            if let key, store.ownValue(forKey: key) == nil {
                throw ToolError.noValue(forKey: key, in: suite)
            }
            for key in key.map({ [$0] + companions(of: $0, in: store) }) ?? store.storedKeys() {
                try store.removeObject(forKey: key)
            }
        }
        if key == nil {
            // Without this, the old values would stay in the journal until its next compaction.
            try store.compact()
        }
    }
}

struct Rename: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Moves a value to another key, with its version and what was quarantined for it."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key of the value.", completion: .keys)
    var key: String

    @Argument(help: "The key it is to have.")
    var newKey: String

    @Flag(help: "Replace the value that the new key has.")
    var overwrite = false

    func run() throws {
        let store = try suite.existing()
        try store.transaction {
            guard store.ownValue(forKey: key) != nil else {
                throw ToolError.noValue(forKey: key, in: suite)
            }
            let replaced = companions(of: newKey, in: store) + (store.ownValue(forKey: newKey) == nil ? [] : [newKey])
            guard overwrite || replaced.isEmpty else {
                throw ToolError("There is a value for \(newKey.debugDescription) already; --overwrite replaces it.")
            }
            // All are read before the first is removed: the new key may be the same, or one of the companions.
            let places = [key] + companions(of: key, in: store)
            let values = places.map { store.ownValue(forKey: $0) }
            for place in places + replaced { try store.removeObject(forKey: place) }
            for (place, value) in zip(places, values) {
                let suffix = place.unicodeScalars.dropFirst(key.unicodeScalars.count)
                try store.setStoredValue(value, forKey: newKey + String(suffix))
            }
        }
    }
}

/// The keys under which the library keeps something about a value: its version, what was quarantined for its key.
private func companions(of key: String, in store: FileDefaults) -> [String] {
    ["quarantine", "schemaVersion", "moved", "partial"].map { "\(key).\($0)" }
        .filter { store.ownValue(forKey: $0) != nil }
}

package import Default
package import Foundation

// JSON that loses nothing is the library's; see `exportJSON()`.

extension SuiteContents {
    /// How deep the JSON of a suite may nest: 256 levels of a value, each tagged, and JSON within it.
    package static let maximumJSONDepth = 768

    /// The contents as JSON that loses nothing.
    package var exactJSON: Data { get throws { try store.exportJSON() } }

    /// Reads what ``exactJSON`` gives, or any JSON object of keys.
    package init(exactJSON data: Data) throws {
        let store = MemoryDefaults()
        do {
            try store.importJSON(data)
        } catch {
            // The store is none that a person knows.
            throw ToolError("\(error)".replacing(" in \(store.storeDescription)", with: ""))
        }
        let entries = store.storedKeys().compactMap { key in
            store.ownValue(forKey: key).map { Entry(key: key, value: $0) }
        }
        self.init(entries: entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    }

    private var store: MemoryDefaults {
        get throws {
            let store = MemoryDefaults()
            for entry in entries { try store.setStoredValue(entry.value, forKey: entry.key) }
            return store
        }
    }
}

extension JSONText {
    /// A value as an export has it.
    package init(exact value: PropertyListValue) {
        let contents = SuiteContents(entries: [SuiteContents.Entry(key: Self.onlyKey, value: value)])
        guard let text = try? contents.exactJSON,
            case .object(let members)? = JSONText(parsing: text, maximumDepth: SuiteContents.maximumJSONDepth),
            let member = members.first
        else {
            // Nests deeper than any store's value.
            self = .null
            return
        }
        self = member.value
    }

    fileprivate static let onlyKey = "value"
}

extension PropertyListValue {
    /// The value that JSON of an export has for a key.
    package init(exact json: JSONText) throws {
        let text = JSONText.object([.init(name: JSONText.onlyKey, value: json)]).compact
        let contents = try SuiteContents(exactJSON: Data(text.utf8))
        guard let value = contents.entries.first?.value else { throw ToolError("The text has no value.") }
        self = value
    }
}

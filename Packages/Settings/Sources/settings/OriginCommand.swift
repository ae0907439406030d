import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Origin: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows where the values that a program finds come from.",
        discussion: """
            For each key the value that counts, where it is from, and what it hides: a mandatory value, what is stored, or a \
            fallback. Settings types are shown property by property.

            The sources are those of the suite's name: /etc/xdg/NAME.mandatory.json and .plist, and NAME.json and .plist in each \
            directory of $XDG_CONFIG_DIRS. What a program names itself, its arguments and its environment are not known here. A \
            suite that is given by its path has sources if it is in a .config directory.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key, or a key and a property; all without one.", completion: .keys)
    var key: String?

    @Flag(help: "Show JSON: an object for each value, with the value and the list of its origins.")
    var json = false

    @OptionGroup
    var display: DisplayOptions

    func run() throws {
        let all = try LayeredValue.all(in: suite.layered(), hiding: display.patterns)
        let found = key.map { key in all.filter { $0.isAt(key) } } ?? all
        if let key, found.isEmpty { throw ToolError.noValue(forKey: key, in: suite) }
        try LayeredValue.show(found, asJSON: json, with: display)
    }
}

/// A value, or a property of one, as a program finds it.
struct LayeredValue {
    /// The key, and the property of a settings type.
    let key: String
    let property: String?
    let value: ValueNode
    /// All that have it, the one that counts first.
    let origins: [DefaultsOrigin]

    /// The name as people write it.
    var name: String { property.map { "\(key).\($0)" } ?? key }

    func isAt(_ path: String) -> Bool { key == path || name == path }

    /// All values of a suite, by their names.
    ///
    /// The properties of settings are without what is hidden, which would not be found in their JSON.
    static func all(in store: any UserDefaultsVocabulary, hiding hidden: KeyPatterns) throws -> [LayeredValue] {
        var values = OriginValues(of: store)
        let keys = Set(store.dictionaryRepresentation().keys).union(store.storedKeys())
        return try keys.sorted().flatMap { key in
            let origins = store.origins(forKey: key)
            let found = try origins.map { try values.value($0, forKey: key) }
            let properties = found.map { $0.flatMap { Self.properties(of: hidden.redacted($0) ?? $0) } }
            // Settings are layered property by property if each layer has some.
            guard origins.count > 1, !properties.contains(where: { $0 == nil }) else {
                return store.storedValue(forKey: key).map { value in
                    [LayeredValue(key: key, property: nil, value: .value(value), origins: origins)]
                } ?? []
            }
            var parts: [String: (value: JSONText, origins: [DefaultsOrigin])] = [:]
            for (origin, members) in zip(origins, properties) {
                for member in members ?? [] {
                    parts[member.name, default: (member.value, [])].origins.append(origin)
                }
            }
            return parts.sorted { $0.key < $1.key }.map { name, part in
                LayeredValue(key: key, property: name, value: .json(part.value), origins: part.origins)
            }
        }
    }

    /// The properties of settings, of a source those that it doesn't leave unsaid by null; nil for another value.
    private static func properties(of value: PropertyListValue) -> [JSONText.Member]? {
        guard case .object(let members) = JSONText(readable: value) else { return nil }
        guard case .dictionary = value else { return members }
        return members.filter { if case .null = $0.value { false } else { true } }
    }

    static func show(_ values: [LayeredValue], asJSON: Bool, with display: DisplayOptions) throws {
        if asJSON {
            try write(JSONText.object(values.map { .init(name: $0.name, value: $0.json(display)) }).pretty + "\n")
            return
        }
        var text = display.text
        for value in values {
            text.appendEntry(shownKey(value.name), named: value.key, separator: " = ") { text in
                if value.isHidden(by: display.patterns) {
                    text.append(KeyPatterns.placeholder, .faint)
                } else {
                    text.append(value.value.redacted(display.patterns) ?? value.value)
                }
            }
            text.append("\n")
            for (index, origin) in value.origins.enumerated() {
                text.append("  \(index == 0 ? "from" : "hides") \(origin.shown)\n".escapedLinesForTerminal, .faint)
            }
        }
        try write(text)
    }

    private func isHidden(by patterns: KeyPatterns) -> Bool {
        patterns.matches(key) || patterns.matches(name) || property.map(patterns.matches) == true
    }

    private func json(_ display: DisplayOptions) -> JSONText {
        let shown =
            isHidden(by: display.patterns)
            ? JSONText.string(KeyPatterns.placeholder)
            : (value.redacted(display.patterns) ?? value).readableJSON
        let origins = origins.map { origin in
            JSONText.object([
                .init(name: "kind", value: .string(origin.kind.name)),
                .init(name: "name", value: .string(origin.name)),
            ])
        }
        return .object([.init(name: "value", value: shown), .init(name: "origins", value: .array(origins))])
    }
}

import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Quarantine: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the quarantine: what could not be used, and was kept when something replaced it."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key of the value that was replaced; all keys without one.", completion: .keys)
    var key: String?

    @Flag(help: "Remove the quarantined values, after showing them.")
    var remove = false

    @Flag(help: "Store the newest quarantined value of the key again, and quarantine the one that it replaces.")
    var restore = false

    @OptionGroup
    var display: DisplayOptions

    func validate() throws {
        if restore, key == nil || remove {
            throw ValidationError("--restore needs a key, and can't be combined with --remove.")
        }
    }

    func run() throws {
        var text = display.text
        if restore, let key {
            try restore(key, in: suite.existing(), &text)
        } else if remove {
            let store = try suite.existing()
            try store.transaction { try show(in: store, &text) }
        } else {
            try show(in: suite.reading(), &text)
        }
        try write(text)
    }

    private func show(in store: FileDefaults, _ text: inout StyledText) throws {
        for key in try key.map({ [$0] }) ?? quarantinedKeys(in: store) {
            let place = Defaults.Key<Data?>(key)
            for quarantined in try Defaults(suite: store).quarantined(place) {
                show(quarantined, of: key, &text)
            }
            if remove {
                try Defaults(suite: store).removeQuarantined(place)
            }
        }
    }

    private func show(_ quarantined: QuarantinedValue, of key: String, _ text: inout StyledText) {
        let type = quarantined.typeName.escapedForTerminal
        text.append("\(quarantined.date.exactText), not usable as \(type): ", .faint)
        text.appendEntry(shownKey(key), named: key, separator: " = ") { $0.append(quarantined.value) }
        text.append("\n")
    }

    private func restore(_ key: String, in store: FileDefaults, _ text: inout StyledText) throws {
        // A key of this type can read each value.
        let place = Defaults.Key<PropertyListValue?>(key)
        do {
            guard let restored = try Defaults(suite: store).restoreQuarantined(place) else {
                throw ToolError("Nothing is quarantined for \(key.debugDescription).")
            }
            show(restored, of: key, &text)
        } catch let error as DefaultsError {
            // The type is the tool's, and none that a person knows.
            throw ToolError("\(error)".replacing("Optional<PropertyListValue>", with: "any type"))
        }
    }

    private func quarantinedKeys(in store: FileDefaults) throws -> [String] {
        let suffix = ".quarantine"
        let keys = store.storedKeys().filter { $0.hasSuffix(suffix) && $0 != suffix }.map {
            String($0.dropLast(suffix.count))
        }
        return try keys.sorted().filter { key in
            do {
                return try !Defaults(suite: store).quarantined(Defaults.Key<Data?>(key)).isEmpty
            } catch .typeMismatch {
                // A value of the program's own, whose key ends so.
                return false
            }
        }
    }
}

import ArgumentParser
import Default
import Foundation

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

    @OptionGroup
    var display: DisplayOptions

    func run() throws {
        let store = try suite.existing()
        var text = display.text
        try store.transaction {
            for key in try key.map({ [$0] }) ?? quarantinedKeys(in: store) {
                let place = Defaults.Key<Data?>(key)
                for quarantined in try Defaults(suite: store).quarantined(place) {
                    text.append("\(quarantined.date.exactText), not usable as \(quarantined.typeName): ", .faint)
                    text.appendEntry(shownKey(key), named: key, separator: " = ") { $0.append(quarantined.value) }
                    text.append("\n")
                }
                if remove {
                    try Defaults(suite: store).removeQuarantined(place)
                }
            }
        }
        try write(text.string)
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

import ArgumentParser
import Default

struct Quarantine: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the bytes that could not be decoded and were kept aside before something replaced them."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key of the value that was replaced; all keys without one.", completion: .keys)
    var key: String?

    @Flag(help: "Remove what is kept aside, after showing it.")
    var remove = false

    @OptionGroup
    var display: DisplayOptions

    func run() throws {
        let store = try suite.existing()
        var text = display.text
        try store.transaction {
            for quarantined in quarantinedValues(in: store) where key == nil || key == quarantined.key {
                text.appendEntry(shownKey(quarantined.key), named: quarantined.key, separator: " = ") {
                    $0.append(quarantined.value)
                }
                text.append("\n")
                if remove {
                    try store.removeObject(forKey: quarantined.storedUnder)
                }
            }
        }
        try write(text.string)
    }
}

private struct QuarantinedValue {
    let key: String
    let storedUnder: String
    let value: PropertyListValue
}

private func quarantinedValues(in store: FileDefaults) -> [QuarantinedValue] {
    let suffix = ".quarantine"
    return store.storedKeys().filter { $0.hasSuffix(suffix) }.sorted().compactMap { name in
        store.propertyListValue(forKey: name).map { value in
            QuarantinedValue(key: String(name.dropLast(suffix.count)), storedUnder: name, value: value)
        }
    }
}

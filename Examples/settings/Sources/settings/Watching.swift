import ArgumentParser
import Default
import Foundation

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows each change of a suite, or of one value, with its time, until it is ended."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key; all keys without one.", completion: .keys)
    var key: String?

    @OptionGroup
    var display: DisplayOptions

    func run() async throws {
        let store = try suite.existing()
        // Watching begins here, before the values are read that the first change is compared with.
        var changes = store.changes().makeAsyncIterator()
        var before = try SuiteContents(of: store)
        // On standard error, so that standard output holds changes alone.
        try FileHandle.standardError.write(contentsOf: Data("Watching \(suite).\n".utf8))
        while await changes.next(isolation: nil) != nil {
            // Which keys have changed is found by looking: a store may not know, and storing an equal value is not a change.
            let now = try SuiteContents(of: store)
            for changed in before.keys(changedIn: now) where key == nil || key == changed {
                try show(changed, now)
            }
            before = now
        }
    }

    private func show(_ changed: String, _ contents: SuiteContents) throws {
        var text = display.text
        text.append("\(Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) ", .faint)
        if let value = contents.value(forKey: changed) {
            text.appendEntry(shownKey(changed), named: changed, separator: " = ") { $0.append(value) }
        } else {
            text.append(shownKey(changed), .key)
            text.append(" removed")
        }
        text.append("\n")
        try write(text.string)
    }
}

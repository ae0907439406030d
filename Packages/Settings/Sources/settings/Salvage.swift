import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what the backups of damaged journals hold that the suite lacks, and restores it.",
        discussion: """
            Only what differs from the suite is shown. Values that were intact are restored with --restore where the suite \
            has none. A value from damaged bytes may be wrong, and is restored only when its key is named; so is one for which \
            the suite has another value by now, and only with --overwrite. --restore --remove keeps a backup that has a value \
            which the suite then lacks; --remove alone removes all backups.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The keys; all keys without one.", completion: .keys)
    var keys: [String] = []

    @Flag(help: "Store the values in the suite.")
    var restore = false

    @Flag(help: "Replace the values that the suite has for the keys that are named.")
    var overwrite = false

    @Flag(help: "Remove the backups, after all else; with --restore, those of which the suite has each value then.")
    var remove = false

    @OptionGroup
    var display: DisplayOptions

    func validate() throws {
        if overwrite, !restore || keys.isEmpty {
            throw ValidationError("--overwrite needs --restore, and the keys of the values to replace.")
        }
        if remove, !keys.isEmpty {
            throw ValidationError("--remove removes whole backups, and takes no keys.")
        }
    }

    func run() throws {
        let (url, found) = try suite.inspection()
        // The newest first: its values count.
        let copies = found.damagedCopies.reversed().map { url.appending(path: $0.name) }
        if copies.isEmpty, !found.isIntact {
            note(
                """
                The journal of \(suite) is damaged and not backed up yet. The next program that changes the suite does that, or \
                "settings compact \(suite)".
                """
            )
        } else if copies.isEmpty {
            note("No damaged journal of \(suite) was backed up.")
        }
        var restored: [SalvagedValue] = []
        var (count, shownCount) = (0, 0)
        let current = try suite.storedContents()
        for copy in copies {
            var text = display.text
            text.append("\(copy.plainPath):\n".escapedLinesForTerminal, .faint)
            for found in try SalvagedValue.all(in: copy) where keys.isEmpty || keys.contains(where: found.hasKey) {
                count += 1
                let existing = current.value(forKey: found.key)
                if let existing, existing.isIdentical(to: found.value) { continue }
                shownCount += 1
                text.appendEntry(shownKey(found.key), named: found.key, separator: " = ") { $0.append(found.value) }
                var remarks: [String] = []
                if !found.isIntact { remarks.append("from damaged bytes, may be wrong") }
                if existing != nil { remarks.append("the suite has another value") }
                text.append(remarks.isEmpty ? "\n" : " (\(remarks.joined(separator: "; ")))\n", .faint)
                let isNamed = !keys.isEmpty
                let isWanted = (found.isIntact || isNamed) && (existing == nil || overwrite && isNamed)
                if isWanted, !restored.contains(where: { $0.hasKey(found.key) }) { restored.append(found) }
            }
            try write(text)
        }
        if !copies.isEmpty, count == 0 {
            note(keys.isEmpty ? "No value can be read in the backups." : "The backups have no value for these keys.")
        } else if count > 0, shownCount == 0 {
            note("The suite has each value of the backups.")
        }
        if restore, restored.isEmpty, shownCount > 0 {
            note(
                "Nothing was restored. Name the keys of the values above, with --overwrite where the suite has another one."
            )
        } else if restore, !restored.isEmpty {
            let count = try store(restored, in: url)
            note("Restored \(count) value\(count == 1 ? "" : "s").")
        }
        if remove {
            try removeBackups(copies)
        }
    }

    /// Stores values, and returns how many.
    private func store(_ values: [SalvagedValue], in url: URL) throws -> Int {
        // Without sources: what a backup holds was stored, whatever else programs find for its keys.
        let store = try suite.open(url, sourcesOf: nil)
        return try store.transaction {
            // Another program may have stored one since it was looked for.
            let missing = values.filter { overwrite || store.ownValue(forKey: $0.key) == nil }
            for found in missing { try store.setStoredValue(found.value, forKey: found.key) }
            return missing.count
        }
    }

    /// Removes backups: after restoring, only those that hold nothing else.
    private func removeBackups(_ copies: [URL]) throws {
        let stored = restore ? try suite.storedContents() : nil
        for copy in copies {
            let isInSuite = try stored.map { stored in
                try SalvagedValue.all(in: copy).allSatisfy { found in
                    stored.value(forKey: found.key)?.isIdentical(to: found.value) == true
                }
            }
            if isInSuite == false {
                note(
                    """
                    \(copy.plainPath) is kept, since it has values that were not restored. --remove without --restore removes it.
                    """
                )
            } else {
                try FileManager.default.removeItem(at: copy)
            }
        }
    }
}

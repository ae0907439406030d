import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a suite's journal; exits with 1 if it is damaged, or was and its backup is still there.",
        discussion: """
            Nothing is changed. A program that opens a damaged suite, or a command that changes one, backs up the journal \
            and goes on with the values that are intact. Until the backup is removed, this command exits with 1; \
            "settings salvage" shows what it holds, and removes it. Exits with 2 for a suite that can't be read, or doesn't exist.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    func run() throws {
        let url: URL
        let found: FileDefaults.Inspection
        do {
            (url, found) = try suite.inspection()
        } catch {
            // 1 is for a damaged suite.
            throw error is Unreadable ? error : Unreadable(cause: error)
        }
        if let version = found.formatVersion, !found.canListKeys {
            throw Unreadable(
                cause: ToolError("The suite has format version \(version), which this tool can't read.")
            )
        }
        if found.fileSize == 0 {
            try write("The journal is empty or gone: all values in it are lost.\n")
            try writeBackups(found, in: url)
            try write("Damaged.\n")
            throw ExitCode.failure
        }
        try write(
            "\(count(found.keyCount, "value")) in \(count(found.recordCount, "record")), \(found.fileSize) bytes.\n"
        )
        try writeBackups(found, in: url)
        if found.unfinishedBytes > 0 {
            try write("The last \(found.unfinishedBytes) bytes are of a write that was cut short.\n")
        }
        guard found.isIntact else {
            for range in found.damage {
                try write("Bytes \(range.lowerBound) to \(range.upperBound) of the journal can't be used.\n")
            }
            try write("Damaged.\n")
            throw ExitCode.failure
        }
        guard found.damagedCopies.isEmpty else {
            try write("Intact since. See what the backup holds: settings salvage.\n")
            throw ExitCode.failure
        }
        try write("Intact.\n")
    }

    private func writeBackups(_ found: FileDefaults.Inspection, in url: URL) throws {
        for copy in found.damagedCopies {
            try write(
                "A damaged journal was backed up as \(url.appending(path: copy.name).plainPath.escapedForTerminal).\n"
            )
        }
    }

    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rewrites a suite's journal with nothing but the values in force.",
        discussion: "Suites do so by themselves; this is for when replaced values are not to stay on the disk."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    func run() throws {
        let store = try suite.existing()
        let before = try store.verify().fileSize
        try store.compact()
        try write("\(before) bytes before, \(try store.verify().fileSize) bytes now.\n")
    }
}

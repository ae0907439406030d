import ArgumentParser
import Default
import Foundation
import Synchronization

struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a suite's journal; exits with 1 if it is damaged.",
        discussion: """
            As whenever a suite is opened, a damaged journal is backed up and the suite goes on with the values that are \
            intact; so a second check finds no fault, but names the backup.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    func run() throws {
        let damage = Mutex<[String]>([])
        // Damage is found, and the damaged file backed up, when the suite is opened.
        DefaultsDiagnostics.handler = { event in
            damage.withLock { $0.append("\(event.error)") }
        }
        let store = try suite.existing()
        let found = try store.verify()
        try write(
            "\(count(found.valueCount, "value")) in \(count(found.recordCount, "record")), \(found.fileSize) bytes.\n"
        )
        for name in try FileManager.default.contentsOfDirectory(atPath: suite.url.plainPath).sorted()
        where name.hasPrefix("journal.damaged-") {
            try write("A damaged journal was backed up as \(suite.url.appending(path: name).plainPath).\n")
        }
        var faults = damage.withLock { $0 }
        faults += found.damage.map { "Bytes \($0.lowerBound) to \($0.upperBound) of the journal can't be used." }
        guard faults.isEmpty else {
            for fault in faults {
                try write("\(fault)\n")
            }
            try write("Damaged.\n")
            throw ExitCode.failure
        }
        try write("Intact.\n")
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

import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes all values of a suite to a file or to standard output.",
        discussion: """
            The format is the one that the file's name asks for (.plist, .xml, .json); else a binary property list, which \
            loses nothing, or JSON on a terminal. XML property lists have dates to whole seconds and no sign of zero; \
            the tool reports on standard error what they lose. The same contents give the same bytes.

            What is hidden is left out.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The file; standard output without one, or for \"-\".", completion: .file())
    var file: String?

    @Option(help: "The format.")
    var format: InterchangeFormat?

    @OptionGroup
    var hiding: HidingOptions

    func run() throws {
        if isOutputTerminal, outputPath == nil, chosenFormat != .json {
            throw ToolError(
                "A property list is not for terminals. Name a file, write into a pipe, or use --format json."
            )
        }
        let (contents, hiddenCount) = try SuiteContents(of: try suite.reading()).omitting(hiding.patterns)
        if hiddenCount > 0 {
            warn(
                "\(hiddenCount) value\(hiddenCount == 1 ? " is" : "s are") left out, or without what is hidden in them."
            )
        }
        let data = try chosenFormat.encode(contents)
        guard let copy = try? SuiteContents(decoding: data) else {
            throw Self.unwritable(in: contents, as: chosenFormat)
        }
        for key in contents.keys(lostIn: copy) {
            warn("The value for \(key.debugDescription) is not exact in \(chosenFormat.rawValue).")
        }
        if let path = outputPath {
            try writePrivately(data, to: path)
        } else {
            try writeAsIs(data)
        }
    }

    /// What is wrong with contents that can't be read any more when they are written in a format, such as a date in XML
    /// that is not a number.
    private static func unwritable(in contents: SuiteContents, as format: InterchangeFormat) -> ToolError {
        let entry = contents.entries.first { entry in
            (try? SuiteContents(decoding: format.encode(SuiteContents(entries: [entry])))) == nil
        }
        let values = entry.map { "The value for \($0.key.debugDescription)" } ?? "The suite"
        return ToolError("\(values) can't be written as \(format.rawValue). Use another format.")
    }

    private var outputPath: String? { file == "-" ? nil : file }

    private var chosenFormat: InterchangeFormat {
        if let format {
            return format
        }
        if let outputPath {
            return InterchangeFormat(fileName: outputPath) ?? .binary
        }
        return isOutputTerminal ? .json : .binary
    }
}

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores the values of a file, or of standard input, in a suite.",
        discussion: """
            Takes what export writes, and property lists and JSON objects in general. All values are stored as one change; \
            values under other keys stay, unless --replace is given.
            """
    )

    @Argument(help: "The suite; made if there is none.")
    var suite: SuiteReference

    @Argument(help: "The file or pipe; standard input without one, or for \"-\".", completion: .file())
    var file: String?

    @Flag(help: "Make a new suite at a path.")
    var create = false

    @Flag(help: "Remove the values under all other keys.")
    var replace = false

    func run() throws {
        let contents = try SuiteContents(decoding: try readInput(file, upTo: 1 << 30))
        try contents.checkStorable()
        let store = try suite.existingOrNew(creates: create)
        try store.transaction {
            for key in replace ? store.storedKeys() : [] {
                try store.removeObject(forKey: key)
            }
            for entry in contents.entries {
                try store.setStoredValue(entry.value, forKey: entry.key)
            }
        }
    }
}

/// Writes a file that is, like a suite, its owner's alone.
func writePrivately(_ data: Data, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else {
        throw ToolError("\(path) can't be written: \(String(cString: strerror(errno))).")
    }
    defer { close(descriptor) }
    try write(data, to: descriptor, named: path)
}

import Foundation
import SettingsValues

/// Writes to standard output at once, so that a reader sees each line as soon as it is written; what a terminal may act
/// on is escaped.
func write(_ text: String) throws {
    try writeAsIs(Data(text.escapedLinesForTerminal.utf8))
}

/// Writes text whose parts were escaped when they were appended.
func write(_ text: StyledText) throws {
    try writeAsIs(Data(text.string.utf8))
}

/// Writes bytes as they are, for files and pipes.
func writeAsIs(_ data: Data) throws {
    try FileHandle.standardOutput.write(contentsOf: data)
}

/// Writes a line to standard error.
func note(_ message: String) {
    // Where standard error itself can't be written, there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(message.escapedLinesForTerminal)\n".utf8))
}

/// Writes a warning to standard error.
func warn(_ message: String) {
    note("Warning: \(message.escapedForTerminal)")
}

var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

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
    try write(data, to: STDOUT_FILENO, named: "Standard output")
}

/// Writes all of some bytes.
///
/// - Throws: An error that names what can't be written.
func write(_ data: Data, to descriptor: Int32, named name: String) throws {
    var rest = data
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            // The program that made the pipe doesn't want to wait itself.
            var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&wanted, 1, -1)
        } else if errno != EINTR {
            throw ToolError("\(name) can't be written: \(String(cString: strerror(errno))).")
        }
    }
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

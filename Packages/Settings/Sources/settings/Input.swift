import Foundation
import SettingsValues

/// All that a file, a pipe or, without a path and for "-", standard input has.
func readInput(_ path: String?) throws -> Data {
    let file = path == "-" ? nil : path
    let descriptor = file.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
    defer { if file != nil { close(descriptor) } }
    var content = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        switch read(descriptor, &buffer, buffer.count) {
        case 0: return content
        case let count where count > 0: content += buffer.prefix(count)
        case _ where errno == EINTR: continue
        case _ where errno == EISDIR:
            throw ToolError("\(file ?? "Standard input") is a directory. Name a file, or \"-\" for standard input.")
        default: throw ToolError("\(file ?? "Standard input") can't be read: \(String(cString: strerror(errno))).")
        }
    }
}

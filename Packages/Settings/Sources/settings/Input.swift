import Foundation
import SettingsValues

/// All that a file, a pipe or, without a path and for "-", standard input has.
///
/// - Parameters:
///   - path: The file.
///   - limit: The number of bytes that it may have: as many as a value, or for an import a transaction.
/// - Returns: The bytes.
/// - Throws: An error that names the file.
func readInput(_ path: String?, upTo limit: Int = 64 << 20) throws -> Data {
    let file = path == "-" ? nil : path
    let descriptor = file.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
    guard descriptor >= 0 else {
        throw ToolError("\(file ?? "") can't be read: \(String(cString: strerror(errno))).")
    }
    defer { if file != nil { close(descriptor) } }
    var content = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        switch read(descriptor, &buffer, buffer.count) {
        case 0: return content
        case let count where count > 0:
            content += buffer.prefix(count)
            guard content.count <= limit else {
                throw ToolError(
                    "\(file ?? "Standard input") has more than \(limit >> 20) MiB, which no value may have."
                )
            }
        case _ where errno == EINTR: continue
        case _ where errno == EISDIR:
            throw ToolError("\(file ?? "Standard input") is a directory. Name a file, or \"-\" for standard input.")
        default: throw ToolError("\(file ?? "Standard input") can't be read: \(String(cString: strerror(errno))).")
        }
    }
}

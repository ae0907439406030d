import Foundation
import SettingsValues

/// All that a file, a pipe or, without a path and for "-", standard input has.
func readInput(_ path: String?) throws -> Data {
    guard let path, path != "-" else {
        return try FileHandle.standardInput.readToEnd() ?? Data()
    }
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else {
        throw ToolError("\(path) can't be read: \(String(cString: strerror(errno))).")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
        throw ToolError("\(path) is a directory. Name a file, or \"-\" for standard input.")
    }
    return try file.readToEnd() ?? Data()
}

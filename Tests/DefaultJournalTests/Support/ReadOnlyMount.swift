import Foundation

/// A mount of a directory at a second path, at which nothing can be written.
final class ReadOnlyMount {
    let path: String

    /// Mounts the directory; fails where mounting isn't allowed.
    init?(of directory: String, at path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard geteuid() == 0, try Self.run("mount", "--bind", directory, path) else { return nil }
        guard try Self.run("mount", "-o", "remount,ro,bind", path) else {
            _ = try Self.run("umount", path)
            return nil
        }
    }

    func makeWritable() throws -> Bool { try Self.run("mount", "-o", "remount,rw,bind", path) }

    func unmount() throws { _ = try Self.run("umount", "-l", path) }

    private static func run(_ arguments: String...) throws -> Bool { try runCommand(arguments) == 0 }
}

/// Runs a program of the system.
///
/// - Returns: Its exit status, or 127 if there is no such program.
func runCommand(_ command: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
}

/// Everything about the files in a directory that a look at them could change, except the time of the last read.
func fingerprints(of directory: String) throws -> [String: [String]] {
    var fingerprints: [String: [String]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) + ["."] {
        let path = directory + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
        let content = name == "." ? "" : FileManager.default.contents(atPath: path)?.base64EncodedString() ?? ""
        fingerprints[name] = [
            "\(status.st_ino) \(status.st_size) \(status.st_mode) \(status.st_uid) \(status.st_nlink)",
            "\(changes(of: status))",
            content,
        ]
    }
    return fingerprints
}

/// The times of the last changes of a file's content and of its status.
private func changes(of status: stat) -> [timespec] {
    #if canImport(Darwin)
    [status.st_mtimespec, status.st_ctimespec]
    #else
    [status.st_mtim, status.st_ctim]
    #endif
}

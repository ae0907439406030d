import Foundation

/// Conditions of the machine that tests need, for `.enabled(if:)`.
enum Machine {
    static let isRoot = geteuid() == 0

    /// Whether this process may mount something, which many containers don't allow.
    static let canMount: Bool = {
        let directory = NSTemporaryDirectory() + "/default-tests-mount-\(UUID().uuidString)"
        guard isRoot, mkdir(directory, 0o700) == 0 else { return false }
        defer { rmdir(directory) }
        guard run("mount", "--bind", directory, directory) else { return false }
        return run("umount", "-l", directory)
    }()

    /// Whether a program is installed.
    static func has(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    private static func run(_ command: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

import Default
import Foundation
import SettingsValues

extension SuiteDirectory {
    /// What is to be said about who may use a suite.
    static func access(to directory: URL) -> [ConditionNote] {
        var status = stat()
        guard stat(directory.plainPath, &status) == 0 else { return [] }
        if status.st_uid != geteuid() {
            let owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
            return [
                ConditionNote(.information, "Of \(owner)", "The suite belongs to the user \(owner), and is only read.")
            ]
        }
        let files = [directory, directory.appending(path: "journal")]
        guard files.allSatisfy({ Foundation.access($0.plainPath, W_OK) == 0 }) else {
            return [
                ConditionNote(.information, "Read-only", "This user may not write the suite, or its disk is read-only.")
            ]
        }
        return []
    }
}

/// The processes that use a suite of files, as far as the system lets this user see.
struct SuiteUsers {
    /// The process that is changing the suite, which other writers wait for.
    private(set) var writer: Int32?
    /// The processes that have the suite open.
    private(set) var processes: [Int32] = []

    init(of directory: URL) {
        #if os(Linux)
        var status = stat()
        guard stat(directory.plainPath, &status) == 0 else { return }
        writer = Self.lockHolder(of: status.st_ino)
        let journal = directory.appending(path: "journal").resolvingSymlinksInPath().plainPath
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = Int32(name), process != getpid() else { continue }
            // Those of other users can't be read, and some have ended since.
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(name)/fd")) ?? []
            let isOpen = descriptors.contains { descriptor in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/fd/\(descriptor)"))
                    == journal
            }
            if isOpen { processes.append(process) }
        }
        processes.sort()
        #endif
    }

    /// The process that holds the lock of a directory, as `/proc/locks` has it.
    ///
    /// A line: `7: FLOCK  ADVISORY  WRITE 4242 fe:01:393217 0 EOF`.
    private static func lockHolder(of inode: ino_t) -> Int32? {
        guard let text = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5].hasSuffix(":\(inode)") else { continue }
            if let process = Int32(fields[4]), process > 0, process != getpid() { return process }
        }
        return nil
    }

    private static func name(of process: Int32) -> String {
        let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
        return "\(name?.trimmingCharacters(in: .newlines) ?? "process") (\(process))"
    }

    var notes: [ConditionNote] {
        var notes: [ConditionNote] = []
        if let writer {
            let text =
                "\(Self.name(of: writer)) is changing the suite; others that write wait for it, for at most five seconds."
            notes.append(ConditionNote(.information, "Writing", text))
        }
        if !processes.isEmpty {
            let names = processes.map(Self.name).joined(separator: ", ")
            notes.append(ConditionNote(.information, "In use", "Other processes have the suite open: \(names)."))
        }
        return notes
    }
}

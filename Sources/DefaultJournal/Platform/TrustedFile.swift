/// A file that this library only reads, which an administrator, a vendor or this user has written.
///
/// The path may lead to a pipe, a directory, gigabytes, or a link to another user's file. Reading waits for none of
/// these, and refuses a file that anyone but root and this user may have written.
package enum TrustedFile {
    /// The state of a file: as long as it is the same, so are the contents.
    package struct Mark: Equatable, Sendable {
        private let device, inode, size, changed, modified: UInt64
        /// Whether a later change has another mark: not if the file has just changed, since the clock of file times
        /// advances in ticks.
        package let isSettled: Bool

        fileprivate init(_ status: FileStatus, now: UInt64) {
            (device, inode, size) = (status.device, status.inode, status.size)
            (changed, modified) = (status.changed, status.modified)
            isSettled = status.isSettled(at: now)
        }

        package static func == (one: Mark, other: Mark) -> Bool {
            (one.device, one.inode, one.size) == (other.device, other.inode, other.size)
                && (one.changed, one.modified) == (other.changed, other.modified)
        }
    }

    /// What is at a path.
    package enum Look: Equatable, Sendable {
        case missing
        case directory
        /// Something that may be a file with readable contents.
        case file(Mark)
        /// The path can't be looked at.
        case failed(String)
    }

    /// The contents of a file, and its state when they were read.
    package struct Contents: Sendable {
        package let bytes: [UInt8]
        package let mark: Mark
    }

    /// Why a file isn't read.
    package enum Fault: Error, Sendable {
        case missing
        /// It is a directory, a pipe, a device or a socket.
        case notAFile
        /// It has more bytes than the limit.
        case tooLarge(UInt64)
        /// It belongs to a user, named in the middle of a sentence, who is neither root nor the one of this process.
        case foreign(String)
        /// Others than its owner may write to it.
        case writableByOthers
        /// A system call failed, with the system's message.
        case failed(String)
    }

    /// Looks at a path; links are followed.
    package static func look(at path: String) -> Look {
        let calls = SystemCalls()
        do throws(JournalError) {
            guard let status = try calls.status(of: path, followsLinks: true) else { return .missing }
            return status.isDirectory ? .directory : .file(Mark(status, now: calls.fileTime))
        } catch {
            // A component of the path that isn't a directory.
            return error.isNotFound ? .missing : .failed(message(of: error))
        }
    }

    /// Reads a file as a whole.
    ///
    /// - Parameters:
    ///   - path: Its path; links are followed.
    ///   - limit: The number of bytes that it may have at most.
    /// - Returns: The contents.
    /// - Throws: Why it isn't read; nothing is waited for.
    package static func read(_ path: String, limit: Int) throws(Fault) -> Contents {
        let calls = SystemCalls()
        let file = try attempt { () throws(JournalError) in try calls.open(path, .linkedFile) }
        var attempts = 0
        while true {
            let before = try attempt { () throws(JournalError) in try calls.status(file.raw) }
            try check(before, limit: limit)
            var bytes = [UInt8](repeating: 0, count: Int(before.size))
            let count = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(JournalError) in try calls.read(into: buffer, from: file.raw, at: 0) }
            }
            bytes.removeLast(bytes.count - (try attempt { () throws(JournalError) in try count.get() }))
            let mark = Mark(before, now: calls.fileTime)
            let after = try attempt { () throws(JournalError) in try calls.status(file.raw) }
            attempts += 1
            // What never rests is read as it is; the next look finds another mark.
            if Mark(after, now: 0) == mark || attempts == 3 { return Contents(bytes: bytes, mark: mark) }
        }
    }

    /// Checks that nobody but root and this user can change a file in a folder.
    ///
    /// - Parameters:
    ///   - path: The folder's path; links are followed.
    ///   - file: The name of the file.
    /// - Throws: Why they can't be trusted.
    package static func checkFolder(_ path: String, file: String) throws(Fault) {
        for path in [path, path + "/" + file] {
            let status = try attempt { () throws(JournalError) in
                try SystemCalls().status(of: path, followsLinks: true)
            }
            guard let status else { throw .notAFile }
            try checkOwner(status)
        }
    }

    private static func check(_ status: FileStatus, limit: Int) throws(Fault) {
        guard status.isRegular else { throw .notAFile }
        try checkOwner(status)
        guard status.size <= UInt64(limit) else { throw .tooLarge(status.size) }
    }

    private static func checkOwner(_ status: FileStatus) throws(Fault) {
        guard status.owner == 0 || status.owner == SystemCalls.user else {
            throw .foreign(SystemCalls.name(ofUser: status.owner))
        }
        guard !status.isWritableByGroup, !status.isWritableByOthers else { throw .writableByOthers }
    }

    private static func attempt<Result>(_ body: () throws(JournalError) -> Result) throws(Fault) -> Result
    where Result: ~Copyable {
        do {
            return try body()
        } catch {
            throw error.isNotFound ? .missing : .failed(message(of: error))
        }
    }

    private static func message(of error: JournalError) -> String { SystemCalls.message(for: error.code ?? 0) }
}

extension FileStatus {
    /// Whether a change from now on gets another time, on the clock of file times.
    func isSettled(at now: UInt64) -> Bool {
        // Twice as long as the longest tick of a kernel. Some file systems know whole seconds only.
        let precision: UInt64 = changed % 1_000_000_000 == 0 ? 1_000_000_000 : 0
        return now > changed &+ 20_000_000 &+ precision
    }
}

/// When something that costs system calls is due again.
package final class LookSchedule: Sendable {
    private let next = Atomic<UInt64>(0)
    private let interval: UInt64

    /// - Parameter interval: Nanoseconds between two looks; what is due is found some milliseconds late.
    package init(interval: UInt64) { self.interval = interval }

    /// Whether a look is due; then the next one is due after the interval, and this thread has to look.
    package func takeDue() -> Bool {
        let now = Clock.monotonicTick()
        let next = next.load()
        return now >= next && self.next.replace(next, with: now &+ interval)
    }
}

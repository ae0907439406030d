/// A suite in the file system: its open directory, and the file `lock` with the page that all processes share.
struct SuiteDirectory: ~Copyable {
    /// Identifies a directory, however its path is spelled.
    struct ID: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    /// When to compare path and descriptors again although the directory's change time is unchanged.
    enum Recheck {
        /// The time was in the past when it was recorded: any later change has a later time.
        case never
        /// Once the clock has moved on: the change was a compaction's, and another within the same tick is unlikely.
        case afterTick
        /// Each time until the clock has moved on: a change within the same tick would go unnoticed.
        case always
    }

    static let journalName = "journal"
    static let lockName = "lock"
    /// Where a compaction writes, under the lock of this file.
    static let compactionName = "journal.new"
    /// Where a new or recovered journal is written, under the lock of `lock`.
    static let replacementName = "journal.fresh"
    static let damagedPrefix = "journal.damaged-"

    let directory: OwnedDescriptor
    let id: ID
    let lock: OwnedDescriptor
    let lockInode: UInt64
    let page: LockPage
    /// The directory's change time when path and descriptors were last compared.
    var verified: UInt64 = 0
    var recheck = Recheck.always

    deinit {
        GuardedPages.shared.release(page.mapping)
    }
}

extension SuiteDirectory {
    /// An absolute path without trailing slashes, with which `O_NOFOLLOW` would follow a link.
    static func absolutePath(_ path: String, calls: SystemCalls) throws(JournalError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw JournalError(.invalidPath, path: path) }
        var absolute = path.utf8.first == UInt8(ascii: "/") ? path : try calls.currentDirectory() + "/" + path
        while absolute.utf8.count > 1, absolute.utf8.last == UInt8(ascii: "/") { absolute.removeLast() }
        guard absolute != "/" else { throw JournalError(.invalidPath, path: path) }
        return absolute
    }

    /// Opens the suite's directory, creating it and its parents as needed.
    static func openDirectory(_ path: String, calls: SystemCalls) throws(JournalError) -> OwnedDescriptor {
        for _ in 0..<8 {
            do throws(JournalError) {
                let directory = try calls.open(path, .directory, path: path)
                let status = try calls.status(directory.raw, path: path)
                guard status.isDirectory else { throw JournalError(.notADirectory, path: path) }
                guard status.owner == SystemCalls.user else { throw JournalError(.notOwned, path: path) }
                return directory
            } catch  where error.isNotFound {
                try makeDirectory(path, calls: calls)
            } catch  where error.isWrongType {
                throw JournalError(.notADirectory, path: path)
            }
        }
        throw JournalError(.unstable, path: path)
    }

    /// Creates a directory and its missing parents durably.
    static func makeDirectory(_ path: String, calls: SystemCalls) throws(JournalError) {
        let parent = parent(of: path)
        do throws(JournalError) {
            try calls.makeDirectory(path)
        } catch  where error.isExisting {
            return
        } catch  where error.isNotFound && parent != path {
            try makeDirectory(parent, calls: calls)
            do throws(JournalError) {
                try calls.makeDirectory(path)
            } catch  where error.isExisting {
                return
            }
        }
        try syncDirectory(at: parent, calls: calls)
    }

    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func syncDirectory(at path: String, calls: SystemCalls) throws(JournalError) {
        // A parent may be a link: the dot makes the system follow it.
        let directory = try calls.open(path + "/.", .directory, path: path)
        try calls.sync(directory.raw, path: path)
    }

    /// Opens the suite at a path and takes its file lock.
    ///
    /// - Parameters:
    ///   - openDirectory: The suite's open directory, if the caller has it already.
    ///   - path: The suite's absolute path.
    ///   - limit: Nanoseconds to wait for other processes.
    ///   - calls: The system calls.
    /// - Returns: The suite's directory with its lock held.
    /// - Throws: `busy`, or an error that names the unusable file and the reason.
    static func openLocked(
        directory openDirectory: consuming OwnedDescriptor?,
        path: String,
        waitingAtMost limit: UInt64,
        calls: SystemCalls
    ) throws(JournalError) -> SuiteDirectory {
        let wait = LockWait(atMost: limit)
        var opened = openDirectory
        for _ in 0..<64 {
            let directory: OwnedDescriptor
            if let taken = opened.take() {
                directory = taken
            } else {
                directory = try Self.openDirectory(path, calls: calls)
            }
            let status = try calls.status(directory.raw, path: path)
            let lockPath = path + "/" + lockName
            let lock: OwnedDescriptor
            do throws(JournalError) {
                lock = try calls.open(lockName, in: directory.raw, .create, path: lockPath)
            } catch  where error.isWrongType {
                throw JournalError(.notARegularFile, path: lockPath)
            } catch  where error.isNotFound {
                // The directory was removed after it was opened.
                continue
            }
            let lockStatus = try checkFile(lock.raw, path: lockPath, calls: calls)
            try take(lock.raw, hasPage: lockStatus.size >= UInt64(LockPage.size), wait, path: path, calls: calls)
            // The file or the directory may have been removed or replaced during the wait.
            guard try calls.status(of: lockName, in: directory.raw, path: lockPath)?.inode == lockStatus.inode,
                let current = try calls.status(of: path, path: path),
                current.device == status.device, current.inode == status.inode
            else { continue }
            let page = try openPage(lock.raw, path: lockPath, calls: calls)
            if page.waiters != .none { page.waiters = .none }
            let id = ID(device: status.device, inode: status.inode)
            return SuiteDirectory(directory: directory, id: id, lock: lock, lockInode: lockStatus.inode, page: page)
        }
        throw JournalError(.unstable, path: path)
    }

    /// Takes the lock of a file whose page isn't mapped yet.
    private static func take(
        _ lock: Int32,
        hasPage: Bool,
        _ wait: LockWait,
        path: String,
        calls: SystemCalls
    ) throws(JournalError) {
        while try !calls.tryLock(lock, path: path + "/" + lockName) {
            guard let pause = wait.pause else {
                throw JournalError(.busy(process: LockHolder.process(of: lock)), path: path)
            }
            if hasPage { LockPage.announceWaiter(in: lock, calls: calls) }
            Threads.sleep(nanoseconds: min(pause, 500_000))
        }
    }

    /// Accepts only a regular file of this user that has no other name.
    @discardableResult
    static func checkFile(_ descriptor: Int32, path: String, calls: SystemCalls) throws(JournalError) -> FileStatus {
        let status = try calls.status(descriptor, path: path)
        guard status.isRegular else { throw JournalError(.notARegularFile, path: path) }
        guard status.owner == SystemCalls.user else { throw JournalError(.notOwned, path: path) }
        // None: it was removed after it was opened.
        guard status.links <= 1 else { throw JournalError(.linked, path: path) }
        return status
    }

    /// Maps the shared page, after writing a blank one if the file has none.
    private static func openPage(_ lock: Int32, path: String, calls: SystemCalls) throws(JournalError) -> LockPage {
        let page = LockPage(mapping: try GuardedPages.shared.reserve(path: path), file: lock, calls: calls)
        do throws(JournalError) {
            try page.restore(path: path)
        } catch {
            GuardedPages.shared.release(page.mapping)
            throw error
        }
        return page
    }
}

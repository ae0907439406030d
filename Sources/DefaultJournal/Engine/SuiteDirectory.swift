/// A suite in the file system: its open directory, whose lock is the suite's.
///
/// It stays open as long as a journal in it may have to be flushed.
final class SuiteDirectory: @unchecked Sendable {
    static let journalName = "journal"
    /// Where a compaction writes, under the lock of this file.
    static let compactionName = "journal.new"
    /// Where a new or recovered journal is written, under the suite's lock.
    static let replacementName = "journal.fresh"
    static let damagedPrefix = "journal.damaged-"
    /// The file that is locked where directories can't be.
    static let lockName = "lock"

    private let directory: OwnedDescriptor
    let calls: SystemCalls
    let id: FileID
    /// Its path without links.
    let path: String
    /// The directory at the suite's path; another one if the journal there is a link to one in this directory.
    let entrance: FileID
    /// The status of the directory when it was opened.
    let status: FileStatus
    /// The status of its journal then, if there was one.
    private let journalStatus: FileStatus?
    /// When it was at its path, by ``Clock/monotonic()``.
    let openedAt: UInt64
    /// The file ``lockName``, if it is used; accessed under ``Journal/exclusive``.
    private var lockFile = OwnedDescriptor.none
    /// The descriptor that is locked; accessed as `lockFile` is.
    @exclusivity(unchecked) private(set) var lockedDescriptor: Int32

    /// Uses an open directory, if its owner lets this process do so.
    private init(
        _ directory: consuming OwnedDescriptor,
        at path: String,
        entrance: FileID? = nil,
        openedAt: UInt64,
        for purpose: Purpose,
        calls: SystemCalls
    ) throws(JournalError) {
        let status = try calls.status(directory.raw)
        guard status.isDirectory else { throw JournalError(.notADirectory, path: path) }
        guard status.isUsable(for: purpose) else { throw JournalError(.notOwned(owner: status.owner), path: path) }
        journalStatus = try calls.status(
            of: Self.journalName,
            in: directory.raw,
            followsLinks: purpose.followsAnyLink
        )
        self.status = status
        self.path = path
        self.entrance = entrance ?? status.id
        self.openedAt = openedAt
        self.calls = calls
        id = status.id
        lockedDescriptor = directory.raw
        self.directory = directory
    }

    var raw: Int32 { directory.raw }

    /// Whether the journal at the suite's path is a link to the one in this directory.
    var hasLinkedJournal: Bool { entrance != id }

    /// The purpose for which a process opens a suite's files, which decides whose they may be.
    enum Purpose {
        /// To change them: they must be this user's.
        case writing
        /// To read a suite that can't be written: this user's or root's, and if the user is root, anyone's.
        case reading
        /// To read all that can be read, behind any links.
        case inspecting

        var followsAnyLink: Bool { self == .inspecting }
    }
}

extension SuiteDirectory {
    func tryLock() throws(JournalError) -> Bool {
        do throws(JournalError) {
            return try calls.tryLock(lockedDescriptor)
        } catch  where error.isUnlockable && lockFile.raw < 0 {
            let opened = try createFile(Self.lockName)
            // Without a name it would be a lock of this process alone.
            guard opened.status.links == 1 else { throw JournalError(.unstable, path: Self.lockName) }
            lockedDescriptor = opened.file.raw
            lockFile = opened.file
            return try calls.tryLock(lockedDescriptor)
        } catch {
            throw error.withFileName(".")
        }
    }

    func unlock() { calls.unlock(lockedDescriptor) }
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
    static func open(_ path: String, calls: SystemCalls) throws(JournalError) -> SuiteDirectory {
        for _ in 0..<8 {
            do throws(JournalError) {
                return try openExisting(path, for: .writing, calls: calls)
            } catch  where error.isNotFound {
                try checkFolder(around: path, calls: calls)
                try makeDirectory(path, calls: calls)
            }
        }
        throw JournalError(.unstable, path: path)
    }

    /// Refuses to create files in a folder whose owner could not use them, as when root runs with the HOME of a user.
    ///
    /// A folder that is root's, or in which all users may create their own files, isn't refused.
    static func checkFolder(around path: String, calls: SystemCalls) throws(JournalError) {
        var folder = parent(of: path)
        while folder != parent(of: folder) {
            if let status = try calls.status(of: folder, followsLinks: true) {
                let isShared = status.owner == 0 || status.isSticky && status.isWritableByOthers
                if status.owner == SystemCalls.user || isShared { return }
                throw JournalError(.otherUsersFolder(owner: status.owner), path: folder)
            }
            folder = parent(of: folder)
        }
    }

    /// Creates a directory and its missing parents; ``syncNames(of:calls:)`` puts them on the disk.
    static func makeDirectory(_ path: String, calls: SystemCalls) throws(JournalError) {
        let parent = parent(of: path)
        do throws(JournalError) {
            try calls.makeDirectory(path)
        } catch  where error.isExisting {
            return
        } catch  where error.isNotFound && parent != path {
            try makeDirectory(parent, calls: calls)
            // Once: in /proc, whose directories can't be made, it isn't found either.
            do throws(JournalError) { try calls.makeDirectory(path) } catch  where error.isExisting {}
        }
    }

    /// Puts the names of a suite's directory and of those above it on the disk, if this user may have created them.
    ///
    /// Not only for directories that this process created: the one that did may have been killed since, or may have
    /// failed to do this.
    static func syncNames(of path: String, calls: SystemCalls) throws(JournalError) {
        var path = path
        while path != parent(of: path), let status = try calls.status(of: path), status.owner == SystemCalls.user {
            path = parent(of: path)
            let directory: OwnedDescriptor
            do throws(JournalError) {
                // A parent may be a link: the dot makes the system follow it.
                directory = try calls.open(path + "/.", .directory)
            } catch  where error.isReadOnlyPlace {
                // A directory that can't be read can't be synced either.
                return
            }
            // The root of a mounted file system has its name in another one.
            guard try calls.status(directory.raw).device == status.device else { return }
            try calls.syncNames(in: directory.raw, name: path)
        }
    }

    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Accepts only a regular file that has no other name, and that its owner lets this process use.
    private func checkFile(_ descriptor: Int32, for purpose: Purpose) throws(JournalError) -> FileStatus {
        let status = try calls.status(descriptor)
        guard status.isRegular else { throw JournalError(.notARegularFile) }
        guard status.isUsable(for: purpose) else { throw JournalError(.notOwned(owner: status.owner)) }
        // None: it was removed after it was opened.
        guard status.links <= 1 || purpose == .inspecting else { throw JournalError(.linked) }
        return status
    }

    /// Opens the suite's directory if it exists: nothing is created, changed, or locked.
    ///
    /// If the journal is a link, it is the directory in which that journal really is.
    static func openExisting(
        _ path: String,
        for purpose: Purpose = .inspecting,
        calls: SystemCalls
    ) throws(JournalError) -> SuiteDirectory {
        let now = Clock.monotonic()
        let found = try SuiteDirectory(
            openDirectory(path, for: purpose, calls: calls),
            at: path,
            openedAt: now,
            for: purpose,
            calls: calls
        )
        guard found.journalStatus?.isLink == true else { return found }
        let link = path + "/" + journalName
        let journal = try SuiteLink.follow(link, calls: calls)
        let folder = parent(of: journal)
        guard journal == folder + "/" + journalName else { throw JournalError(.linkRefused(.otherName), path: link) }
        return try SuiteDirectory(
            openDirectory(folder, for: purpose, calls: calls),
            at: folder,
            entrance: found.id,
            openedAt: now,
            for: purpose,
            calls: calls
        )
    }

    private static func openDirectory(
        _ path: String,
        for purpose: Purpose,
        calls: SystemCalls
    ) throws(JournalError) -> OwnedDescriptor {
        do throws(JournalError) {
            if purpose.followsAnyLink { return try calls.open(path, .linkedDirectory) }
            do throws(JournalError) {
                return try calls.open(path, .directory)
            } catch  where error.isWrongType {
                guard try calls.status(of: path)?.isLink == true else { throw error }
                return try calls.open(SuiteLink.follow(path, calls: calls), .directory)
            }
        } catch  where error.isWrongType {
            throw JournalError(.notADirectory, path: path)
        } catch  where error.isReadOnlyPlace {
            throw try naming(error, path: path, calls: calls)
        }
    }

    /// A refusal, with the owner of the folder that refuses, if it is another user's.
    private static func naming(
        _ refusal: JournalError,
        path: String,
        calls: SystemCalls
    ) throws(JournalError) -> JournalError {
        var path = path
        while path != parent(of: path) {
            do throws(JournalError) {
                guard let status = try calls.status(of: path, followsLinks: true) else { return refusal }
                return status.owner == SystemCalls.user
                    ? refusal : JournalError(.notOwned(owner: status.owner), path: path)
            } catch  where error.isReadOnlyPlace {
                // It is in the folder that refuses, or below.
                path = parent(of: path)
            }
        }
        return refusal
    }

    /// Opens the journal in the directory; nil when there is none.
    func openJournal(for purpose: Purpose) throws(JournalError) -> OpenedFile? {
        let file: OwnedDescriptor
        do throws(JournalError) {
            let access: SystemCalls.Access =
                switch purpose {
                case .writing: .readWrite
                case .reading: .read
                case .inspecting: .linkedFile
                }
            file = try calls.open(Self.journalName, in: raw, access)
        } catch  where error.isNotFound {
            return nil
        } catch  where error.isWrongType {
            throw JournalError(.notARegularFile)
        }
        return OpenedFile(status: try checkFile(file.raw, for: purpose), file: file)
    }

    /// Opens another file in the directory for writing, which processes share by its lock, creating it if there is
    /// none.
    func createFile(_ name: String) throws(JournalError) -> OpenedFile { try open(name, .create) }

    /// Opens another file in the directory for writing.
    func openFile(_ name: String) throws(JournalError) -> OpenedFile { try open(name, .readWrite) }

    /// Creates another file in the directory, in place of one of the same name.
    ///
    /// The file is new: otherwise another user who may write to the directory could make this process write to a file
    /// that has another name.
    func createNewFile(_ name: String) throws(JournalError) -> OpenedFile {
        do throws(JournalError) {
            return try open(name, .createNew)
        } catch  where error.isExisting {
            do throws(JournalError) {
                try calls.unlink(name, in: raw)
            } catch {
                throw error.isDirectory ? JournalError(.notARegularFile, path: name) : error
            }
            return try open(name, .createNew)
        }
    }

    private func open(_ name: String, _ access: SystemCalls.Access) throws(JournalError) -> OpenedFile {
        do throws(JournalError) {
            let file = try calls.open(name, in: raw, access)
            let status = try checkFile(file.raw, for: .writing)
            if !status.allowsOwner(0o600) { try calls.allowOwner(file.raw) }
            return OpenedFile(status: status, file: file)
        } catch {
            throw error.isWrongType ? JournalError(.notARegularFile, path: name) : error.withFileName(name)
        }
    }

    /// Refuses a suite without the permission to write its directory or its journal; the path is what the refusal
    /// names.
    ///
    /// In such a directory compactions could create no file: its files could be written even so, but the journal could
    /// grow without limit.
    func checkPermissions(at path: String) throws(JournalError) {
        if !status.isWritableByUser { throw .noPermission(path: path) }
        if let journalStatus, journalStatus.owner == SystemCalls.user, !journalStatus.isWritableByUser {
            throw .noPermission(path: path + "/" + Self.journalName)
        }
    }
}

struct OpenedFile: ~Copyable {
    let status: FileStatus
    let file: OwnedDescriptor
}

extension FileStatus {
    var id: FileID { FileID(device: device, inode: inode) }

    func isUsable(for purpose: SuiteDirectory.Purpose) -> Bool {
        switch purpose {
        case .writing: owner == SystemCalls.user
        case .reading: owner == SystemCalls.user || owner == 0 || SystemCalls.user == 0
        case .inspecting: true
        }
    }

    /// Whether the file's permissions let this process write, if the file is its own user's.
    var isWritableByUser: Bool { isWritableByOwner || SystemCalls.user == 0 }
}

/// Identifies a file or directory, however its path is spelled.
struct FileID: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
}

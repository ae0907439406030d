// Opening a suite to look at it: nothing is created, changed, or locked.
extension SuiteDirectory {
    /// Opens the suite's directory if it exists.
    ///
    /// Unlike ``openDirectory(_:calls:)`` this accepts another user's directory when this process is root's.
    static func openForReading(_ path: String, calls: SystemCalls) throws(JournalError) -> OwnedDescriptor {
        let directory: OwnedDescriptor
        do throws(JournalError) {
            directory = try calls.open(path, .directory, path: path)
        } catch  where error.isWrongType {
            throw JournalError(.notADirectory, path: path)
        }
        let status = try calls.status(directory.raw, path: path)
        guard status.isDirectory else { throw JournalError(.notADirectory, path: path) }
        guard status.isReadableByUser else { throw JournalError(.notOwned, path: path) }
        return directory
    }

    /// Opens the journal in an open directory.
    static func openJournalForReading(
        in directory: Int32,
        path: String,
        calls: SystemCalls
    ) throws(JournalError) -> OwnedDescriptor {
        let journal: OwnedDescriptor
        do throws(JournalError) {
            journal = try calls.open(journalName, in: directory, .read, path: path)
        } catch  where error.isWrongType {
            throw JournalError(.notARegularFile, path: path)
        }
        let status = try calls.status(journal.raw, path: path)
        guard status.isRegular else { throw JournalError(.notARegularFile, path: path) }
        guard status.isReadableByUser else { throw JournalError(.notOwned, path: path) }
        guard status.links <= 1 else { throw JournalError(.linked, path: path) }
        return journal
    }

    /// A suite without a lock, and with a page that no other process sees and nothing is ever stored to.
    static func withoutLock(
        _ directory: consuming OwnedDescriptor,
        path: String,
        calls: SystemCalls
    ) throws(JournalError) -> SuiteDirectory {
        let status = try calls.status(directory.raw, path: path)
        let id = ID(device: status.device, inode: status.inode)
        let page = LockPage(mapping: try GuardedPages.shared.reserveZeros(path: path), file: -1, calls: calls)
        return SuiteDirectory(directory: directory, id: id, lock: .none, lockInode: 0, page: page)
    }

    /// What the page in the file `lock` says, read without taking the lock; nil when there is none, or when it is being
    /// changed.
    ///
    /// The journal that it is about must be opened before: then the file has every byte that the page says is committed.
    static func readPage(
        in directory: Int32,
        path: String,
        calls: SystemCalls
    ) throws(JournalError) -> LockPage.Publication? {
        let lockPath = path + "/" + lockName
        let lock: OwnedDescriptor
        do throws(JournalError) {
            lock = try calls.open(lockName, in: directory, .read, path: lockPath)
        } catch  where error.isNotFound || error.isWrongType || error.isReadOnlyPlace {
            // It is of use only if the journal is damaged.
            return nil
        }
        guard try calls.status(lock.raw, path: lockPath).isReadableByUser else { return nil }
        for _ in 0..<8 {
            let page = try FileBytes(reading: 0..<UInt64(LockPage.size), of: lock.raw, calls: calls, path: lockPath)
            if let publication = LockPage.publication(in: page.buffer) { return publication }
        }
        return nil
    }
}

extension FileStatus {
    /// Whether this process reads the file's content: its own user's, and as root every user's.
    var isReadableByUser: Bool { owner == SystemCalls.user || SystemCalls.user == 0 }

    /// Whether the file's permissions let this process write, if the file is its own user's.
    var isWritableByUser: Bool { isWritableByOwner || SystemCalls.user == 0 }
}

extension Journal {
    /// Writes the live entries to a new journal, which replaces the old one.
    package func compact() throws(JournalError) {
        defer { deliverReports() }
        try located { () throws(JournalError) in
            if hasExclusiveAccess {
                // Inside exclusive access the order of the locks allows only the simple way, which blocks all writers.
                guard try stateLock.withLock({ () throws(JournalError) in try compareIdentity() }) == .same else {
                    throw JournalError(.replaced, path: path)
                }
                return try replaceJournal(by: entries, isSame: true)
            }
            compaction.lock()
            defer { compaction.unlock() }
            // What is there is checked too.
            try withFilesLocked(compares: true) {}
            try compactFiles(limit: options.lockTimeout, isAsked: true)
        }
    }

    /// Bytes that a journal may have beside twice those of its live entries.
    static let slack: UInt64 = 512 << 10

    /// With exclusive access: whether the journal is about to be larger than its bound.
    ///
    /// The compaction begins a little earlier, so that it has usually ended when the bound is reached.
    var needsCompaction: Bool {
        let live = entries.journalSize
        return state.position > live + live / 10 * 7 + Self.slack / 5 * 4 && options.automaticMaintenance
            && state.position >= writer.compactionRetrySize
    }

    func scheduleCompaction() {
        guard !isCompactionScheduled.exchange(true) else { return }
        if !worker.compact(self) { isCompactionScheduled.store(false) }
    }

    func compactInBackground() {
        defer { deliverReports() }
        compaction.lock()
        defer { compaction.unlock() }
        isCompactionScheduled.store(false)
        do throws(JournalError) {
            try compactFiles(limit: options.lockTimeout, isAsked: false)
        } catch  where error.kind == .replaced || error.kind == .forked {
            // There is nothing left to compact.
        } catch  where error.isBusy || error.kind == .overwritten {
            // The next write sees the need again.
        } catch {
            exclusive.lock()
            writer.compactionRetrySize = stateLock.withLock { state.position * 2 }
            exclusive.unlock()
            note(.compactionFailed(error.located(in: path)))
        }
    }

    /// How long a tail may be that is copied while writers wait.
    private static let shortTail: UInt64 = 64 << 10

    /// Compacts if there is need; writers wait while what they have just written is copied and synced.
    ///
    /// If it is asked for, it compacts in any case, and waits for another process that is compacting already. If it
    /// throws, the journal is unchanged.
    private func compactFiles(limit: UInt64, isAsked: Bool) throws(JournalError) {
        if isForked { throw JournalError(.forked, path: path) }
        let need = try withFilesLocked(followsPath: isAsked, waitingAtMost: limit) { () throws(JournalError) in
            isAsked || needsCompaction ? (file: state.file, end: state.position, directory: suite) : nil
        }
        guard let need else { return }
        do throws(JournalError) {
            guard let file = try openCompactionTarget(in: need.directory, waits: isAsked) else { return }
            var table = EntryTable()
            var window = try FileWindow(of: need.file.raw, to: need.end, calls: calls)
            let header = try JournalHeader.read(&window)
            let report = try table.replay(window, salt: need.file.salt)
            guard report.isClean, report.validEnd == need.end,
                header == .valid(JournalHeader(salt: need.file.salt), damage: [])
            else {
                return try reloadDamaged(need.file, followsPath: isAsked)
            }
            let fresh = try NewJournal(file, named: SuiteDirectory.compactionName, in: need.directory)
            try fresh.append(table)
            var copied = need.end
            guard try synchronize(fresh, with: need.file, copied: &copied) else {
                return try reloadDamaged(need.file, followsPath: isAsked)
            }
            try withFilesLocked(followsPath: isAsked, waitingAtMost: limit) { () throws(JournalError) in
                guard state.file === need.file else { return }
                guard try copyTail(of: need.file, from: copied, to: state.position, into: fresh) else {
                    return try reloadDamaged(need.file, followsPath: isAsked)
                }
                try exchange(for: fresh, isSame: true)
                writer.compactionRetrySize = 0
                calls.unlock(fresh.file.raw)
            }
        } catch {
            throw try explained(error, from: need.directory).about(SuiteDirectory.compactionName)
        }
        // A flush that needs the name on the disk sooner syncs it as well.
        let used = current.file
        if used !== need.file { try syncRename(of: used) }
    }

    /// Syncs the new file, and copies what is written meanwhile, until little is left.
    ///
    /// - Returns: Whether what is written meanwhile is whole.
    private func synchronize(
        _ fresh: NewJournal,
        with file: JournalFile,
        copied: inout UInt64
    ) throws(JournalError) -> Bool {
        for _ in 0..<16 {
            // From here on a flush may promise what isn't in the new file yet.
            try file.set(.isFlushed, to: false, calls: calls)
            var known = current
            guard known.file === file else { return true }
            guard try copyTail(of: file, from: copied, to: known.position, into: fresh) else { return false }
            copied = known.position
            try fresh.sync()
            known = current
            if known.file !== file || known.position - copied <= Self.shortTail { return true }
        }
        return true
    }

    /// - Returns: Whether the tail is whole; a part of it is copied if not.
    private func copyTail(
        of file: JournalFile,
        from start: UInt64,
        to end: UInt64,
        into fresh: NewJournal
    ) throws(JournalError) -> Bool {
        let window = try FileWindow(of: file.raw, to: end, calls: calls)
        var replay = Replay(window, from: start, salt: file.salt, stopsAtDamage: true)
        while let payload = try replay.next() {
            var cursor = 0
            // A compaction that failed has left "moved".
            if Operation.parse(payload, at: &cursor)?.move == nil { try fresh.append(payload: payload) }
        }
        try fresh.finish()
        return replay.report.validEnd == end
    }

    /// Opens the file that compactions write to and takes its lock, which the system releases if the process is killed.
    private func openCompactionTarget(
        in directory: SuiteDirectory,
        waits: Bool
    ) throws(JournalError) -> OwnedDescriptor? {
        let name = SuiteDirectory.compactionName
        let wait = LockWait(limit: options.lockTimeout)
        for _ in 0..<64 {
            let opened = try directory.createFile(name)
            while try !calls.tryLock(opened.file.raw) {
                guard waits else { return nil }
                guard let pause = wait.pause else {
                    throw JournalError(.busy(process: LockHolder.process(of: opened.file.raw)), path: path)
                }
                Threads.sleep(nanoseconds: pause)
            }
            // During the wait the file may have become the journal. Name and count of names are looked up at once: a
            // file that has this name alone isn't another program's.
            guard let status = try calls.status(of: name, in: directory.raw), status.id == opened.status.id else {
                continue
            }
            guard status.links == 1 else { throw JournalError(.linked, path: name) }
            // ext4 flushes a file that was truncated to zero when it is closed, even if it has no name any more. A file
            // that is new needs no truncation and avoids this flush when it is replaced later.
            if status.size > 0 { try calls.truncate(opened.file.raw, to: 0) }
            return opened.file
        }
        throw JournalError(.unstable)
    }

    /// Backs up and reports damage that a compaction found, which would disappear with the old file.
    ///
    /// Unless the path is followed, it is a failure that another process has just repaired it.
    private func reloadDamaged(_ file: JournalFile, followsPath: Bool) throws(JournalError) {
        try withFilesLocked(followsPath: followsPath) { () throws(JournalError) in
            guard state.file === file else { return }
            if state.reportedDamage == file.salt {
                // There was no room for a copy.
                writer.compactionRetrySize = state.position * 2
            } else {
                try reload()
            }
        }
    }
}

/// A journal that is about to be complete, with one record for each entry; written in large pieces.
final class NewJournal {
    let file: JournalFile
    /// Its name until then.
    let name: String
    private let calls: SystemCalls
    private var buffer: Buffer
    private var filled = JournalHeader.size
    private var written: UInt64 = 0
    /// The end when it was last synced.
    private(set) var syncedEnd: UInt64 = 0
    private static let capacity = 1 << 17

    /// Starts with a header, in an open file without content.
    init(_ file: consuming OwnedDescriptor, named name: String, in directory: SuiteDirectory) throws(JournalError) {
        calls = directory.calls
        let id = try calls.status(file.raw).id
        self.file = JournalFile(file, in: directory, id: id, salt: UInt64.random(in: 1...UInt64.max))
        self.name = name
        buffer = try Buffer(capacity: Self.capacity)
        JournalHeader(salt: self.file.salt).encode(to: buffer.memory)
    }

    /// Writes a journal with these entries beside the one that is in use, and syncs it.
    static func make(of table: borrowing EntryTable, in directory: SuiteDirectory) throws(JournalError) -> NewJournal {
        let name = SuiteDirectory.replacementName
        do throws(JournalError) {
            let opened = try directory.createNewFile(name)
            let journal = try NewJournal(opened.file, named: name, in: directory)
            try journal.append(table)
            try journal.sync()
            return journal
        } catch {
            throw error.about(name)
        }
    }

    var end: UInt64 { written + UInt64(filled) }

    var isEmpty: Bool { end == UInt64(JournalHeader.size) }

    func append(_ table: borrowing EntryTable) throws(JournalError) {
        try table.forEach { entry throws(JournalError) in
            let operation = Operation.set(key: entry.key, value: entry.value)
            try append(operation.encodedSize) { operation.encode(to: $0) }
        }
    }

    func append(payload: UnsafeRawBufferPointer) throws(JournalError) {
        try append(payload.count) { target in
            if let source = payload.baseAddress { target.copyMemory(from: source, byteCount: payload.count) }
        }
    }

    func finish() throws(JournalError) {
        try calls.write(UnsafeRawBufferPointer(start: buffer.memory, count: filled), to: file.raw, at: written)
        written += UInt64(filled)
        filled = 0
    }

    func sync() throws(JournalError) {
        try finish()
        try calls.sync(file.raw)
        syncedEnd = end
    }

    private func append(_ payload: Int, encode: (UnsafeMutableRawPointer) -> Void) throws(JournalError) {
        let size = Record.headerSize + payload + 2 * Record.alignment
        if filled + size > Self.capacity {
            try finish()
            try buffer.resize(to: max(size, Self.capacity))
        }
        let start = buffer.memory + filled
        encode(start + Record.headerSize)
        // The salt is new, so that no other journal has these bytes.
        filled += Record.seal(start, number: 0, payload: payload, salt: file.salt, offset: end)
    }
}

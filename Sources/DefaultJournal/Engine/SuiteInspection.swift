/// What a look at a suite's files found.
package struct SuiteInspection: Sendable, Hashable {
    /// The backup of a damaged journal.
    package struct DamagedCopy: Sendable, Hashable {
        /// The file's name in the suite's directory.
        package var name: String
        /// Its size.
        package var bytes: UInt64
    }

    /// The journal's format; nil when no header can be read.
    package var formatVersion: UInt32?
    /// The journal's size.
    package var fileBytes: UInt64 = 0
    /// The size of a journal that has only the live entries.
    package var liveBytes = UInt64(JournalHeader.size)
    /// Valid records.
    package var records = 0
    /// Live entries, with the library's own.
    package var entries = 0
    /// Live entries, without the library's own.
    package var settings = 0
    /// The parts of the journal that can't be used.
    package var damage: [Range<UInt64>] = []
    /// Bytes of an append that was cut short, at the journal's end.
    package var tornBytes: UInt64 = 0
    /// Bytes behind the journal's end that were committed.
    package var missingBytes: UInt64 = 0
    /// The backups of damaged journals, by name.
    package var damagedCopies: [DamagedCopy] = []
    /// Whether the records can be read: not those of a later format, nor those of a journal whose salt is lost.
    package var isReadable = true
}

extension Journal {
    /// Looks at a suite's files, without opening it: takes no lock, and changes and creates nothing.
    ///
    /// - Parameters:
    ///   - path: The suite's directory.
    ///   - calls: The system calls.
    /// - Returns: What was found. While programs write to the suite, that is its state at some time during the call.
    /// - Throws: Why the files can't be read.
    package static func inspect(
        at path: String,
        calls: SystemCalls = SystemCalls()
    ) throws(JournalError) -> SuiteInspection {
        let path = try SuiteDirectory.absolutePath(path, calls: calls)
        let directory = try SuiteDirectory.openForReading(path, calls: calls)
        var found = SuiteInspection()
        for _ in 0..<8 {
            found = SuiteInspection()
            let isStable = try inspectJournal(in: directory.raw, path: path, calls: calls, &found)
            // While it changes, what a writer takes back may look like damage.
            if isStable || found.damage.isEmpty { break }
        }
        for name in try calls.names(in: directory.raw, path: path) where name.hasPrefix(SuiteDirectory.damagedPrefix) {
            guard let status = try calls.status(of: name, in: directory.raw, path: path + "/" + name) else { continue }
            found.damagedCopies.append(.init(name: name, bytes: status.size))
        }
        found.damagedCopies.sort { $0.name < $1.name }
        return found
    }

    /// - Returns: Whether the journal didn't change meanwhile.
    private static func inspectJournal(
        in directory: Int32,
        path: String,
        calls: SystemCalls,
        _ found: inout SuiteInspection
    ) throws(JournalError) -> Bool {
        let journalPath = path + "/" + SuiteDirectory.journalName
        let file: OwnedDescriptor
        do throws(JournalError) {
            file = try SuiteDirectory.openJournalForReading(in: directory, path: journalPath, calls: calls)
        } catch  where error.isNotFound {
            let page = try SuiteDirectory.readPage(in: directory, path: path, calls: calls)
            found.missingBytes = page?.end ?? 0
            return true
        }
        // In this order: what the page says is committed is in the file then.
        let page = try SuiteDirectory.readPage(in: directory, path: path, calls: calls)
        let status = try calls.status(file.raw, path: journalPath)
        let size = status.size
        found.fileBytes = size
        guard size > 0 else {
            found.missingBytes = page?.end ?? 0
            return true
        }
        var replay = FileReplay(try FileWindow(of: file.raw, calls: calls, path: journalPath), size: size)
        var salt: UInt64?
        switch try replay.header() {
        case .valid(let header, let damage):
            found.formatVersion = JournalHeader.currentVersion
            found.damage = damage
            salt = header.salt
        case .newer(let version):
            found.formatVersion = version
            found.isReadable = false
            return true
        case .unusable:
            found.damage = [0..<min(size, UInt64(JournalHeader.size))]
            salt = page?.journalID
        }
        var entries = LiveEntries()
        let report = try replay.run(salt: salt ?? 0, visitor: &entries)
        if found.formatVersion == nil, report.records == 0 {
            found.damage = [0..<size]
            found.isReadable = false
        } else {
            found.damage += report.damage
            if let torn = report.tornTail { found.tornBytes = size - torn }
        }
        if let page, page.journalID == salt, page.end > size - found.tornBytes {
            // What was committed and is incomplete now isn't an append that was cut short.
            found.missingBytes = page.end - (size - found.tornBytes)
            found.tornBytes = 0
        }
        found.records = report.records
        found.entries = entries.count
        found.settings = entries.settingCount
        found.liveBytes = entries.liveBytes
        let after = try calls.status(file.raw, path: journalPath)
        return after.size == size && after.changed == status.changed
    }
}

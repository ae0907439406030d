import SimulatedKernel

// Programs other than the library's that change a suite.

/// The bytes of a file, which are freed with the object.
private final class Image {
    let bytes: UnsafeRawBufferPointer
    private let buffer: UnsafeMutableRawBufferPointer

    init(of file: Int32, calls: SystemCalls) throws(JournalError) {
        buffer = .allocate(byteCount: Int(try calls.size(of: file)), alignment: 8)
        bytes = UnsafeRawBufferPointer(rebasing: buffer[..<(try calls.read(into: buffer, from: file, at: 0))])
    }

    deinit { buffer.deallocate() }
}

/// Lets other tasks go on for a while.
private func pause() {
    for _ in 0..<sim_choose(120) { sim_step("other program") }
}

/// A program that makes a backup of the journal and restores it over the suite.
struct BackupProgram {
    private let calls = SystemCalls()

    /// Adds its process, which begins with the next step.
    ///
    /// - Parameter replacesDirectory: Whether it puts the backup into another directory, and renames that to the
    ///   suite's name.
    static func add(replacesDirectory: Bool) {
        Tasks.add(to: sim_add_process()) {
            do throws(JournalError) {
                try BackupProgram().perform(replacesDirectory: replacesDirectory)
            } catch {
                // There is no suite yet, or a failure was planned: then nothing is restored, or the result stays
                // uncertain.
            }
        }
    }

    private func perform(replacesDirectory: Bool) throws(JournalError) {
        pause()
        let suite = try calls.open(SimulatedProcess.path, .directory)
        let journal = try calls.open(SuiteDirectory.journalName, in: suite.raw, .read)
        let image = try Image(of: journal.raw, calls: calls)
        defer { withExtendedLifetime(image) {} }
        let bytes = image.bytes
        guard case .valid = JournalHeader.parse(bytes) else { return }
        if sim_choose(2) == 1 { waitForRename() } else { pause() }
        let name = "copy \(sim_process())"
        if replacesDirectory {
            try restoreDirectory(named: name, with: bytes)
        } else {
            try restoreFile(named: name, in: suite.raw, with: bytes)
        }
    }

    /// Returns soon after the engine has renamed a file over the journal, which it hasn't noted yet.
    private func waitForRename() {
        let count = run.renames
        for _ in 0..<500 where run.renames == count { Threads.sleep(nanoseconds: 1_000_000) }
    }

    private func restoreFile(
        named name: String,
        in suite: Int32,
        with bytes: UnsafeRawBufferPointer
    ) throws(JournalError) {
        try write(bytes, to: name, in: suite)
        run.history.noteRestoring()
        try calls.rename(name, to: SuiteDirectory.journalName, in: suite)
        try calls.sync(suite)
        run.history.noteRestored(JournalNumbers.read(bytes))
    }

    private func restoreDirectory(named name: String, with bytes: UnsafeRawBufferPointer) throws(JournalError) {
        let parent = try calls.open(SuiteDirectory.parent(of: SimulatedProcess.path), .directory)
        let path = SuiteDirectory.parent(of: SimulatedProcess.path) + "/" + name
        try calls.makeDirectory(path)
        let directory = try calls.open(path, .directory)
        try write(bytes, to: SuiteDirectory.journalName, in: directory.raw)
        try calls.sync(directory.raw)
        run.history.noteRestoring()
        try calls.rename("suite", to: "old " + name, in: parent.raw)
        // If the suite is written to in between, it gets a new directory, which fails this rename and stays.
        try calls.rename(name, to: "suite", in: parent.raw)
        try calls.sync(parent.raw)
        run.history.noteRestored(JournalNumbers.read(bytes))
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to name: String, in directory: Int32) throws(JournalError) {
        let file = try calls.open(name, in: directory, .createNew)
        try calls.write(bytes, to: file.raw, at: 0)
        try calls.sync(file.raw)
    }
}

/// A disk, or a program, that changes a byte of the journal, sometimes while a writer is killed.
struct DamagingProgram {
    private let calls = SystemCalls()

    static func add() {
        Tasks.add(to: sim_add_process()) {
            do throws(JournalError) {
                try DamagingProgram().perform()
            } catch {
                // There is no suite yet, or a failure was planned: then nothing is damaged.
            }
        }
    }

    private func perform() throws(JournalError) {
        pause()
        let suite = try calls.open(SimulatedProcess.path, .directory)
        let journal = try calls.open(SuiteDirectory.journalName, in: suite.raw, .readWrite)
        // The lock is released when the directory is closed.
        let leavesTail = sim_choose(2) == 1
        while leavesTail, try !calls.tryLock(suite.raw) { Threads.sleep(nanoseconds: 100_000) }
        let image = try Image(of: journal.raw, calls: calls)
        defer { withExtendedLifetime(image) {} }
        var records: [(range: Range<Int>, keys: [Int])] = []
        JournalNumbers.forEachRecord(in: image.bytes) { range, payload in
            var keys: [Int] = []
            Operation.forEach(in: payload) { operation in
                if case .set(let key, _, _) = operation { keys.append(number(ofKey: key)) }
            }
            records.append((range, keys))
        }
        // -1 stands for one of the header's two copies, of which the other one is enough.
        let choice = Int(sim_choose(UInt32(records.count) + 1)) - 1
        let (range, keys) = choice < 0 ? (0..<JournalHeader.copySize, []) : records[choice]
        guard range.upperBound <= image.bytes.count else { return }
        let offset = range.lowerBound + Int(sim_choose(UInt32(range.count)))
        var byte = image.bytes[offset] ^ UInt8(1 << sim_choose(8))
        run.history.noteDamage(of: keys)
        try withUnsafeBytes(of: &byte) { bytes in
            Result { () throws(JournalError) in try calls.write(bytes, to: journal.raw, at: UInt64(offset)) }
        }.get()
        if leavesTail, let last = records.last, last.range.upperBound == image.bytes.count {
            try leaveTail(like: last.range, in: image.bytes, of: journal.raw)
        }
    }

    /// Writes a part of a record behind the last one, which is as long.
    private func leaveTail(
        like last: Range<Int>,
        in bytes: UnsafeRawBufferPointer,
        of journal: Int32
    ) throws(JournalError) {
        guard case .valid(let header, _) = JournalHeader.parse(bytes) else { return }
        let start = UInt64(last.upperBound)
        // The page's end may ask for more padding than the last record has.
        var record = Array(bytes[last]) + [UInt8](repeating: 0, count: Record.alignment)
        let payload = Int(bytes.littleEndian(at: last.lowerBound + 4, as: UInt32.self))
        let size = record.withUnsafeMutableBytes { bytes in
            guard let memory = bytes.baseAddress else { return 0 }
            return Record.seal(memory, number: 0, payload: payload, salt: header.salt, offset: start)
        }
        let part = 1 + Int(sim_choose(UInt32(size) - 1))
        try record.withUnsafeBytes { bytes in
            Result { () throws(JournalError) in
                try calls.write(UnsafeRawBufferPointer(rebasing: bytes[..<part]), to: journal, at: start)
            }
        }.get()
    }
}

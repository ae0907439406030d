@testable import DefaultJournal
import JournalProbe

extension Journal {
    static func openTest(_ path: String, _ options: JournalOptions = JournalOptions()) throws -> Journal {
        try Journal.open(at: path, options: options)
    }

    /// All entries in one line, as the helper prints them.
    var listing: String {
        all.map { String(decoding: $0 + [UInt8(ascii: "=")] + $1, as: UTF8.self) }.sorted().joined(separator: ";")
    }

    /// The journal's salt, safe to read while the background thread may replace the journal.
    var currentID: UInt64 {
        stateLock.lock()
        defer { stateLock.unlock() }
        return state.file.salt
    }

    /// Makes a journal that has read nothing yet.
    static func unopened(
        _ suite: SuiteDirectory,
        at path: String,
        _ options: JournalOptions
    ) throws(JournalError) -> Journal {
        Journal(
            suite: suite,
            path: path,
            options: options,
            observer: nil,
            state: try JournalState(calls: options.calls),
            buffer: try Buffer(capacity: Writer.bufferSize)
        )
    }

    /// Whether everything that is committed is known to be on the disk.
    var isSynced: Bool {
        stateLock.lock()
        defer { stateLock.unlock() }
        return state.file.flusher.isSynced(to: state.position)
    }

    var hasFlushScheduled: Bool { isFlushScheduled.load() }

    func set(_ key: [UInt8], _ value: [UInt8], durability: JournalDurability = .background) throws(JournalError) {
        let outcome = key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                Result { () throws(JournalError) in try set(key: key, value: value) }
            }
        }
        _ = try outcome.get()
        if durability == .everyWrite { try synchronize() }
    }

    func set(_ key: String, _ value: [UInt8], durability: JournalDurability = .background) throws {
        try set(Array(key.utf8), value, durability: durability)
    }

    func set(_ key: String, _ value: String, durability: JournalDurability = .background) throws {
        try set(key, Array(value.utf8), durability: durability)
    }

    func remove(_ key: String) throws {
        let outcome = Array(key.utf8).withUnsafeBytes { key in
            Result { () throws(JournalError) in try remove(key: key) }
        }
        try outcome.get()
    }

    /// The number of changes of the entries so far.
    var changeCount: UInt64 {
        lockForReading()
        defer { unlockForReading() }
        return state.changeCount
    }

    subscript(bytes key: String) -> [UInt8]? {
        all[Array(key.utf8)]
    }

    subscript(key: String) -> String? {
        self[bytes: key].map { String(decoding: $0, as: UTF8.self) }
    }
}

extension JournalBatch {
    mutating func set(_ key: String, _ value: String) {
        var key = key
        var value = value
        key.withUTF8 { key in
            value.withUTF8 { value in set(key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(value)) }
        }
    }

    mutating func remove(_ key: String) {
        var key = key
        key.withUTF8 { remove(key: UnsafeRawBufferPointer($0)) }
    }
}

extension Journal {
    /// Makes the next access compare the files with those at the path, as after a second.
    func forgetComparison() {
        stateLock.lock()
        state.comparedAt = 0
        stateLock.unlock()
    }

    /// Makes the next write look for changes by other programs, as after a millisecond.
    func forgetLook() { stateLock.withLock { state.checkedAt = 0 } }

    /// Notes that the open files are those at the path, as after a comparison.
    func noteComparison() {
        stateLock.lock()
        state.comparedAt = Clock.monotonic()
        stateLock.unlock()
    }

    /// Calls a body just after a comparison, again if it took so long that a write in it may have compared once more.
    func justCompared<Result>(_ body: () throws -> Result) rethrows -> Result {
        while true {
            let start = Clock.monotonic()
            noteComparison()
            let result = try body()
            if Clock.monotonic() &- start < Self.writersInterval { return result }
        }
    }

    /// Whether a read could start now, also one that has changes to apply, without waiting for a thread that changes or
    /// reads the entries, which may be the calling one.
    var canBeRead: Bool {
        guard !stateLock.isHeld, let slot = stateLock.tryLockShared() else { return false }
        stateLock.unlockShared(slot)
        return true
    }

    /// Whether the journal's name may be missing on the disk.
    var isRenameUnsynced: Bool { words.map { $0.unsyncedNames > 0 } ?? true }

    /// Whether a sync of the journal has failed.
    var hasSyncFailed: Bool { words?.hasSyncFailed ?? true }

    private var words: JournalWords? {
        lockForReading()
        let file = state.file
        unlockForReading()
        do { return try file.words(calls: calls) } catch { return nil }
    }
}

/// The open files of a suite, and how much of the journal the entries reflect; guarded by ``Journal/stateLock``.
struct JournalState: ~Copyable {
    private(set) var file = JournalFile.none
    /// The end of the records that the entries reflect.
    private(set) var position: UInt64 = 0
    /// The size that the file has at least.
    private(set) var minimumSize: UInt64 = 0
    /// The word at the position; nil if it can't be mapped, so that each look asks for the file's size.
    private var word: AtomicWord?
    /// The fingerprint of the last record before the position, or of the header if there is none.
    private(set) var fingerprint: RecordFingerprint?
    /// The fingerprint of the file's header.
    private(set) var headerFingerprint: RecordFingerprint?
    /// The fingerprint of the last record when the file was last compared.
    ///
    /// A file that another program emptied right before a record was written to it has that record, and is as long as
    /// it was. It doesn't have this.
    var comparedFingerprint: RecordFingerprint?
    /// The journal that is about to replace this one, if the record before the position says so.
    ///
    /// With the lock there is none, since nobody else replaces it then; the thread that has "moved" written replaces it
    /// before it writes anything else.
    private(set) var successor: Successor?
    private var window: MappedWindow
    private let calls: SystemCalls

    /// When the files were last compared with those at the path, by ``Clock/monotonic()``.
    var comparedAt: UInt64 = 0 {
        didSet {
            checkedAt = comparedAt
            directory = nil
        }
    }
    /// When a writer last compared them, or found that directory and journal are as they were then.
    var checkedAt: UInt64 = 0
    /// The directory as it was when they were last compared; nil if that can't tell.
    var directory: DirectoryFingerprint?
    var changeCount: UInt64 = 0
    /// Whether the journal has to be repaired under the lock, or read again.
    var isDamaged = false
    /// Whether the entries were read from the open file after it was damaged, and so lack what other processes may have
    /// read before.
    var lacksRecords = false
    /// Whether it was overwritten by another program that may not have ended: no process writes before the file has
    /// stood still.
    var mayBeMidCopy = false
    /// When a reader last found that it isn't whole yet.
    var midCopySeenAt: UInt64 = 0
    var overwrittenDamage = OverwrittenDamage()
    /// When a reader last asked for the lock because of damage.
    var repairTriedAt: UInt64 = 0
    /// Why the suite can only be read, if that is so.
    var refusal: JournalError?
    /// The last failure to read, which is reported once.
    var failure: JournalError?
    /// The salt of the journal whose damage was reported and could not be repaired.
    var reportedDamage: UInt64?

    /// The damage of a journal that another program has overwritten.
    struct OverwrittenDamage {
        var ranges: [Range<UInt64>] = []
        /// Since when the ranges have been these, by ``Clock/monotonic()``.
        var since: UInt64 = 0
    }

    init(calls: SystemCalls) throws(JournalError) {
        window = try MappedWindow(calls: calls)
        self.calls = calls
    }

    /// The word at the position, as it is in the file now; 0 if nothing was written there.
    var wordAtEnd: UInt64 {
        if let word { return word.load() }
        return Self.wordBySize(of: file, at: position, calls: calls)
    }

    /// Whether nothing was written behind the position, and no other file is about to replace this one.
    var isCaughtUp: Bool { wordAtEnd == 0 && successor == nil }

    /// Notes that the entries reflect the open file up to another position.
    mutating func advance(to position: UInt64, fingerprint: RecordFingerprint, successor: Successor? = nil) {
        self.position = position
        minimumSize = position
        self.fingerprint = fingerprint
        self.successor = successor
        changeCount &+= 1
        mapWordAtEnd()
    }

    /// Notes that the entries reflect another file up to a position.
    mutating func use(
        _ file: JournalFile,
        position: UInt64,
        fingerprint: RecordFingerprint,
        headerFingerprint: RecordFingerprint,
        size: UInt64 = .max,
        successor: Successor? = nil
    ) {
        self.file = file
        self.headerFingerprint = headerFingerprint
        comparedFingerprint = fingerprint
        isDamaged = false
        lacksRecords = false
        mayBeMidCopy = false
        window.renew()
        advance(to: position, fingerprint: fingerprint, successor: successor)
        // A damaged file may end before the place for the next record, or be cut there by the process that has the
        // lock.
        minimumSize = min(position, size)
    }

    /// Notes that the next record follows bytes that can't be used.
    mutating func skip(to position: UInt64) {
        self.position = position
        minimumSize = position
        window.renew()
        mapWordAtEnd()
    }

    /// Notes that no other file has replaced the open one, nor is about to.
    mutating func forgetSuccessor() { successor = nil }

    /// Maps the file again, which may have lost and regained pages.
    mutating func remapWordAtEnd() {
        window.renew()
        mapWordAtEnd()
    }

    /// The fingerprint of the record before the position, as it is in the file now; nil if it isn't mapped.
    var mappedFingerprint: RecordFingerprint? {
        guard let fingerprint, let bytes = window.address(of: fingerprint.offset, count: RecordFingerprint.size) else {
            return nil
        }
        return RecordFingerprint(bytes, at: fingerprint.offset)
    }

    private mutating func mapWordAtEnd() { word = window.word(at: position, of: file.raw, calls: calls) }

    /// A look by the file's size, for which network file systems and FUSE ask their server.
    ///
    /// The size also differs while a tail is in flight, and behind one that was cut short: then the file is read. No
    /// property: the whole state would be copied at each look, to be passed to it.
    private static func wordBySize(of file: JournalFile, at position: UInt64, calls: SystemCalls) -> UInt64 {
        do throws(JournalError) {
            return try calls.size(of: file.raw) == position ? 0 : .max
        } catch {
            return .max
        }
    }
}

internal import DefaultJournal
internal import Foundation

/// The in-memory form of a value: `Data` and strings are ready to be returned, everything else is in its binary form.
enum StoredValue: Equatable, Sendable {
    case data(Data)
    /// A string whose UTF-8 is contiguous.
    case string(String)
    case encoded(Data)

    /// Creates a value from its bytes in the journal.
    init(_ bytes: UnsafeRawBufferPointer) {
        let tag = bytes.first.flatMap(PropertyListValue.Tag.init(rawValue:))
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch tag {
        case .data: self = .data(Data(rest))
        case .string: self = String(strictUTF8: rest).map { .string($0) } ?? .encoded(Data(bytes))
        default: self = .encoded(Data(bytes))
        }
    }

    /// Creates a value from the one that a caller passed.
    init(_ value: PropertyListValue) {
        switch value {
        case .data(let data):
            self.init(data)
        case .string(var string):
            string.makeContiguousUTF8()
            self = .string(string)
        default:
            self = .encoded(value.binaryForm)
        }
    }

    /// Creates a value from any `Data`.
    init(_ data: Data) {
        // A slice would retain the whole buffer.
        self = .data(data.startIndex == 0 ? data : Data(data))
    }

    /// The number of bytes in the journal.
    var byteCount: Int {
        switch self {
        case .data(let data): data.count + 1
        case .string(let string): string.utf8.count + 1
        case .encoded(let bytes): bytes.count
        }
    }

    /// Calls a body with the bytes for the journal: the first, which identifies the type, and the rest.
    func withBytes(
        _ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) throws(JournalError) -> Void
    ) throws(JournalError) {
        switch self {
        case .data(let data):
            try data.withUnsafeBytes { bytes in
                Result { () throws(JournalError) in try body(PropertyListValue.Tag.data.rawValue, bytes) }
            }.get()
        case .string(var string):
            try string.withUTF8 { utf8 in
                Result { () throws(JournalError) in
                    try body(PropertyListValue.Tag.string.rawValue, UnsafeRawBufferPointer(utf8))
                }
            }.get()
        case .encoded(let bytes):
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(JournalError) in
                    try body(bytes[0], UnsafeRawBufferPointer(rebasing: bytes[1...]))
                }
            }.get()
        }
    }

    /// Whether the value has these bytes in the journal.
    func hasBytes(_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .data(let data):
            tag == PropertyListValue.Tag.data.rawValue && data.withUnsafeBytes { $0.isSame(as: rest) }
        case .string(var string):
            tag == PropertyListValue.Tag.string.rawValue
                && string.withUTF8 { UnsafeRawBufferPointer($0).isSame(as: rest) }
        case .encoded(let bytes):
            bytes.count == rest.count + 1
                && bytes.withUnsafeBytes { bytes in
                    bytes[0] == tag && UnsafeRawBufferPointer(rebasing: bytes[1...]).isSame(as: rest)
                }
        }
    }

    /// The value; nil for bytes of a type that this version doesn't know.
    var value: PropertyListValue? {
        switch self {
        case .data(let data): .data(data)
        case .string(let string): .string(string)
        case .encoded(let bytes): PropertyListValue(binaryForm: bytes)
        }
    }

    /// Whether two values are the same bytes.
    ///
    /// Equal strings need not be: "é" has two forms.
    static func == (lhs: StoredValue, rhs: StoredValue) -> Bool {
        switch (lhs, rhs) {
        case (.data(let left), .data(let right)), (.encoded(let left), .encoded(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }
}

/// The entries of a suite.
///
/// The journal changes the entries under its lock, and readers hold the lock too; see `Journal.lockForReading()`.
final class SuiteIndex: JournalIndex, @unchecked Sendable {
    /// The entries by key, without the library's own.
    private(set) var entries: [StoreKey: StoredValue] {
        get { table.entries }
        _modify { yield &table.entries }
    }
    // The lock excludes overlapping accesses. Exclusivity checks would take a tenth of a read.
    @exclusivity(unchecked) private var table = EntryTable()
    /// The entries before the journal was read again; used under the lock.
    private var compared: [StoreKey: StoredValue] = [:]
    /// Whether a Foundation property list was imported.
    private(set) var hasImported = false

    /// The changes so far in the transaction of the thread with exclusive access; used only by that thread.
    var transaction: [StoreKey: StoredValue?]?

    /// The observers of the suite.
    let changes = ChangeHub()
    /// The changes by other processes that were not reported yet; used under the lock, while there are observers.
    private var changed = ChangedKeys()
    /// The unreported changes by threads of this process.
    ///
    /// Each thread reports its own before the call that made them returns.
    private var changedByThread: [UInt: ChangedKeys] = [:]
    /// Whether the thread with exclusive access is changing entries; used only by that thread.
    private var isWriting = false

    private let registered = Guarded<[StoreKey: PropertyListValue]>([:])

    /// The entry for a key.
    func entry(for key: StoreKey) -> StoredValue? {
        table.entry(for: key)
    }

    /// The key that marks a suite into which a property list was imported; no caller's key begins with NUL.
    static let importMark = "\0imported"

    func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int? {
        if key.first == 0 {
            defer { hasImported = true }
            return hasImported ? key.count + value.count : nil
        }
        noteChange(of: key)
        return entries.updateValue(StoredValue(value), forKey: StoreKey(key)).map { key.count + $0.byteCount }
    }

    /// The index of an entry in the dictionary, valid as long as no entry is added or removed.
    typealias Slot = Dictionary<StoreKey, StoredValue>.Index

    /// Stores a value that is already in memory, in the slot where the key was found.
    func insert(_ value: StoredValue, for key: StoreKey, at slot: Slot?) {
        if changes.isActive {
            changed.settle(now: entries)
            changedByThread[Threads.current, default: ChangedKeys()].insert(key.string)
        }
        if let slot {
            entries.values[slot] = value
        } else {
            entries[key] = value
        }
    }

    func remove(key: UnsafeRawBufferPointer) -> Int? {
        noteChange(of: key)
        return entries.removeValue(forKey: StoreKey(key)).map { key.count + $0.byteCount }
    }

    func removeAll() {
        if changes.isActive {
            noteChange { $0.begin(from: entries) }
        }
        entries = [:]
        hasImported = false
    }

    private func noteChange(of key: UnsafeRawBufferPointer) {
        if changes.isActive {
            noteChange { $0.insert(String(decoding: key, as: UTF8.self)) }
        }
    }

    private func noteChange(_ note: (inout ChangedKeys) -> Void) {
        if isWriting {
            changed.settle(now: entries)
            note(&changedByThread[Threads.current, default: ChangedKeys()])
        } else {
            note(&changed)
        }
    }

    /// Runs a body that changes entries on behalf of the calling thread, which has exclusive access.
    func withOwnChanges(_ body: () throws(JournalError) -> Void) throws(JournalError) {
        isWriting = true
        defer { isWriting = false }
        try body()
    }

    /// The changed keys that the calling thread has to report: its own changes, and those of other processes.
    ///
    /// Called under the lock.
    func takeChangedKeys() -> Set<String> {
        defer { changed = ChangedKeys() }
        let keys = changed.keys(now: entries)
        guard let own = changedByThread.removeValue(forKey: Threads.current) else {
            return keys
        }
        return keys.union(own.keys(now: entries))
    }

    func beginComparison() {
        compared = entries
    }

    func endComparison(limit: Int) -> [String] {
        defer { compared = [:] }
        guard limit > 0 else {
            return []
        }
        return Array(compared.filter { entries[$0.key] != $0.value }.keys.map(\.string).sorted().prefix(limit))
    }

    func prepare(forBytes count: Int) {
        // A setting takes about 160 bytes. With shorter ones the dictionary has to grow once or twice more.
        entries.reserveCapacity(count / 160)
    }

    func register(_ defaults: [StoreKey: PropertyListValue]) {
        registered.withLock { $0.merge(defaults) { _, new in new } }
    }

    func registeredValue(for key: StoreKey) -> PropertyListValue? {
        registered.withLock { $0[key] }
    }

    var registeredValues: [StoreKey: PropertyListValue] {
        registered.withLock { $0 }
    }
}

/// A dictionary in which a lookup doesn't copy a reference to it.
///
/// The reference count would move between the processors of threads that read at once, and would halve their throughput.
private struct EntryTable: ~Copyable {
    var entries: [StoreKey: StoredValue] = [:]

    borrowing func entry(for key: StoreKey) -> StoredValue? {
        entries[key]
    }
}

/// The changes in a suite since observers were last notified.
private struct ChangedKeys {
    private var keys: Set<String> = []
    /// The entries before the whole suite was re-read, because a re-read sets every key.
    private var before: [StoreKey: StoredValue]?

    mutating func insert(_ key: String) {
        if before == nil {
            keys.insert(key)
        }
    }

    mutating func begin(from entries: [StoreKey: StoredValue]) {
        before = before ?? entries
    }

    /// Determines the keys before entries change that aren't to be among them.
    mutating func settle(now entries: [StoreKey: StoredValue]) {
        if before != nil {
            keys = keys(now: entries)
            before = nil
        }
    }

    func keys(now entries: [StoreKey: StoredValue]) -> Set<String> {
        guard let before else {
            return keys
        }
        var keys = keys
        for (key, value) in entries where before[key] != value {
            keys.insert(key.string)
        }
        for key in before.keys where entries[key] == nil {
            keys.insert(key.string)
        }
        return keys
    }
}

extension StoreKey {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(unchecked: String(decoding: bytes, as: UTF8.self))
    }
}

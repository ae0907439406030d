internal import DefaultJournal
internal import Foundation

/// A value as a suite has it in memory: `Data` ready to be given out, everything else as the bytes that were stored.
enum StoredValue: Hashable, Sendable {
    case data(Data)
    case encoded(Data)

    /// Takes a value's bytes as the journal has them.
    init(_ bytes: UnsafeRawBufferPointer) {
        if bytes.first == PropertyListValue.Tag.data.rawValue {
            self = .data(Data(UnsafeRawBufferPointer(rebasing: bytes[1...])))
        } else {
            self = .encoded(Data(bytes))
        }
    }

    /// Takes a value as a caller gave it.
    init(_ value: PropertyListValue) {
        if case .data(let data) = value {
            self.init(data)
        } else {
            self = .encoded(value.binaryForm)
        }
    }

    /// Takes `Data`, whatever is in it.
    init(_ data: Data) {
        // A slice would keep all that it is a part of.
        self = .data(data.startIndex == 0 ? data : Data(data))
    }

    /// The number of bytes that the journal has.
    var byteCount: Int {
        switch self {
        case .data(let data): data.count + 1
        case .encoded(let bytes): bytes.count
        }
    }

    /// Calls a body with the bytes that the journal has: the first, which tells the type, and the others.
    func withBytes(
        _ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) throws(JournalError) -> Void
    ) throws(JournalError) {
        switch self {
        case .data(let data):
            try data.withUnsafeBytes { bytes in
                Result { () throws(JournalError) in try body(PropertyListValue.Tag.data.rawValue, bytes) }
            }.get()
        case .encoded(let bytes):
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(JournalError) in
                    try body(bytes[0], UnsafeRawBufferPointer(rebasing: bytes[1...]))
                }
            }.get()
        }
    }

    /// Whether these are the bytes that the journal has.
    func hasBytes(_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .data(let data):
            tag == PropertyListValue.Tag.data.rawValue && data.withUnsafeBytes { $0.isSame(as: rest) }
        case .encoded(let bytes):
            bytes.count == rest.count + 1
                && bytes.withUnsafeBytes { bytes in
                    bytes[0] == tag && UnsafeRawBufferPointer(rebasing: bytes[1...]).isSame(as: rest)
                }
        }
    }

    /// The value; nil for bytes of a kind that this version doesn't know.
    var value: PropertyListValue? {
        switch self {
        case .data(let data): .data(data)
        case .encoded(let bytes): PropertyListValue(binaryForm: bytes)
        }
    }
}

/// The entries of a suite.
///
/// The journal changes the entries under its lock, and readers hold that lock as well; see `Journal.lockForReading()`.
final class SuiteIndex: JournalIndex, @unchecked Sendable {
    // The locks above exclude overlapping accesses; checking for them in each access would be a tenth of a read.

    /// By key, without those that are the library's own.
    @exclusivity(unchecked) private(set) var entries: [StoreKey: StoredValue] = [:]
    /// Whether values of a Foundation property list were taken over.
    private(set) var hasImported = false

    /// What the transaction of the thread with exclusive access has changed so far; used by that thread only.
    var transaction: [StoreKey: StoredValue?]?

    /// Who wants to know of changes, and what has changed that they don't know of yet.
    let changes = ChangeHub()
    /// The changes that are to be told; used under the locks above, while somebody wants to know.
    private var changed = ChangedKeys()
    /// Those made by threads of this process, each of which tells of its own: before the call that made them returns.
    private var changedByThread: [UInt: ChangedKeys] = [:]
    /// Whether what changes now is changed by the thread with exclusive access, which alone uses this.
    private var isWriting = false

    private let registered = Guarded<[StoreKey: PropertyListValue]>([:])

    /// The key that marks a suite into which a property list was taken over; no caller's key begins with NUL.
    static let importMark = "\0imported"

    func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int? {
        if key.first == 0 {
            defer { hasImported = true }
            return hasImported ? key.count + value.count : nil
        }
        noteChange(of: key)
        return entries.updateValue(StoredValue(value), forKey: StoreKey(key)).map { key.count + $0.byteCount }
    }

    /// Where an entry is in the dictionary, as long as none is added or removed.
    typealias Slot = Dictionary<StoreKey, StoredValue>.Index

    /// Sets an entry to what is in memory already, at the place where the key was found.
    func enter(_ value: StoredValue, for key: StoreKey, at slot: Slot?) {
        if changes.isActive {
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

    /// The keys that are the calling thread's to tell of: its own changes, and other processes'.
    ///
    /// Called under the locks above.
    func takeChangedKeys() -> Set<String> {
        defer { changed = ChangedKeys() }
        let keys = changed.keys(now: entries)
        guard let own = changedByThread.removeValue(forKey: Threads.current) else {
            return keys
        }
        return keys.union(own.keys(now: entries))
    }

    func prepare(forBytes count: Int) {
        // Settings take some 160 bytes each; with shorter ones the dictionary grows once or twice more.
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

/// What has changed in a suite since observers were last told.
private struct ChangedKeys {
    private var keys: Set<String> = []
    /// The entries from before the whole suite was read anew, which says of every key that it was set.
    private var before: [StoreKey: StoredValue]?

    mutating func insert(_ key: String) {
        if before == nil {
            keys.insert(key)
        }
    }

    mutating func begin(from entries: [StoreKey: StoredValue]) {
        before = before ?? entries
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

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
    func withBytes(_ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Void) {
        switch self {
        case .data(let data): PropertyListValue.data(data).withBytes(body)
        case .string(let string): PropertyListValue.string(string).withBytes(body)
        case .encoded(let bytes):
            bytes.withUnsafeBytes { body($0[0], UnsafeRawBufferPointer(rebasing: $0[1...])) }
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

extension PropertyListValue {
    /// Calls a body with the bytes for the journal: the first, which identifies the type, and the rest.
    ///
    /// Without copies: each costs two changes of a count that all threads see.
    func withBytes(_ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Void) {
        switch self {
        case .data(let data): data.withUnsafeBytes { body(Tag.data.rawValue, $0) }
        case .string(var string): string.withUTF8 { body(Tag.string.rawValue, UnsafeRawBufferPointer($0)) }
        default:
            binaryForm.withUnsafeBytes { body($0[0], UnsafeRawBufferPointer(rebasing: $0[1...])) }
        }
    }
}

/// The entries of a suite.
///
/// The journal changes the entries under its lock, and readers hold the lock too; see `Journal.lockForReading()`. They are
/// kept as the bytes of the journal. The form in which a value is read is made when it is first read, and kept with the entry.
final class SuiteIndex: JournalIndex, @unchecked Sendable {
    // The lock excludes overlapping accesses. Exclusivity checks would take a tenth of a read.
    @exclusivity(unchecked) private var table = EntryTable {
        let form = $0.assumingMemoryBound(to: StoredValue.self)
        form.deinitialize(count: 1)
        form.deallocate()
    }
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

    private let registered = Guarded<[StoreKey: PropertyListValue]>([:])

    /// The form in which an entry's value is read, if it has been read.
    private static func form(of entry: EntryTable.Entry) -> UnsafeMutablePointer<StoredValue>? {
        entry.form?.assumingMemoryBound(to: StoredValue.self)
    }

    /// The key that marks a suite into which a property list was imported; no caller's key begins with NUL.
    static let importMark = "\0imported"

    /// Whether the library's own keys are all that there is.
    var isEmpty: Bool { table.count == 0 }

    /// Whether a key has a value, or none.
    func holds(_ value: StoredValue?, for key: StoreKey) -> Bool {
        guard let value else {
            return !contains(key)
        }
        var isSame = false
        key.withUTF8 { key in
            value.withBytes { isSame = holds(key: UnsafeRawBufferPointer(key), prefix: $0, value: $1) }
        }
        return isSame
    }

    /// Whether there is a value under a key.
    func contains(_ key: StoreKey) -> Bool {
        key.withUTF8 { table.entry(UnsafeRawBufferPointer($0)) != nil }
    }

    /// What is known of a key without changing anything.
    enum Reading {
        case value(StoredValue)
        case none
        /// The value hasn't been read yet: ``makeValue(for:)`` makes it.
        case unmade
    }

    /// The value for a key; any number of threads may call this at once.
    func read(_ key: StoreKey) -> Reading {
        key.withUTF8 { utf8 in
            guard let entry = table.entry(UnsafeRawBufferPointer(utf8)) else {
                return .none
            }
            return Self.form(of: entry).map { .value($0.pointee) } ?? .unmade
        }
    }

    /// The value for a key; called while no other thread reads.
    func makeValue(for key: StoreKey) -> StoredValue? {
        switch read(key) {
        case .value(let value): return value
        case .none: return nil
        case .unmade:
            return key.withUTF8 { utf8 in
                guard let entry = table.entry(UnsafeRawBufferPointer(utf8)) else {
                    return nil
                }
                let form = UnsafeMutablePointer<StoredValue>.allocate(capacity: 1)
                form.initialize(to: StoredValue(entry.value))
                entry.form = UnsafeMutableRawPointer(form)
                return form.pointee
            }
        }
    }

    /// All entries.
    var entries: [StoreKey: StoredValue] {
        var entries: [StoreKey: StoredValue] = [:]
        entries.reserveCapacity(table.count)
        table.forEach { entry in
            entries[StoreKey(entry.key)] = Self.form(of: entry)?.pointee ?? StoredValue(entry.value)
        }
        return entries
    }

    func holds(key: UnsafeRawBufferPointer, prefix: UInt8?, value: UnsafeRawBufferPointer) -> Bool {
        guard let entry = table.entry(key) else {
            return false
        }
        guard let prefix else {
            return entry.value.isSame(as: value)
        }
        return entry.value.first == prefix
            && UnsafeRawBufferPointer(rebasing: entry.value[1...]).isSame(as: value)
    }

    func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8?,
        value: UnsafeRawBufferPointer,
        from origin: ChangeOrigin
    ) -> Int? {
        if key.first == 0 {
            defer { hasImported = true }
            return hasImported ? key.count + value.count + (prefix == nil ? 0 : 1) : nil
        }
        noteChange(of: key, from: origin)
        return table.set(key, prefix: prefix, value)
    }

    func remove(key: UnsafeRawBufferPointer, from origin: ChangeOrigin) -> Int? {
        noteChange(of: key, from: origin)
        return table.remove(key)
    }

    func removeAll(from origin: ChangeOrigin) {
        if changes.isActive {
            noteChange(from: origin) { $0.begin(from: entries) }
        }
        table.removeAll()
        hasImported = false
    }

    private func noteChange(of key: UnsafeRawBufferPointer, from origin: ChangeOrigin) {
        if changes.isActive {
            noteChange(from: origin) { $0.insert(String(decoding: key, as: UTF8.self)) }
        }
    }

    private func noteChange(from origin: ChangeOrigin, _ note: (inout ChangedKeys) -> Void) {
        switch origin {
        case .thisThread:
            changed.settle(in: self)
            note(&changedByThread[Threads.current, default: ChangedKeys()])
        case .journal:
            note(&changed)
        }
    }

    /// The changed keys that the calling thread has to report: its own changes, and those of other processes.
    ///
    /// Called under the lock.
    func takeChangedKeys() -> Set<String> {
        defer { changed = ChangedKeys() }
        let keys = changed.keys(in: self)
        guard let own = changedByThread.removeValue(forKey: Threads.current) else {
            return keys
        }
        return keys.union(own.keys(in: self))
    }

    func beginComparison() {
        compared = entries
    }

    func endComparison(limit: Int) -> [String] {
        defer { compared = [:] }
        guard limit > 0 else {
            return []
        }
        let entries = entries
        return Array(compared.filter { entries[$0.key] != $0.value }.keys.map(\.string).sorted().prefix(limit))
    }

    func prepare(forBytes count: Int) {
        // A setting takes about 160 bytes. With shorter ones the table has to grow once or twice more.
        table.reserve(count / 160)
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
    mutating func settle(in index: SuiteIndex) {
        if before != nil {
            keys = keys(in: index)
            before = nil
        }
    }

    func keys(in index: SuiteIndex) -> Set<String> {
        guard let before else {
            return keys
        }
        let entries = index.entries
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

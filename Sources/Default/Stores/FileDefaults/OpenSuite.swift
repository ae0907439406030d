internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An open suite: its journal with the entries, and what else is known of it.
final class OpenSuite: Sendable {
    let journal: Journal
    let state: SuiteState

    init(journal: Journal, state: SuiteState) {
        self.journal = journal
        self.state = state
    }
}

/// What a process knows of an open suite beside its entries: observers, the changes that they have to learn of, a
/// transaction, and registered defaults.
final class SuiteState: JournalObserver, @unchecked Sendable {
    /// The changes so far in the transaction of the thread with exclusive access; used only by that thread.
    var transaction: [StoreKey: StoredValue?]?
    /// Whether the thread with exclusive access has promised that what it wrote is on the disk when the access has
    /// ended; used only by that thread.
    var owesFlush = false

    /// The observers of the suite.
    let changes = ChangeHub()
    /// The changes by other processes that were not reported yet; used under the journal's lock, while there are
    /// observers.
    private var changed: Set<String> = []
    /// The unreported changes by threads of this process.
    ///
    /// Each thread reports its own before the call that made them returns, or at the end of its exclusive access,
    /// during which it may change a key any number of times.
    private(set) var changedByThread: [UInt: Set<String>] = [:]

    private let registered = Locked<[StoreKey: PropertyListValue]>([:])

    var isObserving: Bool { changes.isActive }

    func noteChange(of key: UnsafeRawBufferPointer, by origin: ChangeOrigin) {
        // The library's own keys begin with NUL.
        guard key.first != 0 else { return }
        let key = String(decoding: key, as: UTF8.self)
        switch origin {
        case .thisThread: changedByThread[Threads.current, default: []].insert(key)
        case .journal: changed.insert(key)
        }
    }

    static func free(_ form: UnsafeMutableRawPointer) {
        let form = form.assumingMemoryBound(to: StoredValue.self)
        form.deinitialize(count: 1)
        form.deallocate()
    }

    /// The changed keys that the calling thread has to report: its own changes, and those of other processes.
    ///
    /// Called under the journal's lock.
    func takeChangedKeys() -> Set<String> {
        var keys = changed
        changed = []
        if let own = changedByThread.removeValue(forKey: Threads.current) { keys.formUnion(own) }
        return keys
    }

    /// Notes changes that the calling thread has to report, which are not the suite's own; called under the journal's
    /// lock.
    func noteChanges(of keys: Set<String>) { changedByThread[Threads.current, default: []].formUnion(keys) }

    func register(_ defaults: [StoreKey: PropertyListValue]) {
        registered.withLock { $0.replaceValues(with: defaults) }
    }

    func registeredValue(for key: StoreKey) -> PropertyListValue? { registered.withLock { $0[key] } }

    var registeredValues: [StoreKey: PropertyListValue] { registered.withLock { $0 } }
}

extension OpenSuite {
    /// The stored value for a key, including changes by this thread's transaction.
    func value(for key: StoreKey) -> PropertyListValue? {
        if journal.hasExclusiveAccess, let change = state.transaction?[key] {
            return change?.value
        }
        let token = journal.beginReading()
        let reading = journal.entries.read(key)
        journal.endReading(token)
        let value: PropertyListValue?
        switch reading {
        case .value(let stored): value = stored.value
        case .number(let number): value = number
        case .none: value = nil
        case .unmade:
            journal.lockForReading()
            let stored = journal.entries.makeValue(for: key)
            journal.unlockForReading()
            value = stored?.value
        }
        notifyChanges()
        return value
    }

    /// All stored values, including changes by this thread's transaction.
    var values: [StoreKey: PropertyListValue] {
        var values: [StoreKey: PropertyListValue] = [:]
        for (key, stored) in entries { values[key] = stored.value }
        return values
    }

    /// All keys, including changes by this thread's transaction.
    var keys: [String] {
        var keys: [String] = []
        for (key, _) in entries { keys.append(key.string) }
        return keys
    }

    // A list: a dictionary of another type takes three kilobytes.
    private var entries: [(key: StoreKey, value: StoredValue)] {
        let changes = journal.hasExclusiveAccess ? state.transaction ?? [:] : [:]
        var entries: [(key: StoreKey, value: StoredValue)] = []
        let token = journal.beginReading()
        journal.entries.forEach { entry in
            if let key = entry.storeKey, changes[key] == nil { entries.append((key, entry.storedValue)) }
        }
        journal.endReading(token)
        notifyChanges()
        for (key, change) in changes {
            if let change { entries.append((key, change)) }
        }
        return entries
    }

    /// Stores or removes a value, or adds the change to this thread's transaction.
    ///
    /// A value that is already stored is not written again. With `.everyWrite` the call, or the outermost exclusive
    /// access around it, still waits until the value has reached the disk.
    /// With a note other than 0, nothing is stored unless the value that is replaced has this note. Returns whether it
    /// is stored.
    func write(
        _ value: PropertyListValue?,
        for key: StoreKey,
        durability: FileDefaults.Durability,
        ifNoted note: UInt8 = 0
    ) throws(JournalError) -> Bool {
        if journal.hasExclusiveAccess, state.transaction != nil {
            if note != 0 { return false }
            let value = value.map { StoredValue($0) }
            // What the commit would refuse, the caller learns here.
            if let value { try JournalBatch.check(valueSize: value.byteCount, path: journal.path) }
            state.transaction?.updateValue(value, forKey: key)
            return true
        }
        guard let value else {
            try remove(key)
            if durability == .everyWrite { try promise() }
            return true
        }
        let isStored = try set(value, for: key, ifNoted: note)
        if isStored, durability == .everyWrite { try promise() }
        return isStored
    }

    /// Gives data a note, if it is what is stored under the key.
    func note(_ note: UInt8, _ data: Data, for key: StoreKey) {
        PropertyListValue.data(data).withBytes { tag, rest in
            key.withUTF8 { journal.note(note, key: UnsafeRawBufferPointer($0), prefix: tag, value: rest) }
        }
    }

    /// Puts what was written on the disk, within exclusive access at its end: no process waits for the disk.
    ///
    /// What is stored or removed already may not have reached the disk yet, and counts as written.
    func promise() throws(JournalError) {
        if journal.hasExclusiveAccess { state.owesFlush = true } else { try journal.synchronize() }
    }

    /// Ends exclusive access, and puts on the disk what was promised during it.
    func endExclusiveAccess() throws(JournalError) {
        let isPromised = state.owesFlush && journal.isOutermostAccess
        if isPromised { state.owesFlush = false }
        journal.endExclusiveAccess()
        notifyChanges()
        if isPromised { try journal.synchronize() }
    }

    private func set(
        _ value: PropertyListValue,
        for key: StoreKey,
        ifNoted note: UInt8
    ) throws(JournalError) -> Bool {
        var outcome = Result<Bool, JournalError>.success(false)
        value.withBytes { tag, rest in
            key.withUTF8 { utf8 in
                outcome = Result { () throws(JournalError) in
                    try journal.set(key: UnsafeRawBufferPointer(utf8), prefix: tag, value: rest, ifNoted: note)
                }
            }
        }
        return try outcome.get()
    }

    private func remove(_ key: StoreKey) throws(JournalError) {
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        // A key without a value needs no record.
        guard journal.entries.contains(key) else { return }
        try key.withUTF8 { key in
            Result { () throws(JournalError) in try journal.remove(key: UnsafeRawBufferPointer(key)) }
        }
        .get()
    }
}

extension OpenSuite {
    /// Notifies observers of the changes since they were last notified, made by any process.
    ///
    /// Called wherever the index may have been updated, after its locks are released, because observers may use the
    /// suite. During exclusive access it does nothing; the end of the access notifies observers.
    func notifyChanges() {
        guard state.changes.isActive, !journal.hasExclusiveAccess else { return }
        journal.lockForReading()
        let keys = state.takeChangedKeys()
        journal.unlockForReading()
        if !keys.isEmpty {
            state.changes.notify(keys)
        }
    }

    /// Notifies observers of what has changed in sources of the suite; nil if any key may have.
    func noteChange(ofSources keys: Set<String>?) {
        guard state.changes.isActive else { return }
        guard let keys else { return state.changes.notify(nil) }
        journal.lockForReading()
        state.noteChanges(of: keys)
        journal.unlockForReading()
        notifyChanges()
    }

    /// Calls a handler at each change of the suite, until the observation is cancelled, which keeps the suite open so
    /// long.
    ///
    /// The first observer of the suite in the process starts watching for writes by other processes, and the end of the
    /// last one stops it.
    func observe(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = state.changes.add(handler) { self.updateWatch() }
        updateWatch()
        // Here and not where it is reported: the handler of the event may observe this suite.
        journal.deliverReports()
        return observation
    }

    private func updateWatch() {
        state.changes.withRegistrationLock { isActive in
            if isActive {
                journal.startWatching { [weak self] in self?.notifyChanges() }
            } else {
                journal.stopWatching()
            }
        }
    }
}

extension FileDefaults {
    /// Whether the suite has observers in this process.
    package var isObserved: Bool { suite.current?.state.changes.isActive ?? false }
}

/// The in-memory form of a value: `Data` and strings are ready to be returned, everything else is in its binary form.
enum StoredValue: Sendable {
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
    ///
    /// Without copies: each costs two changes of a count that all threads see.
    func withBytes(_ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Void) {
        switch self {
        case .data(let data): data.withUnsafeBytes { body(PropertyListValue.Tag.data.rawValue, $0) }
        case .string(var string):
            string.withUTF8 { body(PropertyListValue.Tag.string.rawValue, UnsafeRawBufferPointer($0)) }
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
}

/// What a suite's entries are to the layers above.
///
/// The journal keeps the bytes. The form in which a value is read is made when it is first read, and kept with the
/// entry.
extension EntryTable {
    /// Whether there is a value under a key.
    func contains(_ key: StoreKey) -> Bool { key.withUTF8 { entry(UnsafeRawBufferPointer($0)) != nil } }

    /// Whether a key has a value, or none.
    func holds(_ value: StoredValue?, for key: StoreKey) -> Bool {
        guard let value else { return !contains(key) }
        var isSame = false
        key.withUTF8 { key in
            value.withBytes { isSame = holds(UnsafeRawBufferPointer(key), prefix: $0, $1) }
        }
        return isSame
    }

    /// What is known of a key without changing anything.
    enum Reading {
        case value(StoredValue)
        /// A number, a Boolean or a date, of which nothing but its bytes is kept.
        case number(PropertyListValue)
        case none
        /// The value hasn't been read yet: ``makeValue(for:)`` makes it.
        case unmade
    }

    /// The value for a key; any number of threads may call this at once.
    func read(_ key: StoreKey) -> Reading {
        key.withUTF8 { utf8 in
            guard let entry = entry(UnsafeRawBufferPointer(utf8)) else { return .none }
            if let form = entry.readForm { return .value(form.pointee) }
            return PropertyListValue(number: entry.value).map { .number($0) } ?? .unmade
        }
    }

    /// The value for a key; called while no other thread reads.
    func makeValue(for key: StoreKey) -> StoredValue? {
        key.withUTF8 { utf8 in
            guard let entry = entry(UnsafeRawBufferPointer(utf8)) else { return nil }
            if let form = entry.readForm { return form.pointee }
            let form = UnsafeMutablePointer<StoredValue>.allocate(capacity: 1)
            form.initialize(to: StoredValue(entry.value))
            entry.form = UnsafeMutableRawPointer(form)
            return form.pointee
        }
    }
}

extension EntryTable.Entry {
    /// The key; nil if it is the library's own: no caller's key begins with NUL.
    fileprivate var storeKey: StoreKey? {
        key.first == 0 ? nil : StoreKey(unchecked: String(decoding: key, as: UTF8.self))
    }

    /// The value, made now if it hasn't been read.
    fileprivate var storedValue: StoredValue { readForm?.pointee ?? StoredValue(value) }

    /// The form in which the value is read, if it has been read.
    fileprivate var readForm: UnsafeMutablePointer<StoredValue>? { form?.assumingMemoryBound(to: StoredValue.self) }
}

internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key and its value as bytes, for as long as the call lasts that passes them.
struct EntryBytes {
    let key: UnsafeRawBufferPointer
    /// The value's first byte, which identifies the type.
    let tag: UInt8
    let rest: UnsafeRawBufferPointer

    var storeKey: StoreKey { StoreKey(unchecked: String(decoding: key, as: UTF8.self)) }

    /// Calls a body with the bytes of a key and its value.
    @inline(__always)  // See Journal.acquire.
    static func of<Result>(_ key: String, _ value: PropertyListValue, _ body: (Self) -> Result) -> Result {
        value.withBytes { tag, rest in
            StoreKey(unchecked: key).withUTF8 { body(Self(key: UnsafeRawBufferPointer($0), tag: tag, rest: rest)) }
        }
    }
}

/// An open suite: its journal with the entries, and what else is known of it.
final class OpenSuite: Sendable {
    let journal: Journal
    let state: SuiteState

    init(journal: Journal, state: SuiteState) {
        self.journal = journal
        self.state = state
    }
}

extension OpenSuite {
    /// The stored value for a key, including changes by this thread's transaction.
    func value(for key: StoreKey) -> PropertyListValue? {
        if isInTransaction, let change = state.transaction?[key] {
            return change?.value
        }
        let token = journal.beginReading()
        let reading = entry(for: key)?.reading
        journal.endReading(token)
        let value: PropertyListValue?
        switch consume reading {
        case .value(let found): value = found
        case .encoded(let bytes): value = PropertyListValue(binaryForm: bytes)
        case .none: value = nil
        case .unmade:
            journal.lockForReading()
            let stored = entry(for: key)?.makeValue()
            journal.unlockForReading()
            value = stored?.value
        }
        notifyChanges()
        return value
    }

    /// The entry under a key, for as long as the journal allows; see ``Journal/entry(_:)``.
    private func entry(for key: StoreKey) -> EntryTable.Entry? {
        key.withUTF8 { journal.entry(UnsafeRawBufferPointer($0)) }
    }

    /// All stored values, including changes by this thread's transaction.
    var values: [StoreKey: PropertyListValue] {
        var values: [StoreKey: PropertyListValue] = [:]
        for (key, stored) in entries {
            values[key] = stored.value
        }
        return values
    }

    /// All keys, including changes by this thread's transaction.
    var keys: [String] {
        entries.map(\.key.string)
    }

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

    /// Whether this thread has begun a transaction.
    var isInTransaction: Bool { journal.hasExclusiveAccess && state.transaction != nil }

    /// Stores or removes a value, or adds the change to this thread's transaction.
    func store(
        _ value: PropertyListValue?,
        for key: StoreKey,
        durability: FileDefaults.Durability
    ) throws(JournalError) {
        if isInTransaction {
            let value = value.map { StoredValue($0) }
            // Refused here, so that the call throws and not the commit.
            if let value {
                try JournalBatch.check(valueSize: value.byteCount, path: journal.path)
            }
            state.transaction?.updateValue(value, forKey: key)
            // Whatever the object promises through which the transaction was begun.
            if durability == .everyWrite { state.owesFlush = true }
        } else if let value {
            _ = try EntryBytes.of(key.string, value) { entry in
                Result { () throws(JournalError) in try set(entry, durability: durability) }
            }
            .get()
        } else {
            try remove(key)
            if durability == .everyWrite { try promise() }
        }
    }

    /// Stores a value; not in a transaction.
    ///
    /// A value that is already stored is not written again. With `.everyWrite` the call, or the outermost exclusive
    /// access around it, still waits until the value has reached the disk. With a note other than 0, nothing is stored
    /// unless the value that is replaced has this note.
    ///
    /// - Returns: Whether the value is stored.
    @inline(__always)  // See Journal.acquire.
    func set(
        _ entry: EntryBytes,
        durability: FileDefaults.Durability,
        ifNoted note: UInt8 = 0
    ) throws(JournalError) -> Bool {
        assert(!isInTransaction)
        let isStored = try journal.set(key: entry.key, prefix: entry.tag, value: entry.rest, ifNoted: note)
        if isStored, durability == .everyWrite { try promise() }
        return isStored
    }

    /// Gives data a note, if it is what is stored under the key.
    func note(_ note: UInt8, _ data: Data, for key: StoreKey) {
        EntryBytes.of(key.string, .data(data)) { entry in
            journal.note(note, key: entry.key, prefix: entry.tag, value: entry.rest)
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

    /// Notifies observers of what has changed in sources of the suite.
    func noteChange(ofSources keys: Set<String>) {
        guard state.changes.isActive else { return }
        journal.lockForReading()
        state.noteChanges(of: keys)
        journal.unlockForReading()
        notifyChanges()
    }

    /// Calls a handler at each change of the suite, and keeps the suite open until the observation is cancelled.
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

internal import DefaultJournal

/// A process's state of an open suite beside its entries: observers, the changes that they have to be notified of, a
/// transaction, and registered defaults.
final class SuiteState: JournalObserver, @unchecked Sendable {
    /// The changes so far in the transaction of the thread with exclusive access; used only by that thread.
    @exclusivity(unchecked) var transaction: [StoreKey: StoredValue?]?
    /// Whether the thread with exclusive access has promised that what it wrote is on the disk when the access has
    /// ended; used only by that thread.
    @exclusivity(unchecked) var owesFlush = false

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

/// What this process has registered for its suites, by the paths of their directories: a suite that is opened again,
/// after the last object for it is gone, still has it.
enum RegisteredDefaults {
    private static let ofProcess = PerProcess { Locked<[String: [StoreKey: PropertyListValue]]>([:]) }

    static func ofSuite(at path: String) -> [StoreKey: PropertyListValue] {
        ofProcess.current.withLock { $0[path] ?? [:] }
    }

    static func add(_ defaults: [StoreKey: PropertyListValue], toSuiteAt path: String) {
        guard !defaults.isEmpty else { return }
        ofProcess.current.withLock { $0[path, default: [:]].replaceValues(with: defaults) }
    }
}

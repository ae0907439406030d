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

/// A suite that may not be open yet.
final class FileSuite: @unchecked Sendable {
    private let location: SuiteLocation
    /// Nanoseconds.
    private let lockTimeout: UInt64
    /// Whether nothing is ever created, repaired or locked.
    private let isReadOnly: Bool
    private let opening = ThreadLock()
    private let isOpen = Atomic<Bool>(false)
    // Set once, before `isOpen`, and only read after it.
    @exclusivity(unchecked) private var opened: Opened?
    // Used under `opening`. A process that is stopped must not cost each of many reads the whole time.
    private var wasBusy = false
    // Used under `opening`; passed to the index when the suite is opened.
    private var registeredBefore: [StoreKey: PropertyListValue] = [:]
    /// Whether it was reported that there is no suite and none can be created.
    private let isReadOnlyReported = Guarded(false)
    /// Called when the suite is opened; nil from then on.
    private let observersBefore = Guarded<[(id: ObjectIdentifier, begin: @Sendable (OpenSuite) -> Void)]?>([])

    /// A reference that can be used without being copied; see ``withOpenSuite(_:)``.
    private struct Opened: ~Copyable {
        let suite: OpenSuite
    }

    /// - Parameters:
    ///   - location: Where the suite is.
    ///   - lockTimeout: Seconds to wait for other processes; none if it is negative or not a number.
    ///   - isReadOnly: Whether the suite is only read, even if it could be written.
    init(location: SuiteLocation, lockTimeout: TimeInterval = 5, isReadOnly: Bool = false) {
        self.location = location
        self.isReadOnly = isReadOnly
        self.lockTimeout = lockTimeout > 0 ? UInt64(min(lockTimeout, 1_000_000_000) * 1_000_000_000) : 0
    }

    /// The path of the suite's directory, as it was first opened in this process.
    func path() throws(DefaultsError) -> String {
        if let current {
            return current.journal.path
        }
        return try location.path()
    }

    /// The open suite; nil while it has not been opened.
    var current: OpenSuite? {
        isOpen.load() ? opened?.suite : nil
    }

    /// Calls a body with the suite, which is opened first if it isn't open; nil if that fails.
    ///
    /// The reference to an open suite is not copied: its count would move between the processors of threads that read at
    /// once.
    func withOpenSuite<Result>(_ body: (OpenSuite) -> Result) -> Result? {
        guard isOpen.load() else {
            return openIfPossible().map(body)
        }
        switch opened {
        case .some(let opened): return body(opened.suite)
        case .none: return nil
        }
    }

    /// Opens the suite if it is not open.
    func open() throws(DefaultsError) -> OpenSuite {
        if let current {
            return current
        }
        let events = DeferredEvents()
        // A handler may use this suite, which would deadlock while the lock is held.
        defer { events.release() }
        let suite = try openFirst(events)
        let observers = observersBefore.withLock { observers in
            defer { observers = nil }
            return observers ?? []
        }
        for observer in observers {
            observer.begin(suite)
        }
        return suite
    }

    private func openFirst(_ events: DeferredEvents) throws(DefaultsError) -> OpenSuite {
        opening.lock()
        defer { opening.unlock() }
        if let current {
            return current
        }
        let path = try location.path()
        var options = JournalOptions(report: { events.report(.init($0)) }, lockTimeout: lockTimeout)
        options.isReadOnly = isReadOnly
        #if canImport(Darwin)
        options.backgroundActivity = AppleFiles.performActivity
        #endif
        let journal: Journal
        do {
            journal = try Journal.open(at: path, options: options, isPatient: !wasBusy) { SuiteState() }
        } catch {
            let error = DefaultsError.opening(error)
            wasBusy = error.code == .storeBusy
            throw error
        }
        #if canImport(Darwin)
        if !isReadOnly { AppleFiles.protect(path) }
        #endif
        guard let state = journal.observer as? SuiteState else {
            throw .storeUnavailable(at: path, because: "it is already open in this process for another purpose")
        }
        let suite = OpenSuite(journal: journal, state: state)
        try FoundationImport.run(from: location.foundationPropertyList(), into: suite, events: events)
        state.register(registeredBefore)
        registeredBefore = [:]
        opened = Opened(suite: suite)
        isOpen.store(true)
        return suite
    }

    /// Opens the suite; nil if that fails.
    func openIfPossible() -> OpenSuite? {
        if let current {
            return current
        }
        // The other errors were thrown to the code that created the object.
        return (try? openUnlessReadOnly()) ?? nil
    }

    /// Opens the suite; nil if there is none and none can be created because nothing can be written there.
    ///
    /// It is empty then, for those who read. This is reported once.
    func openUnlessReadOnly() throws(DefaultsError) -> OpenSuite? {
        do {
            return try open()
        } catch  where error.code == .storeReadOnly {
            let isFirst = isReadOnlyReported.withLock { isReported in
                defer { isReported = true }
                return !isReported
            }
            if isFirst {
                DefaultsDiagnostics.report(.openFailed, error)
            }
            return nil
        }
    }

    /// Registers defaults for keys that have no stored value, for as long as the process runs.
    func register(_ defaults: [StoreKey: PropertyListValue]) {
        if let suite = openIfPossible() {
            return suite.state.register(defaults)
        }
        opening.lock()
        defer { opening.unlock() }
        // Another thread may have opened it in the meantime.
        if let current {
            return current.state.register(defaults)
        }
        registeredBefore.replaceValues(with: defaults)
    }

    /// Calls a handler at each change of the suite, even if it can't be opened yet.
    func observe(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        if let suite = openIfPossible() {
            return suite.observe(handler)
        }
        let observation = Guarded<StoreObservation?>(nil)
        let isActive = Guarded(true)
        let id = ObjectIdentifier(isActive)
        let begin = { @Sendable (suite: OpenSuite) in
            guard isActive.withLock({ $0 }) else { return }
            let begun = suite.observe(handler)
            observation.withLock { $0 = begun }
            // It may have ended in the meantime, and would not have found what has just begun.
            guard isActive.withLock({ $0 }) else { return begun.cancel() }
            handler(nil)
        }
        let isOpenNow = observersBefore.withLock { observers in
            observers?.append((id, begin))
            return observers == nil
        }
        // Another thread may have opened it in the meantime.
        if isOpenNow, let current {
            return current.observe(handler)
        }
        return StoreObservation {
            isActive.withLock { $0 = false }
            // Released without the lock: what the handler has kept may end other observations when it is deallocated.
            _ = self.observersBefore.withLock { observers in
                observers?.firstIndex { $0.id == id }.map { observers?.remove(at: $0) }
            }
            observation.withLock { $0 }?.cancel()
        }
    }

    /// The default that was registered for a key while the suite could not be opened.
    func registeredValue(for key: StoreKey) -> PropertyListValue? {
        opening.lock()
        defer { opening.unlock() }
        return current.map { $0.state.registeredValue(for: key) } ?? registeredBefore[key]
    }

    var registeredValues: [StoreKey: PropertyListValue] {
        opening.lock()
        defer { opening.unlock() }
        return current?.state.registeredValues ?? registeredBefore
    }
}

/// Defers events to `DefaultsDiagnostics` until no lock is held that its handler may need.
final class DeferredEvents: Sendable {
    private let deferred = Guarded<[DefaultsDiagnostics.Event]?>([])

    func report(_ event: DefaultsDiagnostics.Event) {
        let isDeferred = deferred.withLock { events in
            events?.append(event)
            return events != nil
        }
        if !isDeferred {
            DefaultsDiagnostics.report(event)
        }
    }

    /// Reports the deferred events; later events are reported immediately.
    func release() {
        let events = deferred.withLock { events in
            defer { events = nil }
            return events ?? []
        }
        for event in events {
            DefaultsDiagnostics.report(event)
        }
    }
}

/// What a process knows of an open suite beside its entries: observers, the changes that they have to learn of, a transaction, and
/// registered defaults.
final class SuiteState: JournalObserver, @unchecked Sendable {
    /// The changes so far in the transaction of the thread with exclusive access; used only by that thread.
    var transaction: [StoreKey: StoredValue?]?

    /// The observers of the suite.
    let changes = ChangeHub()
    /// The changes by other processes that were not reported yet; used under the journal's lock, while there are observers.
    private var changed: Set<String> = []
    /// The unreported changes by threads of this process.
    ///
    /// Each thread reports its own before the call that made them returns.
    private var changedByThread: [(thread: UInt, key: String)] = []

    private let registered = Guarded<[StoreKey: PropertyListValue]>([:])

    var isObserving: Bool { changes.isActive }

    func noteChange(of key: UnsafeRawBufferPointer, by origin: ChangeOrigin) {
        // The library's own keys begin with NUL.
        guard key.first != 0 else {
            return
        }
        let key = String(decoding: key, as: UTF8.self)
        switch origin {
        case .thisThread: changedByThread.append((Threads.current, key))
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
        let thread = Threads.current
        defer {
            changed = []
            changedByThread.removeAll { $0.thread == thread }
        }
        return changed.union(changedByThread.filter { $0.thread == thread }.map(\.key))
    }

    func register(_ defaults: [StoreKey: PropertyListValue]) {
        registered.withLock { $0.replaceValues(with: defaults) }
    }

    func registeredValue(for key: StoreKey) -> PropertyListValue? {
        registered.withLock { $0[key] }
    }

    var registeredValues: [StoreKey: PropertyListValue] {
        registered.withLock { $0 }
    }
}

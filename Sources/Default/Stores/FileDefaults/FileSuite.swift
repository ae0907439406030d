internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A suite that may not be open yet, in one process: see ``inEachProcess``.
final class FileSuite: @unchecked Sendable {
    private let location: SuiteLocation
    /// Nanoseconds.
    private let lockTimeout: UInt64
    /// Whether nothing is ever created, repaired or locked.
    private let isReadOnly: Bool
    #if canImport(Darwin)
    /// The class by which the files are protected; nil for the usual one.
    private var protection: FileProtectionType?
    #endif
    private let opening = ThreadLock()
    private let isOpen = Atomic<Bool>(false)
    // Set once, before `isOpen`, and only read after it.
    @exclusivity(unchecked) private var opened: Borrowed<OpenSuite>?
    // Used under `opening`. A process that is stopped must not cost each of many reads the whole time.
    private var wasBusy = false
    /// The defaults that were registered through this object, for the suite when it is opened, here or in a child
    /// made with `fork`.
    private let registered: Locked<[StoreKey: PropertyListValue]>
    private let forkCount = ForkCount.current
    /// The observers that were added before the suite was opened.
    private let observersBefore = ChangeHub()
    /// The observation of the open suite that passes its changes on to them.
    private let passingOn = Locked<StoreObservation?>(nil)

    /// - Parameters:
    ///   - location: Where the suite is.
    ///   - lockTimeout: Seconds to wait for other processes; none if it is negative or not a number.
    ///   - isReadOnly: Whether the suite is only read, even if it could be written.
    init(location: SuiteLocation, lockTimeout: TimeInterval = 5, isReadOnly: Bool = false) {
        self.location = location
        self.isReadOnly = isReadOnly
        self.lockTimeout = lockTimeout > 0 ? UInt64(min(lockTimeout, 1_000_000_000) * 1_000_000_000) : 0
        registered = Locked([:])
    }

    #if canImport(Darwin)
    /// - Parameters:
    ///   - location: Where the suite is.
    ///   - protection: The class by which its files are protected.
    convenience init(location: SuiteLocation, protection: FileProtectionType) {
        self.init(location: location)
        self.protection = protection
    }
    #endif

    /// The same suite for a child made with `fork`, which opens it for itself.
    private init(inChildOf parent: FileSuite) {
        location = parent.location
        isReadOnly = parent.isReadOnly
        lockTimeout = parent.lockTimeout
        // If a thread of the parent was just registering some, their lock is never released here.
        registered = Locked(parent.registered.copyIfFree() ?? [:])
    }

    /// The suite of each process: this object, and in a child made with `fork` one of its own.
    var inEachProcess: PerProcess<FileSuite> {
        PerProcess { self.forkCount == ForkCount.current ? self : FileSuite(inChildOf: self) }
    }

    /// The path of the suite's directory, as it was first opened in this process.
    func path() throws(DefaultsError) -> String {
        if let current { return current.journal.path }
        return try location.path()
    }

    /// The open suite; nil while it has not been opened.
    var current: OpenSuite? { isOpen.load() ? opened?.object : nil }

    /// Calls a body with the open suite; nil while it has not been opened.
    ///
    /// - Throws: What the body throws.
    @inline(__always)  // See Journal.acquire.
    func withCurrent<Result, Failure: Error>(
        _ body: (OpenSuite) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard isOpen.load() else { return nil }
        switch opened {
        case .some(let opened): return try body(opened.object)
        case .none: return nil
        }
    }

    /// Calls a body with the suite, which is opened first if it isn't open.
    @inline(__always)  // See Journal.acquire.
    func withSuite<Result>(_ body: (OpenSuite) throws(DefaultsError) -> Result) throws(DefaultsError) -> Result {
        if let result = try withCurrent(body) { return result }
        return try body(open())
    }

    /// Opens the suite if it is not open.
    func open() throws(DefaultsError) -> OpenSuite {
        if let current { return current }
        location.reportIgnoredVariable()
        let events = DeferredEvents()
        // A handler may use this suite, which would deadlock while the lock is held.
        defer { events.release() }
        let suite = try openFirst(events)
        passOnChanges(of: suite)
        return suite
    }

    private func openFirst(_ events: DeferredEvents) throws(DefaultsError) -> OpenSuite {
        opening.lock()
        defer { opening.unlock() }
        if let current { return current }
        let path = try location.path()
        var options = JournalOptions.standard
        options.report = { events.report(.init($0)) }
        options.lockTimeout = lockTimeout
        options.isReadOnly = isReadOnly
        #if canImport(Darwin)
        options.backgroundActivity = AppleFiles.performActivity
        #endif
        let journal: Journal
        let newState = SuiteState()
        do {
            journal = try Journal.open(at: path, options: options, waits: !wasBusy) { newState }
        } catch {
            let error = DefaultsError.opening(error, advice: location.advice(about: error, in: path))
            wasBusy = error.code == .storeBusy
            throw error
        }
        #if canImport(Darwin)
        // Not of a suite that is open in this process already.
        if !isReadOnly, journal.observer === newState { AppleFiles.protect(path, protection) }
        #endif
        guard let state = journal.observer as? SuiteState else {
            throw .storeUnavailable(at: path, because: "it is already open in this process for another purpose")
        }
        let suite = OpenSuite(journal: journal, state: state)
        try FoundationImport.run(from: location.foundationPropertyList(), into: suite, events: events)
        state.register(RegisteredDefaults.ofSuite(at: journal.path))
        register(registered.withLock { $0 }, with: suite)
        opened = Borrowed(suite)
        isOpen.store(true)
        return suite
    }

    /// Opens the suite; nil if that fails, which is reported once for each reason.
    func openIfPossible() -> OpenSuite? {
        if let current { return current }
        do {
            return try openUnlessReadOnly()
        } catch {
            DefaultsDiagnostics.reportOnce(.openFailed, error)
            return nil
        }
    }

    /// Opens the suite; nil if there is none and none can be created because nothing can be written there.
    ///
    /// Readers find nothing in it then. This is reported once.
    func openUnlessReadOnly() throws(DefaultsError) -> OpenSuite? {
        do {
            return try open()
        } catch  where error.code == .storeReadOnly {
            DefaultsDiagnostics.reportOnce(.openFailed, error)
            return nil
        }
    }

    /// Registers defaults for keys that have no stored value, for as long as the process runs.
    func register(_ defaults: [StoreKey: PropertyListValue]) {
        // First: a thread that opens the suite from here on registers them, too.
        registered.withLock { $0.replaceValues(with: defaults) }
        if let suite = openIfPossible() { register(defaults, with: suite) }
        opening.lock()
        defer { opening.unlock() }
        // Another thread may have opened it in the meantime.
        if let current { register(defaults, with: current) }
    }

    private func register(_ defaults: [StoreKey: PropertyListValue], with suite: OpenSuite) {
        RegisteredDefaults.add(defaults, toSuiteAt: suite.journal.path)
        suite.state.register(defaults)
    }

    /// Calls a handler at each change of the suite, even if it can't be opened yet.
    func observe(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        if let suite = openIfPossible() { return suite.observe(handler) }
        let observation = observersBefore.add(handler) { [self] in
            if !observersBefore.isActive {
                passingOn.exchange(nil)?.cancel()
                // It may have been begun for one that was added in the meantime.
                if let current { passOnChanges(of: current) }
            }
        }
        // Another thread may have opened it in the meantime.
        if let current {
            passOnChanges(of: current)
        }
        return observation
    }

    /// Passes the changes of the suite on to the observers from before it was opened, if there are any.
    private func passOnChanges(of suite: OpenSuite) {
        guard observersBefore.isActive else { return }
        let begun = suite.observe { [observersBefore] keys in observersBefore.notify(keys) }
        passingOn.exchange(begun)?.cancel()
        observersBefore.notify(nil)
        // They may have ended in the meantime, and would not have found what has just begun.
        if !observersBefore.isActive {
            begun.cancel()
        }
    }

    /// Notifies observers of what has changed in sources, even if the suite can't be opened.
    func noteChange(ofSources keys: Set<String>) {
        if let current { current.noteChange(ofSources: keys) } else { observersBefore.notify(keys) }
    }

    /// The default that was registered for a key while the suite could not be opened.
    func registeredValue(for key: StoreKey) -> PropertyListValue? {
        opening.lock()
        defer { opening.unlock() }
        return current.map { $0.state.registeredValue(for: key) } ?? registered.withLock { $0[key] }
    }

    var registeredValues: [StoreKey: PropertyListValue] {
        opening.lock()
        defer { opening.unlock() }
        return current?.state.registeredValues ?? registered.withLock { $0 }
    }
}

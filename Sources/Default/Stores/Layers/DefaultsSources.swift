#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import DefaultJournal

/// The sources of one store, which it asks before and after what it holds.
///
/// ``FileDefaults`` and ``MemoryDefaults`` make one from the sources that they are given. Your own store does the same:
/// it returns it as ``DefaultsStore/sources``, looks its values up by ``value(forKey:own:registered:)``, and calls
/// ``checkWritable(_:in:)`` before each write:
///
/// ```swift
/// final class Shelf: DefaultsStore, @unchecked Sendable {
///     private let lock = NSLock()
///     private var rows: [String: PropertyListValue] = [:]  // under the lock
///     let sources: DefaultsSources?
///     let storeDescription = "Shelf"
///
///     init(fallbacks: [any DefaultsSource]) {
///         sources = DefaultsSources(fallbacks: fallbacks)
///     }
///
///     func ownValue(forKey key: String) -> PropertyListValue? {
///         lock.withLock { rows[key] }
///     }
///
///     func storedValue(forKey key: String) -> PropertyListValue? {
///         guard let sources else { return ownValue(forKey: key) }
///         return sources.value(forKey: key, own: { ownValue(forKey: key) })
///     }
///
///     func setStoredValue(_ new: PropertyListValue?, forKey key: String) throws {
///         try sources?.checkWritable(key, in: self)
///         try withExclusiveAccess { lock.withLock { rows[key] = new } }
///     }
///
///     func storedKeys() -> [String] { lock.withLock { Array(rows.keys) } }
///     func flush() {}
/// }
/// ```
///
/// What the sources say is read when it is first needed, and kept. Once a second, a read or a write of the store looks
/// whether a file has changed, and while the store is observed the folders of files are watched. A child made with
/// `fork` reads the sources for itself.
public final class DefaultsSources: Sendable {
    private let states: PerProcess<SourceState>
    private let handler: HandlerOfStore

    /// Reads sources for a store; nil if there are none.
    ///
    /// - Parameters:
    ///   - mandatory: Sources whose values can't be changed. One that can't be used makes the whole store mandatory.
    ///   - overrides: Sources above what is stored.
    ///   - fallbacks: Sources that count while nothing is stored.
    public convenience init?(
        mandatory: [any DefaultsSource] = [],
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = []
    ) {
        self.init(mandatory: mandatory, arguments: LaunchArguments([]), overrides: overrides, fallbacks: fallbacks)
    }

    convenience init?(arguments: LaunchArguments) {
        self.init(mandatory: [], arguments: arguments, overrides: [], fallbacks: [])
    }

    init?(
        mandatory: [any DefaultsSource],
        arguments: LaunchArguments,
        overrides: [any DefaultsSource],
        fallbacks: [any DefaultsSource]
    ) {
        var entries = mandatory.map { SourceReader.Entry(kind: .mandatory, source: $0) }
        if !arguments.entries.isEmpty { entries.append(.init(kind: .argument, source: arguments)) }
        entries += overrides.map { .init(kind: .override, source: $0) }
        entries += fallbacks.map { .init(kind: .fallback, source: $0) }
        if entries.isEmpty { return nil }
        let all = entries
        let handler = HandlerOfStore()
        self.handler = handler
        states = PerProcess { SourceState(all, notify: handler.call) }
    }

    /// Has a handler called at each change of a source, with the keys that changed.
    ///
    /// A store that implements ``KeyValueStorage/observeChanges(_:)`` calls this when it is created, and notifies its
    /// observers in the handler. The default implementation does so by itself. The handler is called on a thread that
    /// reads or writes, or on one of the library's own, with no lock of this object held.
    ///
    /// - Parameter handler: The handler; it must not keep the store alive. Only the first call has an effect.
    public func connect(_ handler: @escaping @Sendable (Set<String>) -> Void) { self.handler.set(handler) }

    /// The value for a key: that of the highest source above what is stored, else the store's own, else that of the
    /// highest source below, else the registered one.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - own: Looks up what the store itself holds.
    ///   - registered: Looks up what is registered; nothing by default.
    /// - Returns: The value; nil when there is none.
    public func value(
        forKey key: String,
        own: () -> PropertyListValue?,
        registered: () -> PropertyListValue? = { nil }
    ) -> PropertyListValue? {
        let key = StoreKey(unchecked: key)
        return states.withCurrent { current in
            current.state.lookIfDue()
            if current.state.isSilent { return own() ?? registered() }
            return current.state.valueAbove(key) ?? own() ?? current.state.read { $0.valueBelow(key) } ?? registered()
        }
    }

    /// Checks that a key may be written; a store calls it before it changes anything.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - store: The store, for the error.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/mandatory``: a mandatory source has a value for
    ///   the key, or can't be used.
    public func checkWritable(_ key: String, in store: some DefaultsStore) throws(DefaultsError) {
        if isSilent { return }
        let state = states.current
        let key = StoreKey(unchecked: key)
        let (fault, origin) = state.read { snapshot in (snapshot.fault, snapshot.mandatoryLayer(for: key)?.origin) }
        if let fault { throw .mandatory(fault, ErrorContext(key.string, in: store)) }
        if let origin, !SettingsWriting.isUnderWay(forKey: key.string) {
            throw .mandatory(origin, ErrorContext(key.string, in: store))
        }
    }

    /// Has the sources watched as long as an observation of the store lasts.
    ///
    /// - Parameter observation: The observation that the store would return.
    /// - Returns: The observation to return instead.
    public func watching(_ observation: StoreObservation) -> StoreObservation {
        let watch = states.current.watch()
        return StoreObservation {
            observation.cancel()
            watch.cancel()
        }
    }
}

/// The handler of the store that has some sources.
///
/// Without a lock: a child made with `fork` would wait for one that another thread of its parent held.
private final class HandlerOfStore: @unchecked Sendable {
    private let isTaken = Atomic<Bool>(false)
    private let isSet = Atomic<Bool>(false)
    // Written once, by the thread that has taken it, and read after that.
    private var handler: @Sendable (Set<String>) -> Void = { _ in }

    func set(_ handler: @escaping @Sendable (Set<String>) -> Void) {
        guard !isTaken.exchange(true) else { return }
        self.handler = handler
        isSet.store(true)
    }

    func call(_ keys: Set<String>) {
        if isSet.load() { handler(keys) }
    }
}

extension DefaultsSources {
    /// What the sources say now.
    var snapshot: SourceSnapshot {
        let state = states.current
        state.lookIfDue()
        return state.read { $0 }
    }

    /// Calls a body with what the sources say now, which must be short and use no store.
    func withSnapshot<Result>(_ body: (SourceSnapshot) -> Result) -> Result {
        let state = states.current
        state.lookIfDue()
        return state.read(body)
    }

    /// Replaces values by those of the sources below what is stored.
    func addFallbacks(to values: inout [StoreKey: PropertyListValue]) { Self.add(snapshot.below, to: &values) }

    /// Replaces values by those of the sources above what is stored.
    func addOverrides(to values: inout [StoreKey: PropertyListValue]) { Self.add(snapshot.above, to: &values) }

    private static func add(_ layers: [SourceSnapshot.Layer], to values: inout [StoreKey: PropertyListValue]) {
        for layer in layers.reversed() {
            values.replaceValues(with: layer.values)
            // A variable has no key of its own: it counts for those that have a value.
            guard let variables = layer.variables else { continue }
            for key in values.keys {
                if let value = variables.value(forKey: key.string) { values[key] = value }
            }
        }
    }

    /// Whether no source says anything now, as in most stores.
    var isSilent: Bool {
        states.withCurrent { current in
            current.state.lookIfDue()
            return current.state.isSilent
        }
    }

    /// Whether a store has no source that says anything now.
    ///
    /// Neither the store's reference nor that to the sources is copied: threads that read at once would share their
    /// counts.
    static func areSilent<Store: DefaultsStore>(in store: Store) -> Bool {
        guard Store.self == FileDefaults.self else { return store.sources?.isSilent ?? true }
        return withUnsafePointer(to: store) { store in
            store.withMemoryRebound(to: Borrowed<FileDefaults>.self, capacity: 1) { $0.pointee.object.hasSilentSources }
        }
    }

    /// Whether a source hides what is stored under a key.
    func hidesOwnValue(forKey key: String) -> Bool {
        !isSilent && states.current.valueAbove(StoreKey(unchecked: key)) != nil
    }

    /// Forgets what is remembered of settings, since what is registered has changed.
    func forget() { states.current.forget() }

    /// Looks for changes now, however long ago the last look was.
    package func look() { states.current.look() }
}

/// Marks a thread that writes settings under some keys, which may be written beside mandatory properties.
///
/// The stores check the key itself, and don't know whether what they store is one value or one of several properties.
enum SettingsWriting {
    private static let keys = PerProcess { Locked<[UInt: [[String]]]>([:]) }

    /// Whether the calling thread writes settings under a key.
    static func isUnderWay(forKey key: String) -> Bool {
        keys.current.withLock { $0[Threads.current]?.last?.contains(key) ?? false }
    }

    /// Runs a body that writes settings under some keys, and what is stored beside them.
    ///
    /// A handler that it calls, and that writes other settings, has its own keys meanwhile.
    @discardableResult
    static func run<Result, Failure: Error>(
        for written: [String],
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let thread = Threads.current
        let all = written + written.flatMap(CompanionKey.describing)
        keys.current.withLock { $0[thread, default: []].append(all) }
        defer {
            keys.current.withLock { keys in
                _ = keys[thread]?.popLast()
                if keys[thread]?.isEmpty == true { keys[thread] = nil }
            }
        }
        return try body()
    }
}

extension LaunchArguments: DefaultsSource {
    var name: String { "the launch arguments" }

    func values() -> [String: PropertyListValue] {
        Dictionary(entries.map { ($0.key.string, $0.value) }) { $1 }
    }
}

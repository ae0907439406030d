internal import DefaultJournal

/// A store that keeps its values in memory, for tests, previews and temporary settings.
///
/// Each instance is a separate store and starts empty. Its values are freed with it. It accepts the same values as
/// `UserDefaults`, and throws where `UserDefaults` would trap. Values are copied when they are set, so changing an
/// `NSMutableArray` afterwards has no effect on the store.
///
/// A `MemoryDefaults` may be used from any number of threads at once.
///
/// ```swift
/// let store = MemoryDefaults()
/// store.df.store(VolumeSetting(sourceName: "amp", value: 0.4), forKey: "volume")
/// ```
public final class MemoryDefaults: Sendable {
    /// "MemoryDefaults #1" and so on, in the order of creation.
    public let storeDescription: String

    private let entries = Locked<[StoreKey: PropertyListValue]>([:])
    private let registered = Locked<[StoreKey: PropertyListValue]>([:])
    private let exclusiveAccess = ExclusiveAccess()
    private let changes = ChangeHub()
    /// The sources that the store was created with; nil without any.
    public let sources: DefaultsSources?

    private static let count = Atomic<Int>(0)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - mandatory: Sources whose values can't be changed; none by default.
    ///   - overrides: Sources above what is stored; none by default.
    ///   - fallbacks: Sources that count while nothing is stored; none by default.
    ///   - suiteName: The name of a suite whose sources in `/etc/xdg` and `$XDG_CONFIG_DIRS` are read after those that
    ///     are given; nil, the default, for none. A name that no suite can have has none.
    public init(
        mandatory: [any DefaultsSource] = [],
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = [],
        sourcesOf suiteName: String? = nil
    ) {
        sources = SourcePlaces.system.sources(
            ofSuite: suiteName,
            mandatory: mandatory,
            overrides: overrides,
            fallbacks: fallbacks
        )
        sources?.connect { [exclusiveAccess, changes] keys in exclusiveAccess.notify(changes, keys, isOfSource: true) }
        // Not an address: a new store could reuse an old one's, and events would not distinguish them.
        storeDescription = "MemoryDefaults #\(Self.count.wrappingAdd(1) + 1)"
    }
}

extension MemoryDefaults {
    /// Creates a store that holds some values, for tests and previews.
    ///
    /// ```swift
    /// let store = MemoryDefaults(["volume": 0.5, "names": ["a", "b"]])
    /// ```
    ///
    /// - Parameter values: The values by their keys. What no store can hold (a key that is empty or holds NUL, a value
    ///   that nests too deeply) is left out, and reported to ``DefaultsDiagnostics``.
    public convenience init(_ values: [String: PropertyListValue]) {
        self.init()
        for (key, value) in values {
            DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
                try setStoredValue(value, forKey: key)
            }
        }
    }
}

extension MemoryDefaults: DefaultsStore {
    /// The value for a key: that of a source above what is stored, the stored one, that of a fallback, the registered
    /// one.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        guard let sources else { return ownValue(forKey: key) ?? registeredValue(forKey: key) }
        return sources.value(
            forKey: key,
            own: { ownValue(forKey: key) },
            registered: { registeredValue(forKey: key) }
        )
    }

    /// The value that was stored for a key, whatever the sources say.
    public func ownValue(forKey key: String) -> PropertyListValue? {
        entries.withLock { $0[StoreKey(unchecked: key)] }
    }

    /// The value that was registered for a key.
    public func registeredValue(forKey key: String) -> PropertyListValue? {
        registered.withLock { $0[StoreKey(unchecked: key)] }
    }

    /// Stores a value under a key, or removes the stored value.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or ``DefaultsError/Code/mandatory``. Nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        try sources?.checkWritable(key, in: self)
        exclusiveAccess {
            let previous = entries.withLock { entries in
                defer { entries[storeKey] = value }
                return entries[storeKey]
            }
            if changes.isActive, !previous.isSame(as: value) {
                exclusiveAccess.notify(changes, [key])
            }
        }
    }

    /// The keys that have a stored value; keys with only a registered default are not included.
    public func storedKeys() -> [String] { entries.withLock { $0.keys.map(\.string) } }

    /// Does nothing: values in memory can't be made more durable.
    public func flush() {}

    /// Prevents other threads from changing this store, until the matching ``endExclusiveAccess()``.
    public func beginExclusiveAccess() { exclusiveAccess.acquire() }

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() { exclusiveAccess.release() }

    /// Calls a handler at each change of this store.
    ///
    /// - Parameter handler: Receives the keys, on the thread that changed them, while no lock is held. It is not called
    ///   for a transaction that was rolled back, or for a write of the value that is already stored.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = changes.add(handler)
        return sources?.watching(observation) ?? observation
    }

    /// Makes several changes as one unit; when the body throws, all of them are rolled back.
    ///
    /// - Parameter body: Makes the changes. Other threads' writes wait until it has returned. Their reads don't, and
    ///   see each change immediately.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try exclusiveAccess.withRollback {
            let before = entries.withLock { $0 }
            do {
                return try body()
            } catch {
                entries.withLock { $0 = before }
                throw error
            }
        }
    }
}

extension MemoryDefaults: UserDefaultsVocabulary {
    /// Registers values for keys that have no stored value, for as long as the store exists.
    ///
    /// - Parameter defaults: Property-list values by their keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``. Nothing is registered then.
    public func register(defaults: [String: Any]) throws(DefaultsError) {
        let values = try defaults.checkedValues(in: self)
        registered.withLock { $0.replaceValues(with: values) }
        sources?.forget()
    }

    /// A snapshot of all keys and values, including those that are only registered.
    public func dictionaryRepresentation() -> [String: Any] {
        var values = registered.withLock { $0 }
        sources?.addFallbacks(to: &values)
        values.replaceValues(with: entries.withLock { $0 })
        sources?.addOverrides(to: &values)
        return values.objects
    }
}

internal import DefaultJournal

/// A store that keeps its values in memory, for tests, previews and settings that are not to last.
///
/// Each instance is a store of its own, empty at first; its values are freed with it. It takes the values that
/// `UserDefaults` takes, and throws where `UserDefaults` would end the process. Values are copied as they are set:
/// changing an `NSMutableArray` afterwards changes nothing here.
///
/// May be used from any number of threads at once.
///
/// ```swift
/// let store = MemoryDefaults()
/// store.df.store(VolumeSetting(sourceName: "amp", value: 0.4), forKey: "volume")
/// ```
public final class MemoryDefaults: Sendable {
    /// "MemoryDefaults #1" and so on, in the order of creation.
    public let storeDescription: String

    private let entries = Guarded<[StoreKey: PropertyListValue]>([:])
    private let registered = Guarded<[StoreKey: PropertyListValue]>([:])
    private let exclusiveAccess = ExclusiveAccess()
    private let changes = ChangeHub()

    private static let count = Guarded(0)

    /// Creates an empty store.
    public init() {
        // Not an address: a new store could have an old one's, and events would confuse the two.
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        storeDescription = "MemoryDefaults #\(number)"
    }
}

extension MemoryDefaults: DefaultsStore {
    /// The value for a key: what is stored, else what is registered.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when there is none.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        let key = StoreKey(unchecked: key)
        return entries.withLock { $0[key] } ?? registered.withLock { $0[key] }
    }

    /// Stores a value under a key, or removes what is there.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        exclusiveAccess {
            let previous = entries.withLock { entries in
                defer { entries[storeKey] = value }
                return entries[storeKey]
            }
            if changes.isActive, previous != value {
                exclusiveAccess.notify(changes, [key])
            }
        }
    }

    /// The keys under which something is stored, registered ones left out.
    public func storedKeys() -> [String] {
        entries.withLock { $0.keys.map(\.string) }
    }

    /// Does nothing: nothing is more durable than memory here.
    public func flush() {}

    /// Prevents other threads from changing this store, until the matching ``endExclusiveAccess()``.
    public func beginExclusiveAccess() {
        exclusiveAccess.acquire()
    }

    /// Ends what ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() {
        exclusiveAccess.release()
    }

    /// Calls a handler at each change of this store.
    ///
    /// - Parameter handler: Receives the keys, on the thread that changed them, once no lock is held; nothing when a
    ///   transaction was rolled back, or when what was set was stored already.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        changes.add(handler)
    }

    /// Makes several changes as one: when the body throws, the store is as it was before.
    ///
    /// - Parameter body: Makes the changes. Writes of other threads wait for its end; reads don't, and see each change at once.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
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
    /// Supplies values for keys under which nothing is stored, for as long as the store exists.
    ///
    /// - Parameter values: The values, by their keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing is registered then.
    public func registerValues(_ values: [String: PropertyListValue]) throws(DefaultsError) {
        let checked = try values.checked(in: self)
        registered.withLock { $0.merge(checked) { _, new in new } }
    }

    /// All keys and values as of one moment, those that are only registered included.
    ///
    /// - Returns: Values by their keys; of keys that are canonically equivalent, one.
    public func allValues() -> [String: PropertyListValue] {
        let values = registered.withLock { $0 }.merging(entries.withLock { $0 }) { _, stored in stored }
        return Dictionary(values.map { ($0.string, $1) }, uniquingKeysWith: { first, _ in first })
    }
}

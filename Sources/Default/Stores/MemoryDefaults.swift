internal import DefaultJournal
public import Foundation

/// A store that keeps its values in memory, for tests, previews and settings that are not to last.
///
/// Each instance is a store of its own, empty at first; what it holds goes when it goes. It takes the values that
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
    private let exclusiveAccess = NSRecursiveLock()
    private let changes = ChangeHub()

    private static let count = Guarded(0)

    /// Creates an empty store.
    public init() {
        // Not an address: a new store at an old one's place would pass for it in events.
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        storeDescription = "MemoryDefaults #\(number)"
    }
}

extension MemoryDefaults: DefaultsStore {
    /// The value stored under a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: `String`, `Bool`, `Int` (`UInt` over `Int.max`), `Double`, `Data`, `Date`, `[Any]` or `[String: Any]`;
    ///   nil when nothing is stored.
    public func object(forKey key: String) -> Any? {
        propertyListValue(forKey: key)?.object
    }

    /// The `Data` stored under a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The bytes, nil when nothing is stored or what is stored is not `Data`.
    public func data(forKey key: String) -> Data? {
        guard case .data(let data) = propertyListValue(forKey: key) else {
            return nil
        }
        return data
    }

    /// The value stored under a key, with its type spelled out.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when nothing is stored.
    public func propertyListValue(forKey key: String) -> PropertyListValue? {
        entries.withLock { $0[StoreKey(unchecked: key)] }
    }

    /// Stores a property-list value under a key, or removes what is there.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing has changed then.
    public func set(_ value: Any?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        store(try PropertyListValue(value, forKey: key, in: self), for: storeKey)
    }

    /// Stores a value with its type spelled out.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ value: PropertyListValue, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value.checkDepth(forKey: key, in: self)
        store(value, for: storeKey)
    }

    /// Removes what is stored under a key, if anything is.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``.
    public func removeObject(forKey key: String) throws(DefaultsError) {
        try set(nil, forKey: key)
    }

    /// All keys and values.
    ///
    /// - Returns: Values by their keys, as ``object(forKey:)`` gives them; of keys that are canonically equivalent, one.
    public func dictionaryRepresentation() -> [String: Any] {
        let pairs = entries.withLock { $0.map { ($0.key.string, $0.value) } }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first }).mapValues(\.object)
    }

    /// The keys under which something is stored.
    public func storedKeys() -> [String] {
        entries.withLock { $0.keys.map(\.string) }
    }

    /// Does nothing: there is nothing that could be more durable than memory.
    ///
    /// - Returns: True.
    @discardableResult
    public func synchronize() -> Bool {
        true
    }

    /// Keeps all other threads from changing this store, until the matching ``endExclusiveAccess()``.
    public func beginExclusiveAccess() {
        exclusiveAccess.lock()
    }

    /// Ends what ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() {
        exclusiveAccess.unlock()
    }

    /// Calls a handler at each change of this store.
    ///
    /// - Parameter handler: Is told the key, on the thread that changed it.
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
        try exclusiveAccess.withLock {
            let before = entries.withLock { $0 }
            do {
                return try body()
            } catch {
                entries.withLock { $0 = before }
                if changes.isActive {
                    changes.tell(nil)
                }
                throw error
            }
        }
    }

    private func store(_ value: PropertyListValue?, for key: StoreKey) {
        exclusiveAccess.withLock {
            entries.withLock { $0[key] = value }
            if changes.isActive {
                changes.tell([key.string])
            }
        }
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A store of property-list values under string keys.
///
/// `UserDefaults`, ``FileDefaults`` and ``MemoryDefaults`` are stores. Your own store implements the five members that
/// have no default implementation, and fits on a page:
///
/// ```swift
/// final class Archive: DefaultsStore, @unchecked Sendable {
///     private let file: URL, lock = NSLock()
///     private var rows: [Data: Data] = [:]  // by the keys' bytes; under the lock
///
///     init(file: URL) throws {
///         self.file = file
///         guard FileManager.default.fileExists(atPath: file.path) else { return }
///         let data = try Data(contentsOf: file)
///         rows = try PropertyListDecoder().decode([Data: Data].self, from: data)
///         let bad = rows.values.first { PropertyListValue(binaryForm: $0) == nil }
///         if bad != nil { throw CocoaError(.fileReadCorruptFile) }
///     }
///
///     func storedValue(forKey key: String) -> PropertyListValue? {
///         let form = lock.withLock { rows[Data(key.utf8)] }
///         return form.flatMap { PropertyListValue(binaryForm: $0) }
///     }
///
///     func setStoredValue(_ new: PropertyListValue?, forKey key: String) throws {
///         _ = try StoreKey(key)  // throws for an invalid key
///         try new?.checkDepth(forKey: key, in: self)
///         try withExclusiveAccess {  // waits for other threads; reads don't
///             lock.withLock { rows[Data(key.utf8)] = new?.binaryForm }
///         }
///     }
///
///     func storedKeys() -> [String] {
///         lock.withLock { rows.keys.map { String(decoding: $0, as: UTF8.self) } }
///     }
///
///     func flush() throws {
///         try withExclusiveAccess {
///             // No other thread writes now, and reads change nothing.
///             let contents = try PropertyListEncoder().encode(rows)
///             try contents.write(to: file, options: .atomic)
///         }
///     }
///     var storeDescription: String { "Archive(\(file.path))" }
/// }
/// ```
///
/// ## What every store guarantees
///
/// - Keys are distinguished by their UTF-8 bytes, and may contain any character but NUL. ``setStoredValue(_:forKey:)``
///   throws ``DefaultsError/Code/invalidKey`` for keys that contain NUL, are empty, or have more than 65,535 bytes.
///   ``StoreKey`` checks and compares keys in this way.
/// - A value is returned exactly as it was set: same case, same value. ``DefaultsError/Code/unsupportedValue`` is
///   thrown for values that nest more than 256 levels.
/// - A mutating call that throws has changed nothing.
/// - Several threads may use a store at once, if its type supports that. Writes wait while another thread has exclusive
///   access.
/// - Observers are called with no lock held, once per change. While a handler runs, up to 256 changes
///   wait for it, and further ones are combined.
///
/// The module `DefaultConformance` checks all of this for your own store. Settings types, typed keys and containers
/// encode before they call a store. If the store throws an error of its own, they wrap it in a ``DefaultsError`` that
/// names the key and the type.
public protocol DefaultsStore: KeyValueStorage {
    /// The value for a key.
    ///
    /// - Parameter key: The key. An invalid key has no value.
    /// - Returns: The stored value, otherwise one that the store supplies while nothing is stored (such as a registered
    ///   default); nil when there is none.
    func storedValue(forKey key: String) -> PropertyListValue?

    /// The value that the store itself holds for a key, and that a write replaces: no launch argument, no value of a
    /// source, no registered default.
    ///
    /// The default implementation calls ``storedValue(forKey:)``: the store supplies nothing else.
    ///
    /// - Parameter key: The key. An invalid key has no value.
    /// - Returns: The value; nil when nothing is stored.
    func ownValue(forKey key: String) -> PropertyListValue?

    /// The value that was registered with the store for a key, for as long as nothing else has one.
    ///
    /// The default implementation returns nil: nothing can be registered.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when there is none.
    func registeredValue(forKey key: String) -> PropertyListValue?

    /// The sources that the store reads beside what it holds; nil, the default, for none. It is always the same.
    var sources: DefaultsSources? { get }

    /// Stores a value under a key, or removes the stored value.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` when the key or the value can't be stored, or the store's own errors. Nothing has
    ///   changed then.
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws

    /// The keys that have a stored value, in no particular order.
    ///
    /// - Returns: The keys, without duplicates.
    func storedKeys() -> [String]

    /// Makes all previous writes durable, as far as the store can: when the call returns, they survive a loss of power.
    ///
    /// - Throws: ``DefaultsError`` or the store's own errors.
    func flush() throws

    /// The name of the store in errors and events: the same for two handles on one suite, different for different
    /// suites.
    var storeDescription: String { get }

    /// Throws when the store can't be read at this time, so that a value may exist even though it wasn't found.
    ///
    /// The default implementation does nothing: the store can always be read.
    ///
    /// - Throws: ``DefaultsError``, preferably with the code ``DefaultsError/Code/storeUnavailable``, or the store's
    ///   own errors.
    func checkAvailability() throws

    /// Changes a value in one step: looks it up, stores what a body leaves of it, and notifies observers.
    ///
    /// This call makes the writes that have to know the value that they replace: of settings types, of keys whose
    /// values are coded, and by the quarantine. Changes in place read the value and store the new one with exclusive
    /// access.
    ///
    /// The default implementation does it with exclusive access, and stores nothing if the body leaves the value as it
    /// was. A store that finds a value and its place in one step has a shorter way.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - body: Changes the stored value, which is nil when there is none; nil removes it. It isn't what the store
    ///     supplies while nothing is stored. It may run more than once on a store that detects conflicts; see
    ///     ``KeyValueStorage/withExclusiveAccess(_:)``.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws; ``DefaultsError`` when the key or the value can't be stored, or the
    ///   store's own errors. The value has not changed then.
    func updateStoredValue<Result>(
        forKey key: String,
        _ body: (inout PropertyListValue?) throws -> Result
    ) throws -> Result

    /// Makes several changes as one unit, as far as the store can.
    ///
    /// ``FileDefaults`` makes them visible and durable together, in all processes, or not at all. ``MemoryDefaults``
    /// rolls them back when the body throws. The default implementation runs the body with exclusive access: changes
    /// made before it throws remain.
    ///
    /// **The body may run more than once** on a store that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``.
    ///
    /// - Parameter body: Makes the changes.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws, and the store's own errors.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result
}

extension DefaultsStore {
    /// Does nothing: the store can always be read.
    public func checkAvailability() {}

    /// The result of ``storedValue(forKey:)``.
    public func ownValue(forKey key: String) -> PropertyListValue? { storedValue(forKey: key) }

    /// nil: nothing is registered.
    public func registeredValue(forKey key: String) -> PropertyListValue? { nil }

    /// nil: the store has no sources.
    public var sources: DefaultsSources? { nil }

    /// Calls a handler at each change that this library's typed calls make in stores with the same description, and at
    /// each change of the store's sources.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let channel = changeChannel
        let observation = SharedHubs.observe(channel, handler)
        guard let sources else { return observation }
        sources.connect { keys in
            guard let hub = SharedHubs.hub(named: channel) else { return }
            ExclusiveAccess.ofProcess.notify(hub, keys)
        }
        return sources.watching(observation)
    }

    /// Looks a value up and stores what a body leaves of it, with exclusive access.
    public func updateStoredValue<Result>(
        forKey key: String,
        _ body: (inout PropertyListValue?) throws -> Result
    ) throws -> Result {
        _ = try StoreKey(key)
        var isChanged = false
        let result = try withExclusiveAccess {
            let stored = ownValue(forKey: key)
            var value = stored
            let result = try body(&value)
            isChanged = !value.isSame(as: stored)
            if isChanged { try setStoredValue(value, forKey: key) }
            return result
        }
        if isChanged { notifyChange(forKey: key) }
        return result
    }

    /// Runs a body with exclusive access.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try withExclusiveAccess(body)
    }
}

/// A storage of `Codable` values under string keys: the minimum that a ``KeyValueContainer`` needs.
///
/// Every ``DefaultsStore`` conforms, and so does ``PersistentStorage``, which covers part of a suite. Your own storage
/// implements two methods:
///
/// ```swift
/// struct Vault: KeyValueStorage {
///     func value<T: Codable>(forKey key: String) -> T? { nil }
///     func setValue<T: Codable>(_ value: T?, forKey key: String) {}
/// }
/// ```
public protocol KeyValueStorage: SendableMetatype {
    /// The value stored under a key.
    ///
    /// Stores report a value that can't be read as this type to ``DefaultsDiagnostics``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when nothing is stored or it can't be read.
    func value<T: Codable>(forKey key: String) -> T?

    /// Stores a value under a key, or removes the stored value.
    ///
    /// Stores report a value that can't be stored to ``DefaultsDiagnostics``, and keep the previous value.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    func setValue<T: Codable>(_ value: T?, forKey key: String)

    /// Runs a body during which no other thread changes the storage through this library.
    ///
    /// Calls nest: a body may read, write and update the same storage, on the same thread. Other threads' writes wait
    /// until the body has returned, so a body that waits for another thread's write deadlocks. So do two bodies that
    /// access each other's storage. Reads don't wait. A ``FileDefaults`` also excludes other processes.
    ///
    /// **The body may run more than once** on a storage that detects conflicts instead of preventing them, such as one
    /// that several machines share. The writes of a run that had a conflict are discarded first. So a body should have
    /// no effects other than its writes to the storage. The storages of this library run it exactly once.
    ///
    /// The default implementation calls ``beginExclusiveAccess()`` and ``endExclusiveAccess()`` around the body.
    ///
    /// - Parameter body: The body.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws, and the storage's own errors when the body could not run.
    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result

    /// Prevents other threads from changing the storage through this library, until the matching
    /// ``endExclusiveAccess()`` on the same thread.
    ///
    /// For changes in place, which can't use a closure. Use ``withExclusiveAccess(_:)`` wherever a closure is possible.
    /// Calls nest.
    ///
    /// The default implementation uses one recursive lock per process, shared by all storages that don't have their
    /// own. It does not exclude other processes.
    ///
    /// - Throws: The storage's own errors. Exclusive access has not begun then.
    func beginExclusiveAccess() throws

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    func endExclusiveAccess()

    /// Calls a handler when values of the storage may have changed, until the observation is cancelled or released.
    ///
    /// The default implementation reports changes made through this library's typed calls (settings types, typed and
    /// string keys, containers), but not those made through the storage's own methods. During shared exclusive access
    /// it reports them at the end. A storage that has its own exclusive access, or rolls back transactions, has to
    /// notify its observers itself.
    ///
    /// - Parameter handler: Receives the keys, or nil when it isn't known which. It is called on the thread that made
    ///   the change, when the new values can be read and the thread's exclusive access has ended. It may use the
    ///   storage, and should return quickly: its calls don't overlap, and of the changes made during one, 256 wait to
    ///   be reported one by one. Further ones are combined into one call with nil.
    /// - Returns: The observation. Keep a reference to it for as long as it should last.
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation
}

extension KeyValueStorage {
    /// Runs a body between ``beginExclusiveAccess()`` and ``endExclusiveAccess()``, once.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }

    /// Acquires the lock that is shared by all storages without their own.
    public func beginExclusiveAccess() throws { ExclusiveAccess.ofProcess.acquire() }

    /// Releases the lock that is shared by all storages without their own.
    public func endExclusiveAccess() { ExclusiveAccess.ofProcess.release() }

    /// Calls a handler at each change that this library's typed calls make in storages with the same description.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        SharedHubs.observe(changeChannel, handler)
    }

    /// Notifies the observers of a storage that doesn't do so itself.
    func notifyChange(forKey key: String) {
        if let hub = SharedHubs.hub(named: changeChannel) {
            ExclusiveAccess.ofProcess.notify(hub, [key])
        }
    }

    /// Identifies the storage among those without their own hub.
    var changeChannel: String { (self as? any DefaultsStore)?.storeDescription ?? String(reflecting: Self.self) }
}

// The checks that every store makes before it stores a value; public, because third-party stores need them.

extension ErrorContext {
    init(_ key: String? = nil, _ type: Any.Type? = nil, in store: any DefaultsStore) {
        self.init(key: key, type: type, store: store.storeDescription)
    }
}

extension StoreKey {
    /// Creates a key to store a value under, and checks it.
    ///
    /// - Parameter string: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` for a key that is empty, contains
    ///   NUL, or has over 65,535 bytes of UTF-8.
    public init(_ string: String) throws(DefaultsError) {
        self.init(unchecked: string)
        if let fault { throw .invalidKey(string, because: fault) }
    }
}

extension PropertyListValue {
    /// Checks that a value does not nest too deeply to be stored.
    ///
    /// - Parameters:
    ///   - key: The key to store it under.
    ///   - store: The store, for the error.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/unsupportedValue`` for more than 256 levels.
    public func checkDepth(forKey key: String, in store: some DefaultsStore) throws(DefaultsError) {
        if isTooDeep { throw .unsupportedValue(.tooDeep, ErrorContext(key, in: store)) }
    }

    /// Creates a value from an object to store; nil when there is no object.
    ///
    /// - Throws: ``DefaultsError/Code/unsupportedValue`` for an object that is not a property-list value.
    init?(_ object: Any?, forKey key: String, in store: any DefaultsStore) throws(DefaultsError) {
        guard let object else { return nil }
        // An NSURL is a URL, too.
        if let convertible = object as? URL ?? object as? any PropertyListConvertible {
            self = convertible.propertyListValue
            return
        }
        do {
            try self.init(object: object)
        } catch {
            throw .unsupportedValue(error, ErrorContext(key, in: store))
        }
    }
}

extension [StoreKey: PropertyListValue] {
    /// Adds values, in place of those for the same keys.
    mutating func replaceValues(with others: Self) {
        for (key, value) in others {
            self[key] = value
        }
    }

    /// The values as objects by strings, which are equal if they are canonically equivalent: only one of several such
    /// keys is included.
    var objects: [String: Any] {
        var objects: [String: Any] = [:]
        for (key, value) in self {
            objects[key.string] = value.object
        }
        return objects
    }
}

extension [String: Any] {
    /// The property-list values with keys of a store, after all keys and values were checked.
    func checkedValues(in store: any DefaultsStore) throws(DefaultsError) -> [StoreKey: PropertyListValue] {
        var values: [StoreKey: PropertyListValue] = [:]
        for (key, object) in self {
            let value = try PropertyListValue(object, forKey: key, in: store)
            try value?.checkDepth(forKey: key, in: store)
            values[try StoreKey(key)] = value
        }
        return values
    }
}

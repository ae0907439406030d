/// A place that keeps `Codable` values under string keys: the least that a ``KeyValueContainer`` needs.
///
/// Every ``DefaultsStore`` is one, and ``PersistentStorage`` is one over part of a suite. A storage of your own has two methods:
///
/// ```swift
/// struct Vault: KeyValueStorage {
///     func value<T: Codable>(forKey key: String) -> T? { nil }
///     func setValue<T: Codable>(_ value: T?, forKey key: String) {}
/// }
/// ```
public protocol KeyValueStorage {
    /// The value stored under a key.
    ///
    /// Stores report to ``DefaultsDiagnostics`` what is there and can't be read as this type.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when nothing is stored or it can't be read.
    func value<T: Codable>(forKey key: String) -> T?

    /// Stores a value under a key, or removes what is there.
    ///
    /// Stores report to ``DefaultsDiagnostics`` what can't be stored, and leave what was there.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    func setValue<T: Codable>(_ value: T?, forKey key: String)

    /// Runs a body during which no other thread changes the storage through this library.
    ///
    /// Calls nest: a body may read, write and update the same storage, on the same thread. Other threads' writes wait
    /// until the body has ended, so a body that waits for another thread's write waits forever; so do two bodies that
    /// want each other's storage. Reads don't wait. On a ``FileDefaults`` other processes are kept out as well.
    ///
    /// **The body may run more than once** on a storage that detects conflicts instead of excluding them, such as one that
    /// several machines share: what a run that met a conflict has written is discarded first. So a body should have no
    /// effects but its writes to the storage. The storages of this library run it exactly once.
    ///
    /// The default implementation calls ``beginExclusiveAccess()`` and ``endExclusiveAccess()`` around the body.
    ///
    /// - Parameter body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and errors of the storage's own when the body could not run.
    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result

    /// Prevents other threads from changing the storage through this library, until the matching ``endExclusiveAccess()``
    /// on the same thread.
    ///
    /// For changes in place, which can't be a closure; use ``withExclusiveAccess(_:)`` wherever a closure will do. Calls nest.
    ///
    /// The default implementation uses one recursive lock of the process, shared by all storages that don't bring their
    /// own. It does not exclude other processes.
    ///
    /// - Throws: Errors of the storage's own; there is no exclusive access then.
    func beginExclusiveAccess() throws

    /// Ends what ``beginExclusiveAccess()`` began, on the same thread.
    func endExclusiveAccess()

    /// Calls a handler when values of the storage may have changed, until the observation is cancelled or released.
    ///
    /// The default implementation knows of the changes made through this library's typed calls (settings types, typed and
    /// string keys, containers), not of those made by the storage's own methods. Within
    /// the exclusive access that storages share it waits for the end; a storage that brings its own, or takes
    /// transactions back, has to notify its observers itself.
    ///
    /// - Parameter handler: Receives the keys, on the thread that made the change, once the new values can be read and the
    ///   thread has no exclusive access any more; nil where it isn't known which keys. It may use the storage, and has to
    ///   return soon.
    /// - Returns: The observation, to be held as long as it is to last.
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation
}

extension KeyValueStorage {
    /// Runs a body between ``beginExclusiveAccess()`` and ``endExclusiveAccess()``, once.
    ///
    /// - Parameter body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and errors of the storage's own when the body could not run.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }

    /// Takes the lock that all storages share which don't bring their own.
    public func beginExclusiveAccess() throws {
        ExclusiveAccess.ofProcess.acquire()
    }

    /// Releases the lock that all storages share which don't bring their own.
    public func endExclusiveAccess() {
        ExclusiveAccess.ofProcess.release()
    }

    /// Calls a handler at each change that this library's typed calls make in storages of the same description.
    ///
    /// - Parameter handler: Receives the keys.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        SharedHubs.observe(hubName, handler)
    }

    /// Notifies the observers of a storage that doesn't notify them itself.
    func notifyChange(forKey key: String) {
        if let hub = SharedHubs.hub(named: hubName) {
            ExclusiveAccess.ofProcess.notify(hub, [key])
        }
    }

    /// What identifies the storage among those that have no hub of their own.
    var hubName: String {
        (self as? any DefaultsStore)?.storeDescription ?? String(reflecting: Self.self)
    }
}

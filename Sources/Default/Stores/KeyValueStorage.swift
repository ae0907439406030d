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
public protocol KeyValueStorage {
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
    /// Calls nest: a body may read, write and update the same storage, on the same thread. Other threads' writes wait until
    /// the body has returned, so a body that waits for another thread's write deadlocks. So do two bodies that access each
    /// other's storage. Reads don't wait. A ``FileDefaults`` also excludes other processes.
    ///
    /// **The body may run more than once** on a storage that detects conflicts instead of preventing them, such as one that
    /// several machines share. The writes of a run that had a conflict are discarded first. So a body should have no effects
    /// other than its writes to the storage. The storages of this library run it exactly once.
    ///
    /// The default implementation calls ``beginExclusiveAccess()`` and ``endExclusiveAccess()`` around the body.
    ///
    /// - Parameter body: The body.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws, and the storage's own errors when the body could not run.
    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result

    /// Prevents other threads from changing the storage through this library, until the matching ``endExclusiveAccess()``
    /// on the same thread.
    ///
    /// For changes in place, which can't use a closure. Use ``withExclusiveAccess(_:)`` wherever a closure is possible.
    /// Calls nest.
    ///
    /// The default implementation uses one recursive lock per process, shared by all storages that don't have their own. It
    /// does not exclude other processes.
    ///
    /// - Throws: The storage's own errors. Exclusive access has not begun then.
    func beginExclusiveAccess() throws

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    func endExclusiveAccess()

    /// Calls a handler when values of the storage may have changed, until the observation is cancelled or released.
    ///
    /// The default implementation reports changes made through this library's typed calls (settings types, typed and string
    /// keys, containers), but not those made through the storage's own methods. During shared exclusive access it reports
    /// them at the end. A storage that has its own exclusive access, or rolls back transactions, has to notify its observers
    /// itself.
    ///
    /// - Parameter handler: Receives the keys, or nil when it isn't known which. It is called on the thread that made the
    ///   change, when the new values can be read and the thread's exclusive access has ended. It may use the storage, and
    ///   should return quickly.
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
    public func beginExclusiveAccess() throws {
        ExclusiveAccess.ofProcess.acquire()
    }

    /// Releases the lock that is shared by all storages without their own.
    public func endExclusiveAccess() {
        ExclusiveAccess.ofProcess.release()
    }

    /// Calls a handler at each change that this library's typed calls make in storages with the same description.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        SharedHubs.observe(hubName, handler)
    }

    /// Notifies the observers of a storage that doesn't do so itself.
    func notifyChange(forKey key: String) {
        if let hub = SharedHubs.hub(named: hubName) {
            ExclusiveAccess.ofProcess.notify(hub, [key])
        }
    }

    /// Identifies the storage among those without their own hub.
    var hubName: String {
        (self as? any DefaultsStore)?.storeDescription ?? String(reflecting: Self.self)
    }
}

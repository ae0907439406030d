public import Foundation

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

    /// Keeps everybody else from changing the storage through this library, until the matching ``endExclusiveAccess()``
    /// on the same thread.
    ///
    /// Calls nest. Other threads' writes wait, so a thread with exclusive access that waits for another thread's write waits
    /// forever; so do two threads that want each other's storage. Reads don't wait. Use
    /// ``withExclusiveAccess(_:)`` wherever a closure will do.
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
    /// string keys, containers), not of those made by the storage's own methods.
    ///
    /// - Parameter handler: Is told the keys, on whatever thread made the change, once the new values can be read; nil where
    ///   it isn't known which. It may use the storage, and has to return soon.
    /// - Returns: The observation, to be held as long as it is to last.
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation
}

extension KeyValueStorage {
    /// Takes the lock that all storages share which don't bring their own.
    public func beginExclusiveAccess() throws {
        ProcessLock.shared.lock()
    }

    /// Gives back the lock that all storages share which don't bring their own.
    public func endExclusiveAccess() {
        ProcessLock.shared.unlock()
    }

    /// Calls a handler at each change that this library's typed calls make in storages of the same description.
    ///
    /// - Parameter handler: Is told the keys.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        SharedHubs.observe(sharedName, handler)
    }

    /// Tells observers of a change in a storage that has no means of its own to do so.
    func tellOfChange(forKey key: String) {
        if SharedHubs.isActive, !(self is any SelfObservedStore) {
            SharedHubs.tell(sharedName, [key])
        }
    }

    var sharedName: String {
        (self as? any DefaultsStore)?.storeDescription ?? String(reflecting: Self.self)
    }

    /// Runs a body during which nobody else changes the storage through this library.
    ///
    /// Calls nest: a body may read, write and update the same storage, on the same thread. Other threads' writes wait
    /// until the body has ended, so a body that waits for another thread's write waits forever; so do two bodies that
    /// want each other's storage. Reads don't wait. On a ``FileDefaults`` other processes are kept out as well.
    ///
    /// - Parameter body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and errors of the storage's own when the body could not run.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }
}

/// A store that tells its observers itself, whatever call made the change.
protocol SelfObservedStore: DefaultsStore {}

extension FileDefaults: SelfObservedStore {}
extension MemoryDefaults: SelfObservedStore {}
extension UserDefaults: SelfObservedStore {}

/// The exclusive access of storages that have no identity to hang a lock on: a `UserDefaults` is made anew at each use
/// of a suite, and a third party's store may be a value.
private enum ProcessLock {
    static let shared = NSRecursiveLock()
}

#if canImport(Darwin)
internal import DefaultJournal
internal import Foundation
internal import ObjectiveC

/// The signals for one suite's `SuiteWatch`, from Foundation on Apple platforms.
///
/// It relies on two documented behaviours. Key-value observation of a `UserDefaults` reports a change of a key by any
/// object for the suite, and by other processes. `UserDefaults.didChangeNotification` is posted for changes by this
/// process only.
///
/// A key that contains a dot, or begins with "@", is not a key but a path in key-value coding, and observing it would
/// end the process. Changes of such a key by another process are therefore only found with the next change of any key
/// by this process.
final class FoundationWatch: NSObject, @unchecked Sendable {
    // Everything is set up and ended under `registrationLock`.
    private let suite: UserDefaults
    private let hub: ChangeHub
    private let watch: SuiteWatch
    private var observedKeys: Set<String> = []
    private var token: (any NSObjectProtocol)?

    /// The watches by their suites' names; each lasts as long as its suite has observers.
    private static let watches = PerProcess { Locked<[String: FoundationWatch]>([:]) }
    private static let registrationLock = PerProcess { ThreadLock(isRecursive: true) }

    /// Calls a handler at each change of a suite.
    ///
    /// - Parameters:
    ///   - suite: The suite.
    ///   - name: The name of the suite's hub.
    ///   - keys: The keys whose changes by other processes have to be found, stored or not; nil for those that are
    ///     stored.
    ///   - handler: The handler.
    /// - Returns: The observation.
    static func observe(
        _ suite: UserDefaults,
        named name: String,
        keys: Set<String>?,
        _ handler: @escaping StoreObservation.Handler
    ) -> StoreObservation {
        let lock = registrationLock.current
        lock.lock()
        defer { lock.unlock() }
        let observation = SharedHubs.observe(name, handler)
        if let hub = SharedHubs.hub(named: name) {
            watch(of: suite, named: name, reportingTo: hub).add(keys)
        }
        return StoreObservation {
            observation.cancel()
            endIfUnused(name)
        }
    }

    /// The suite's watch, which starts with the first observer.
    ///
    /// The present one may be that of observations that have just ended: their hub is gone, and notifies no observer.
    private static func watch(
        of suite: UserDefaults,
        named name: String,
        reportingTo hub: ChangeHub
    ) -> FoundationWatch {
        let present = watches.withLock { $0[name] }
        if let present, present.hub === hub { return present }
        let new = FoundationWatch(of: suite, reportingTo: hub)
        watches.withLock { $0[name] = new }
        present?.end()
        return new
    }

    /// Compares the keys that this library has just written, so that their change is reported once and not later.
    static func check(_ keys: Set<String>, named name: String) {
        watches.withLock { $0[name] }?.watch.check(keys)
    }

    private static func endIfUnused(_ name: String) {
        let lock = registrationLock.current
        lock.lock()
        defer { lock.unlock() }
        if SharedHubs.hub(named: name) == nil {
            watches.withLock { $0.removeValue(forKey: name) }?.end()
        }
    }

    private init(of suite: UserDefaults, reportingTo hub: ChangeHub) {
        self.suite = suite
        self.hub = hub
        watch = SuiteWatch(of: suite, reportingTo: hub)
        super.init()
        // For any object, because a suite may have several.
        token = NotificationCenter.default.addObserver(
            forName: UserDefaults.didChangeNotification,
            object: nil,
            queue: nil
        ) { [weak self] _ in self?.watch.check() }
    }

    private func add(_ keys: Set<String>?) {
        for key in watch.add(keys) where Self.canObserve(key) && observedKeys.insert(key).inserted {
            suite.addObserver(self, forKeyPath: key, options: [], context: nil)
        }
    }

    private func end() {
        if let token {
            NotificationCenter.default.removeObserver(token)
        }
        for key in observedKeys {
            suite.removeObserver(self, forKeyPath: key)
        }
    }

    private static func canObserve(_ key: String) -> Bool {
        !key.isEmpty && !key.contains(".") && !key.hasPrefix("@")
    }

    override func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        watch.check(keyPath.map { [$0] })
    }
}
#endif

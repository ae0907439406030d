/// The part of a suite whose keys begin with a prefix, for the containers of one component.
///
/// ```swift
/// if let storage = PersistentStorage(keyPrefix: "audio.") {
///     storage.setValue(0.8, forKey: "volume")     // under "audio.volume"
/// }
/// ```
///
/// The suite is a `UserDefaults` on Apple platforms, and a ``FileDefaults`` elsewhere. Any number of storages, threads and
/// processes may use one suite.
///
/// Two storages with different prefixes, neither of them empty, never see each other's keys. A prefix whose only dot is at
/// its end is prepended to the key. With an empty prefix the key is used directly. Other prefixes are escaped: the prefix
/// `"a"` and the key `"b"` become `"a%.b"`, and `"a.b."` and `"c"` become `"a%2Eb%2E%.c"`.
/// A storage can be a global constant, and may be used from any task.
public struct PersistentStorage {
    /// The prefix of each key, before escaping.
    public let keyPrefix: String

    /// The name of the suite; nil for the platform's standard store.
    public let suiteName: String?

    private let explicitStore: StandardDefaults?
    private let escapedPrefix: String

    /// Opens part of a suite.
    ///
    /// The result is nil for an invalid suite name, or when the suite can't be opened. The reason is reported to
    /// ``DefaultsDiagnostics``.
    ///
    /// - Parameters:
    ///   - suiteName: The suite's name; nil, the default, for the platform's standard store.
    ///   - keyPrefix: The prefix of its keys; empty by default.
    public init?(suiteName: String? = nil, keyPrefix: String = "") {
        if let suiteName {
            guard let suite = Self.openSuite(named: suiteName) else {
                return nil
            }
            explicitStore = suite
        } else {
            explicitStore = nil
        }
        self.suiteName = suiteName
        self.keyPrefix = keyPrefix
        escapedPrefix = Self.escape(keyPrefix)
    }

    /// The suite.
    public var suite: any DefaultsStore { explicitStore ?? StandardStore.current }

    /// The key that a value is stored under in the suite.
    ///
    /// - Parameter key: A key of this storage.
    /// - Returns: The suite's key.
    public func suiteKey(forKey key: String) -> String {
        escapedPrefix + key
    }

    /// Escapes a prefix so that it ends at its first dot.
    ///
    /// So no escaped prefix is the beginning of another, except the empty one.
    ///
    /// A prefix that needs no escaping has its only dot at the end, and no percent sign. Other prefixes end with a percent
    /// sign and a dot, which is not an escape sequence.
    private static func escape(_ prefix: String) -> String {
        // Keys are compared by their bytes, so a combining character after the dot doesn't matter.
        let utf8 = prefix.utf8
        let dot = utf8.firstIndex(of: UInt8(ascii: "."))
        if prefix.isEmpty || dot == utf8.indices.last && !utf8.contains(UInt8(ascii: "%")) {
            return prefix
        }
        let escaped = prefix.unicodeScalars.map { scalar in
            switch scalar {
            case "%": "%25"
            case ".": "%2E"
            default: String(scalar)
            }
        }
        return escaped.joined() + "%."
    }

    private static func openSuite(named name: String) -> StandardDefaults? {
        DefaultsDiagnostics.reporting(.openFailed) { () throws(DefaultsError) in
            #if canImport(Darwin)
            return try FoundationSuite.open(name)
            #else
            return try FileDefaults(suiteName: name)
            #endif
        }
    }
}

// A FileDefaults is Sendable. Apple documents UserDefaults as safe to use from several threads, but doesn't declare it so.
extension PersistentStorage: @unchecked Sendable {}

extension PersistentStorage: KeyValueStorage {
    /// The value stored under a key; see ``KeyValueStorage/value(forKey:)``.
    public func value<T: Codable>(forKey key: String) -> T? {
        suite.value(forKey: suiteKey(forKey: key))
    }

    /// Stores a value under a key; see ``KeyValueStorage/setValue(_:forKey:)``.
    public func setValue<T: Codable>(_ value: T?, forKey key: String) {
        suite.setValue(value, forKey: suiteKey(forKey: key))
    }

    /// Runs a body during which no other thread or process changes the suite; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)-swift.method``.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try suite.withExclusiveAccess(body)
    }

    /// Prevents other writers from changing the suite; see ``KeyValueStorage/beginExclusiveAccess()``.
    public func beginExclusiveAccess() throws {
        try suite.beginExclusiveAccess()
    }

    /// Calls a handler at each change of a key of this storage; see ``DefaultsStore``.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        suite.observeChanges(ownChanges(for: handler))
    }

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() {
        suite.endExclusiveAccess()
    }
}

extension PersistentStorage: KeyObservable {
    func observeChanges(of keys: Set<String>, _ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        .of(Set(keys.map(suiteKey(forKey:))), in: suite, ownChanges(for: handler))
    }

    /// A handler for the suite's changes that passes on those of this storage's keys.
    private func ownChanges(for handler: @escaping StoreObservation.Handler) -> StoreObservation.Handler {
        let prefix = escapedPrefix
        return { keys in
            guard let keys else {
                return handler(nil)
            }
            let own = keys.compactMap { key in
                Array(key.utf8).starts(with: Array(prefix.utf8)) ? String(key.utf8.dropFirst(prefix.utf8.count)) : nil
            }
            if !own.isEmpty {
                handler(Set(own))
            }
        }
    }
}

extension KeyValueStorage {
    /// Access to a key in the underlying store; nil for a custom storage.
    func keyAccess(forKey key: String) -> KeyAccess? {
        switch self {
        case let store as any DefaultsStore: KeyAccess(key, in: store)
        case let storage as PersistentStorage: KeyAccess(storage.suiteKey(forKey: key), in: storage.suite)
        default: nil
        }
    }
}

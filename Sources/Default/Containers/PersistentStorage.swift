internal import Foundation

/// Part of a suite: the keys that begin with a prefix, for the containers of one component.
///
/// ```swift
/// let storage = PersistentStorage(suiteName: "com.example.player", keyPrefix: "audio.")!
/// storage.setValue(0.8, forKey: "volume")         // under "audio.volume"
/// ```
///
/// The suite is one of the platform's default kind: a `UserDefaults` on Apple's systems, a ``FileDefaults`` elsewhere. Any
/// number of storages, threads and processes may use one suite; see there.
///
/// Two storages with different prefixes never see each other's keys, whatever the prefixes and keys are. A prefix with one
/// dot, at its end, simply stands before the key, and without a prefix the key stands for itself. Other prefixes are
/// escaped: `"a"` and the key `"b"` make `"a%.b"`, `"a.b."` and `"c"` make `"a%2Eb%2E%.c"`.
public struct PersistentStorage {
    /// What stands before each key, as it was given.
    public let keyPrefix: String

    private let explicitStore: (any DefaultsStore)?
    private let escapedPrefix: String

    /// Opens part of a suite.
    ///
    /// The result is nil for a name that can't be that of a suite, or when the suite can't be opened; the reason is reported to
    /// ``DefaultsDiagnostics``.
    ///
    /// - Parameters:
    ///   - suiteName: The suite's name; nil, the default, for the platform's standard store.
    ///   - keyPrefix: What its keys begin with; nothing by default.
    public init?(suiteName: String? = nil, keyPrefix: String = "") {
        if let suiteName {
            guard let suite = Self.openSuite(named: suiteName) else {
                return nil
            }
            explicitStore = suite
        } else {
            explicitStore = nil
        }
        self.keyPrefix = keyPrefix
        escapedPrefix = Self.escape(keyPrefix)
    }

    /// The suite.
    public var suite: any DefaultsStore { explicitStore ?? StandardStore.current }

    /// What a value is stored under in the suite.
    ///
    /// - Parameter key: A key of this storage.
    /// - Returns: The suite's key.
    public func suiteKey(forKey key: String) -> String {
        escapedPrefix + key
    }

    /// The prefix in the form in which all prefixes differ from each other's beginnings: up to the first dot.
    ///
    /// A plain one has its only dot at the end. The others end in a bare percent sign and that dot, which no plain one and no
    /// escape can have there.
    private static func escape(_ prefix: String) -> String {
        if prefix.isEmpty || prefix.firstIndex(of: ".") == prefix.indices.last && !prefix.contains("%") {
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

    private static func openSuite(named name: String) -> (any DefaultsStore)? {
        #if canImport(Darwin)
        // Foundation takes any name, and keeps nothing under these.
        guard !name.isEmpty, !name.contains("/"), !name.contains("\0") else {
            return nil
        }
        return UserDefaults(suiteName: name)
        #else
        return DefaultsDiagnostics.reporting(.openFailed) { () throws(DefaultsError) in
            try FileDefaults(suiteName: name)
        }
        #endif
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension PersistentStorage: Sendable {}

extension PersistentStorage: KeyValueStorage {
    /// The value stored under a key; see ``KeyValueStorage/value(forKey:)``.
    ///
    /// - Parameter key: The key, without the prefix.
    /// - Returns: The value; nil when nothing is stored, or what is there can't be read as this type, which is reported.
    public func value<T: Codable>(forKey key: String) -> T? {
        suite.value(forKey: suiteKey(forKey: key))
    }

    /// Stores a value under a key; see ``KeyValueStorage/setValue(_:forKey:)``.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes what is there.
    ///   - key: The key, without the prefix.
    public func setValue<T: Codable>(_ value: T?, forKey key: String) {
        suite.setValue(value, forKey: suiteKey(forKey: key))
    }

    /// Runs a body during which no other thread or process changes the suite; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)-swift.method``.
    ///
    /// - Parameter body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and what the suite throws.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try suite.withExclusiveAccess(body)
    }

    /// Prevents other writers from changing the suite; see ``KeyValueStorage/beginExclusiveAccess()``.
    ///
    /// - Throws: What the suite throws.
    public func beginExclusiveAccess() throws {
        try suite.beginExclusiveAccess()
    }

    /// Calls a handler at each change of a key of this storage; see ``DefaultsStore``.
    ///
    /// - Parameter handler: Receives the keys, without the prefix.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let prefix = escapedPrefix
        return suite.observeChanges { keys in
            guard let keys else {
                return handler(nil)
            }
            let own = keys.filter { $0.utf8.starts(with: prefix.utf8) }
            if !own.isEmpty {
                handler(Set(own.compactMap { String($0.utf8.dropFirst(prefix.utf8.count)) }))
            }
        }
    }

    /// Ends what ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() {
        suite.endExclusiveAccess()
    }
}

extension KeyValueStorage {
    /// The store that a key of this storage belongs to, and its key there; nil where only the storage knows.
    func place(ofKey key: String) -> KeyAccess? {
        switch self {
        case let store as any DefaultsStore: KeyAccess(key, in: store)
        case let storage as PersistentStorage: KeyAccess(storage.suiteKey(forKey: key), in: storage.suite)
        default: nil
        }
    }
}

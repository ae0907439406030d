#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The part of a suite whose keys begin with a prefix, for the containers of one component.
///
/// ```swift
/// if let storage = PersistentStorage(keyPrefix: "audio.") {
///     storage.setValue(0.8, forKey: "volume")     // under "audio.volume"
/// }
/// ```
///
/// The suite is a `UserDefaults` on Apple platforms, and a ``FileDefaults`` elsewhere. Any number of storages, threads
/// and processes may use one suite.
///
/// Two storages with different prefixes, neither of them empty, never see each other's keys. A prefix whose only dot is
/// at its end is prepended to the key. With an empty prefix the key is used directly. Other prefixes are escaped: the
/// prefix `"a"` and the key `"b"` become `"a%.b"`, and `"a.b."` and `"c"` become `"a%2Eb%2E%.c"`.
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
        explicitStore = suiteName.flatMap(Self.openSuite(named:))
        guard suiteName == nil || explicitStore != nil else { return nil }
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
    func suiteKey(forKey key: String) -> String { escapedPrefix + key }

    /// Escapes a prefix so that it ends at its first dot.
    ///
    /// So no escaped prefix is the beginning of another, except the empty one.
    ///
    /// A prefix that needs no escaping has its only dot at the end, and no percent sign. Other prefixes end with a
    /// percent sign and a dot, which is not an escape sequence.
    private static func escape(_ prefix: String) -> String {
        // Keys are compared by their bytes, so a combining character after the dot doesn't matter.
        var escaped = ""
        for scalar in prefix.unicodeScalars {
            switch scalar {
            case "%": escaped += "%25"
            case ".": escaped += "%2E"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        let isEscapedOnce = escaped.utf8.count == prefix.utf8.count + 2
        return prefix.isEmpty || isEscapedOnce && prefix.utf8.last == UInt8(ascii: ".") ? prefix : escaped + "%."
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

// A FileDefaults is Sendable. Apple documents UserDefaults as safe to use from several threads, but doesn't declare it
// so.
extension PersistentStorage: @unchecked Sendable {}

extension PersistentStorage: KeyValueStorage {
    /// The value stored under a key; see ``KeyValueStorage/value(forKey:)``.
    public func value<T: Codable>(forKey key: String) -> T? { suite.value(forKey: suiteKey(forKey: key)) }

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
    public func beginExclusiveAccess() throws { try suite.beginExclusiveAccess() }

    /// Calls a handler at each change of a key of this storage; see ``DefaultsStore``.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        suite.observeChanges(ownChanges(for: handler))
    }

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() { suite.endExclusiveAccess() }
}

extension PersistentStorage: KeyObservable {
    func observeChanges(of keys: Set<String>, _ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        .of(Set(keys.map(suiteKey(forKey:))), in: suite, ownChanges(for: handler))
    }

    /// A handler for the suite's changes that passes on those of this storage's keys.
    private func ownChanges(for handler: @escaping StoreObservation.Handler) -> StoreObservation.Handler {
        let prefix = Array(escapedPrefix.utf8)
        return { keys in
            guard let keys else { return handler(nil) }
            var own: Set<String> = []
            for key in keys {
                let key = Array(key.utf8)
                if key.starts(with: prefix) {
                    own.insert(String(decoding: key[prefix.count...], as: UTF8.self))
                }
            }
            if !own.isEmpty {
                handler(own)
            }
        }
    }
}

public import Configuration
public import Default
import Foundation

/// What a `ConfigReader` says, as a source of a store: its providers, such as files in YAML or a server of secrets, are
/// fallbacks or overrides then.
///
/// ```swift
/// let config = ConfigReader(provider: EnvironmentVariablesProvider())
/// let suite = try FileDefaults(
///     suiteName: "com.example.server",
///     fallbacks: [
///         ConfigurationSource(
///             config,
///             name: "environment",
///             keys: ["http.port": .int],
///             settings: ["Limits": ["requests": .int, "tenants": .stringArray]]
///         )
///     ]
/// )
/// suite.integer(forKey: "http.port")      // HTTP_PORT, unless something is stored
/// ```
///
/// A reader can't list what it has, so the source is told the keys and their types. All values are read from one
/// snapshot, and again whenever the reader's providers say that they have changed. A value of another type than the
/// stated one is missing; the reader's access reporter says so.
public struct ConfigurationSource: DefaultsSource {
    /// The name of the source for people.
    public let name: String

    private let reader: ConfigReader
    private let keys: [String: ConfigType]
    private let settings: [String: [String: ConfigType]]

    /// Makes a source of a reader.
    ///
    /// - Parameters:
    ///   - reader: The reader.
    ///   - name: The name of the source for people.
    ///   - keys: The keys of the store, which are the reader's as well, with the types of their values.
    ///   - settings: The properties of settings types with their types, by the types' identifiers; `Limits.requests` is
    ///     the reader's key for the property `requests` of `Limits`.
    public init(
        _ reader: ConfigReader,
        name: String,
        keys: [String: ConfigType] = [:],
        settings: [String: [String: ConfigType]] = [:]
    ) {
        self.reader = reader
        self.name = name
        self.keys = keys
        self.settings = settings
    }

    /// What the reader says now.
    public func values() -> [String: PropertyListValue] {
        let snapshot = reader.snapshot()
        var values: [String: PropertyListValue] = [:]
        for (key, type) in keys { values[key] = snapshot.value(forKey: ConfigKey(key), type: type) }
        for (identifier, properties) in settings {
            var found: [String: PropertyListValue] = [:]
            for (property, type) in properties {
                found[property] = snapshot.value(forKey: ConfigKey("\(identifier).\(property)"), type: type)
            }
            if !found.isEmpty { values[identifier] = .dictionary(found) }
        }
        return values
    }

    /// Calls a handler at each change that the reader's providers notice.
    public func observeChanges(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        let watching = Task { [reader] in
            try? await reader.watchSnapshot { updates in
                for await _ in updates { handler() }
            }
        }
        return StoreObservation { watching.cancel() }
    }
}

extension ConfigSnapshotReader {
    fileprivate func value(forKey key: ConfigKey, type: ConfigType) -> PropertyListValue? {
        switch type {
        case .string: string(forKey: key).map { .string($0) }
        case .int: int(forKey: key).map { .integer(Int64($0)) }
        case .double: double(forKey: key).map { .real($0) }
        case .bool: bool(forKey: key).map { .boolean($0) }
        case .bytes: bytes(forKey: key).map { .data(Data($0)) }
        case .stringArray: stringArray(forKey: key).map { .array($0.map { .string($0) }) }
        case .intArray: intArray(forKey: key).map { .array($0.map { .integer(Int64($0)) }) }
        case .doubleArray: doubleArray(forKey: key).map { .array($0.map { .real($0) }) }
        case .boolArray: boolArray(forKey: key).map { .array($0.map { .boolean($0) }) }
        case .byteChunkArray: byteChunkArray(forKey: key).map { .array($0.map { .data(Data($0)) }) }
        }
    }
}

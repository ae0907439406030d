public import Configuration
public import Default

/// Offers the settings in a suite as configuration, below or above other providers.
///
/// ```swift
/// let config = ConfigReader(providers: [
///     EnvironmentVariablesProvider(),
///     SuiteProvider(try FileDefaults(suiteName: "com.example.server")),
/// ])
/// config.int(forKey: "http.port", default: 8080)
/// ```
///
/// The key `http.port` is the value stored under `"http.port"`; else the entry `port` of a dictionary stored under
/// `"http"`, or the property `port` of a settings type stored there as JSON. Of a key that several layers have, all is
/// that of the highest: properties that settings take from a source below what is stored aren't found. Values may
/// change while a program runs, by this process or another one, and it gets the new ones.
public struct SuiteProvider<Store: DefaultsStore & Sendable>: Sendable {
    let store: Store
    let secrets: SecretsSpecifier<String, PropertyListValue>

    /// Offers a store's settings.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - secrets: Which values are not to be logged, by their keys as they are written with dots; none by default.
    public init(_ store: Store, secrets: SecretsSpecifier<String, PropertyListValue> = .none) {
        self.store = store
        self.secrets = secrets
    }
}

extension SuiteProvider: ConfigProvider {
    /// The store's description.
    public var providerName: String { "SuiteProvider[\(store.storeDescription)]" }

    /// The value that is stored at this moment.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try lookUp(key, type: type, secrets: secrets) { store.storedValue(forKey: $0) }
    }

    /// The value that is stored at this moment: a suite has no older one in memory.
    public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try value(forKey: key, type: type)
    }

    /// The value that is stored at this moment, then each one that takes its place.
    public func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey,
        type: ConfigType,
        updatesHandler: (
            _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
        ) async throws -> Return
    ) async throws -> Return {
        try await watch(
            { Result { try value(forKey: key, type: type) } },
            isSame: { one, two in
                switch (one, two) {
                case (.success(let one), .success(let two)): one == two
                case (.failure, .failure): true
                default: false
                }
            },
            updatesHandler: updatesHandler
        )
    }

    /// All values as they are at this moment, seen at once: stored ones, those of sources, and registered ones.
    ///
    /// A source of environment variables is in it only for keys that have a value in another layer.
    public func snapshot() -> any ConfigSnapshot {
        makeSnapshot()
    }

    /// The values as they are at this moment, then as they are after each change.
    public func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        try await watch(
            { makeSnapshot() as any ConfigSnapshot },
            isSame: { ($0 as? SuiteSnapshot)?.values == ($1 as? SuiteSnapshot)?.values },
            updatesHandler: updatesHandler
        )
    }

    private func makeSnapshot() -> SuiteSnapshot {
        SuiteSnapshot(providerName: providerName, values: currentValues(), secrets: secrets)
    }

    private func currentValues() -> [String: PropertyListValue] {
        let read = {
            // Also the keys of sources, and registered ones.
            let effective = (store as? any UserDefaultsVocabulary)?.dictionaryRepresentation() ?? [:]
            let keys = Set(store.storedKeys()).union(effective.keys)
            return keys.reduce(into: [String: PropertyListValue]()) { values, key in
                values[key] = store.storedValue(forKey: key)
            }
        }
        // Keys that are always changed together are then seen together. A store that can't be locked can still be read.
        return (try? store.withExclusiveAccess(read)) ?? read()
    }

    private func watch<Element: Sendable, Return: ~Copyable>(
        _ read: @escaping @Sendable () -> Element,
        isSame: @escaping @Sendable (Element, Element) -> Bool,
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<Element, Never>) async throws -> Return
    ) async throws -> Return {
        // A slow reader gets the newest value, not each one in between.
        let (updates, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let first = read()
        continuation.yield(first)
        let watching = Task {
            var changes = store.changes().makeAsyncIterator()
            var last = first
            repeat {
                // Also before the first wait: the value may have changed before watching began.
                let current = read()
                if !isSame(last, current) {
                    continuation.yield(current)
                    last = current
                }
            } while await changes.next(isolation: nil) != nil
        }
        do {
            let result = try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
            await end(watching)
            return result
        } catch {
            await end(watching)
            throw error
        }
    }

    /// Nothing reads the suite any more when this returns, so the caller may remove it.
    private func end(_ watching: Task<Void, Never>) async {
        watching.cancel()
        await watching.value
    }
}

/// A suite's values at one moment.
struct SuiteSnapshot: ConfigSnapshot {
    let providerName: String
    let values: [String: PropertyListValue]
    let secrets: SecretsSpecifier<String, PropertyListValue>

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try lookUp(key, type: type, secrets: secrets) { values[$0] }
    }
}

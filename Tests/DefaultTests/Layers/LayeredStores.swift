import Default
import DefaultJournal
import Foundation

/// The stores with sources that every test of layers runs over.
enum LayeredStoreKind: CaseIterable, Sendable {
    case memory
    case file
    /// A store of another package.
    case own

    /// Runs a test on an empty store with sources, which is removed afterwards.
    func withStore(
        mandatory: [any DefaultsSource] = [],
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = [],
        _ test: (any DefaultsStore & UserDefaultsVocabulary) throws -> Void
    ) throws {
        switch self {
        case .memory: try test(MemoryDefaults(mandatory: mandatory, overrides: overrides, fallbacks: fallbacks))
        case .file:
            try withTemporaryDirectory { directory in
                let url = directory.appending(path: "suite.defaults")
                try test(FileDefaults(url: url, mandatory: mandatory, overrides: overrides, fallbacks: fallbacks))
            }
        case .own:
            try test(OwnStore(DefaultsSources(mandatory: mandatory, overrides: overrides, fallbacks: fallbacks)))
        }
    }
}

/// A store as another package would write one, with sources.
final class OwnStore: UserDefaultsVocabulary, @unchecked Sendable {
    // The rows are used under the lock.
    private let lock = NSLock()
    private var rows: [StoreKey: PropertyListValue] = [:]
    let sources: DefaultsSources?
    let storeDescription = "OwnStore(\(UUID()))"

    init(_ sources: DefaultsSources?) { self.sources = sources }

    func ownValue(forKey key: String) -> PropertyListValue? { lock.withLock { rows[StoreKey(unchecked: key)] } }

    func storedValue(forKey key: String) -> PropertyListValue? {
        guard let sources else { return ownValue(forKey: key) }
        return sources.value(forKey: key, own: { ownValue(forKey: key) })
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        try sources?.checkWritable(key, in: self)
        try withExclusiveAccess { lock.withLock { rows[storeKey] = value } }
    }

    func storedKeys() -> [String] { lock.withLock { rows.keys.map(\.string) } }

    func flush() {}

    func register(defaults: [String: Any]) {}

    func dictionaryRepresentation() -> [String: Any] {
        lock.withLock { Dictionary(rows.map { ($0.key.string, $0.value.object) }) { first, _ in first } }
    }
}

/// A source whose values a test changes.
final class ChangingSource: DefaultsSource {
    let name = "changing"
    private let current: Locked<[String: PropertyListValue]?>
    private let handlers = Locked<[@Sendable () -> Void]>([])

    init(_ values: [String: PropertyListValue]?) { current = Locked(values) }

    struct Unreachable: Error {}

    func values() throws -> [String: PropertyListValue] {
        guard let values = current.withLock({ $0 }) else { throw Unreachable() }
        return values
    }

    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        handlers.withLock { $0.append(handler) }
        return StoreObservation {}
    }

    /// Changes the values; nil makes them unreadable.
    func change(to values: [String: PropertyListValue]?) {
        current.withLock { $0 = values }
        for handler in handlers.withLock({ $0 }) { handler() }
    }
}

/// A settings type of the tests of layers.
struct Deck: DefaultStorable, Equatable {
    var theme = "bright"
    var size = 1
    var isMuted = false
    var tags: Set<String> = ["a"]
    var avatar: String?
    var station: String? = "none"

    static let defaultValue: Deck? = Deck()
    static let defaultIdentifier = "Player"
}

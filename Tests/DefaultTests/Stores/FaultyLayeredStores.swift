import Default
import DefaultJournal
import DefaultConformance
import Foundation

/// A store with sources that passes everything else on to a `MemoryDefaults`; each store below breaks one promise.
protocol FaultyLayeredStore: FaultyStore {
    var layers: DefaultsSources? { get }
}

extension FaultyLayeredStore {
    var sources: DefaultsSources? { layers }
    func ownValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func storedValue(forKey key: String) -> PropertyListValue? {
        guard let layers else { return base.storedValue(forKey: key) }
        return layers.value(forKey: key, own: { base.storedValue(forKey: key) })
    }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        _ = try StoreKey(key)
        try layers?.checkWritable(key, in: self)
        try base.setStoredValue(value, forKey: key)
    }
    /// Has observers notified of the sources' changes too.
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = base.observeChanges(handler)
        layers?.connect { handler($0) }
        return layers?.watching(observation) ?? observation
    }
}

extension DefaultsSources {
    convenience init?(_ sources: StoreConformance.Sources) {
        self.init(mandatory: sources.mandatory, overrides: sources.overrides, fallbacks: sources.fallbacks)
    }
}

/// A store that breaks no promise.
struct FaultlessLayeredStore: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
}

struct StoredBeforeSources: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    func storedValue(forKey key: String) -> PropertyListValue? {
        // A mandatory value still counts.
        let effective = layers?.value(forKey: key, own: { nil })
        if origin(forKey: key)?.kind == .mandatory { return effective }
        return base.storedValue(forKey: key) ?? effective
    }
}

struct SourcesAsOwnValues: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    func ownValue(forKey key: String) -> PropertyListValue? { storedValue(forKey: key) }
}

struct MandatoryValuesRemoved: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        _ = try StoreKey(key)
        if value != nil { try layers?.checkWritable(key, in: self) }
        try base.setStoredValue(value, forKey: key)
    }
}

struct LayeredTransactionThatKeepsAll: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try base.withExclusiveAccess(body) }
}

struct WritesPastUnusableSources: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        _ = try StoreKey(key)
        if origin(forKey: key)?.kind == .mandatory { try layers?.checkWritable(key, in: self) }
        try base.setStoredValue(value, forKey: key)
    }
}

/// A store that looks its values up in sources, and doesn't say so, so that settings are written whole.
struct SourcesKeptSecret: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    var sources: DefaultsSources? { nil }
}

struct SourcesThatChangeUnnoticed: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges(handler)
    }
}

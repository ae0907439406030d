// is not concurrency-safe because non-'Sendable' type 'Stored<Double, any DefaultsStore>'
import Default

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
}

enum Holder {
    static let volume = Stored(.volume, suite: MemoryDefaults())
}

// is not concurrency-safe because non-'Sendable' type 'KeyValueContainer<Double>'
import Default

enum Holder {
    static let volume = KeyValueContainer<Double>(storage: MemoryDefaults(), key: "volume")
}

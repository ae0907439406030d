// is not concurrency-safe because non-'Sendable' type 'Defaults'
import Default

enum Holder {
    static let defaults = Defaults()
}

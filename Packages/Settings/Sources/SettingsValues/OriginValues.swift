package import Default
import Foundation

/// The values that the origins of a store's keys have.
package struct OriginValues {
    private let store: any DefaultsStore
    private var files: [URL: [String: PropertyListValue]] = [:]

    package init(of store: any DefaultsStore) { self.store = store }

    /// What an origin has for a key; nil for a source that isn't a file.
    package mutating func value(_ origin: DefaultsOrigin, forKey key: String) throws -> PropertyListValue? {
        guard origin.kind != .stored else { return store.ownValue(forKey: key) }
        guard let url = origin.url else { return nil }
        let values = try files[url] ?? FileSource.file(url).values()
        files[url] = values
        return values[key]
    }
}

extension DefaultsOrigin {
    /// For people: "the mandatory value in /etc/xdg/app.mandatory.json".
    package var shown: String {
        switch kind {
        case .stored: "what is stored"
        case .mandatory: "the mandatory value in \(name)"
        case .fallback: "the fallback in \(name)"
        default: "\(kind.name): \(name)"
        }
    }
}

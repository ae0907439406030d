package import Default
internal import Foundation

extension SuiteOperator {
    /// A change of one key.
    package struct Change: Sendable {
        package var key: StoreKey
        /// The new value; nil removes.
        package var value: PropertyListValue?
        /// What was read of the key; nil where it had no value.
        package var present: Version?

        package init(_ key: StoreKey, to value: PropertyListValue?, from present: Version? = nil) {
            self.key = key
            self.value = value
            self.present = present
        }

        /// About how much a transaction grows with it: the key is also in a condition, and in what is read when that is
        /// not true.
        fileprivate var byteCount: Int {
            3 * key.string.utf8.count + (value.map { JSONText.text(of: $0).count } ?? 0)
        }
    }

    /// Divides changes into parts, each for one transaction, of which a cluster accepts 128 operations and 1.5 MB.
    ///
    /// A part has 60 changes at most, and 500,000 bytes, or one change that is larger.
    package static func parts(of changes: [Change]) -> [ArraySlice<Change>] {
        var parts: [ArraySlice<Change>] = []
        var start = 0
        var size = 0
        for (index, change) in changes.enumerated() {
            let count = change.byteCount
            if index - start == 60 || index > start && size + count > 500_000 {
                parts.append(changes[start..<index])
                (start, size) = (index, 0)
            }
            size += count
        }
        return start < changes.count ? parts + [changes[start...]] : parts
    }
}

extension Dictionary where Key == StoreKey {
    /// The keys with their values in the cluster's order, which is that of the keys' bytes.
    package func inOrder() -> [(key: StoreKey, value: Value)] {
        sorted { $0.key.string.utf8.lexicographicallyPrecedes($1.key.string.utf8) }
    }
}

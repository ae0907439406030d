// The fuzz targets compile this file together with the engine's sources.
#if canImport(DefaultJournal)
package import DefaultJournal
#endif

/// The plainest index there is, for tests, their helper and the fuzz targets.
package final class PlainIndex: JournalIndex {
    package private(set) var entries: [[UInt8]: [UInt8]] = [:]

    package init() {}

    package func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8?,
        value: UnsafeRawBufferPointer,
        from origin: ChangeOrigin
    ) -> Int? {
        entries.updateValue((prefix.map { [$0] } ?? []) + value, forKey: Array(key)).map { $0.count + key.count }
    }

    package func remove(key: UnsafeRawBufferPointer, from origin: ChangeOrigin) -> Int? {
        entries.removeValue(forKey: Array(key)).map { $0.count + key.count }
    }

    package func removeAll(from origin: ChangeOrigin) { entries = [:] }

    package func holds(key: UnsafeRawBufferPointer, prefix: UInt8?, value: UnsafeRawBufferPointer) -> Bool {
        entries[Array(key)].map { $0 == (prefix.map { [$0] } ?? []) + value } ?? false
    }

    package func prepare(forBytes count: Int) {}

    /// Remembers nothing.
    package func beginComparison() {}

    /// Names no keys.
    package func endComparison(limit: Int) -> [String] { [] }
}

extension Journal {
    /// All entries of a journal with a ``PlainIndex``, up to date.
    package var all: [[UInt8]: [UInt8]] {
        withCurrentIndex { ($0 as? PlainIndex)?.entries ?? [:] }
    }
}

// The fuzz targets compile this file together with the engine's sources.
#if canImport(DefaultJournal)
package import DefaultJournal
#endif

extension Journal {
    /// All entries, up to date; read as the library reads them, beside other threads.
    package var all: [[UInt8]: [UInt8]] {
        let token = beginReading()
        defer { endReading(token) }
        var all: [[UInt8]: [UInt8]] = [:]
        entries.forEach { all[Array($0.key)] = Array($0.value) }
        return all
    }
}

/// When a write has to be on the disk.
package enum JournalDurability: Sendable {
    case background, everyWrite
}

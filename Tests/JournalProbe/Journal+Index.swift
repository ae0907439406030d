// The fuzz targets compile this file together with the engine's sources.
#if canImport(DefaultJournal)
package import DefaultJournal
#endif

extension Journal {
    /// Calls `body` with the index, up to date and locked.
    package func withCurrentIndex<Result, Failure: Error>(
        _ body: (any JournalIndex) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lockForReading()
        defer { unlockForReading() }
        return try body(index)
    }
}

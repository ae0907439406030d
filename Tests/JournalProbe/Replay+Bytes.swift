#if canImport(DefaultJournal)
package import DefaultJournal
#endif

extension Replay {
    /// Delivers the payload of every valid record in bytes that begin where a record begins, at an offset of a journal.
    package static func run(
        _ bytes: UnsafeRawBufferPointer,
        at base: UInt64,
        salt: UInt64,
        visit: (UnsafeRawBufferPointer) -> Void,
        visitDamaged: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) -> ReplayReport {
        do throws(JournalError) {
            var source = try FileWindow(bytes, at: base)
            var report = ReplayReport(validEnd: base)
            try run(&source, salt: salt, report: &report, visit: visit, visitDamaged: visitDamaged)
            return report
        } catch {
            preconditionFailure("Memory can always be read: \(error)")
        }
    }
}

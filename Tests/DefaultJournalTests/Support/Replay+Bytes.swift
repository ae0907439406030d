#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
// The fuzz targets compile this file together with the engine's sources.
#if canImport(DefaultJournal)
@testable import DefaultJournal
#endif

extension Replay {
    /// Delivers the payload of every valid record in bytes that begin where a record begins, at an offset of a journal.
    static func run(
        _ bytes: UnsafeRawBufferPointer,
        at base: UInt64,
        salt: UInt64,
        visit: (UnsafeRawBufferPointer) -> Void,
        visitDamaged: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) -> ReplayReport {
        guard let stream = tmpfile() else { preconditionFailure("There is no temporary file.") }
        defer { fclose(stream) }
        let file = fileno(stream)
        let written = pwrite(file, bytes.baseAddress, bytes.count, off_t(base))
        precondition(written == bytes.count, "The temporary file can't be written.")
        do throws(JournalError) {
            var source = try FileWindow(of: file, to: base + UInt64(bytes.count), calls: SystemCalls())
            var report = ReplayReport(validEnd: base)
            try run(&source, salt: salt, report: &report, visit: visit, visitDamaged: visitDamaged)
            return report
        } catch {
            preconditionFailure("The temporary file can't be read: \(error)")
        }
    }
}

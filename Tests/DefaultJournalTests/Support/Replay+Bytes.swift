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
    /// Calls a body with a replay of bytes from a record's start at an offset of a journal.
    static func with<Result>(
        _ bytes: UnsafeRawBufferPointer,
        at base: UInt64,
        salt: UInt64,
        _ body: (inout Replay) throws(JournalError) -> Result
    ) -> Result {
        guard let stream = tmpfile() else { preconditionFailure("There is no temporary file.") }
        defer { fclose(stream) }
        let file = fileno(stream)
        let written = pwrite(file, bytes.baseAddress, bytes.count, off_t(base))
        precondition(written == bytes.count, "The temporary file can't be written.")
        do throws(JournalError) {
            let source = try FileWindow(of: file, to: base + UInt64(bytes.count), calls: SystemCalls())
            var replay = Replay(source, from: base, salt: salt)
            return try body(&replay)
        } catch {
            preconditionFailure("The temporary file can't be read: \(error)")
        }
    }

    /// Delivers the payload of every valid record in such bytes.
    static func run(
        _ bytes: UnsafeRawBufferPointer,
        at base: UInt64,
        salt: UInt64,
        visit: (UnsafeRawBufferPointer) -> Void
    ) -> ReplayReport {
        with(bytes, at: base, salt: salt) { replay throws(JournalError) in
            while let payload = try replay.next() { visit(payload) }
            return replay.report
        }
    }
}

extension Record {
    /// Makes a record's header with a correct checksum, whatever length it claims.
    static func header(claiming length: UInt32, at offset: UInt64, salt: UInt64, payloadChecksum: UInt32 = 0) -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: headerSize)
        bytes.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            start.storeLittleEndian(marker, at: 0)
            start.storeLittleEndian(length, at: 4)
            start.storeLittleEndian(headerChecksum(salt: salt, offset: offset, number: 0, length: length), at: 8)
            start.storeLittleEndian(payloadChecksum, at: 12)
        }
        return bytes
    }
}

extension EntryTable {
    mutating func apply(_ payload: UnsafeRawBufferPointer) { Operation.forEach(in: payload) { apply($0) } }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// Fuzzes replay; the input is the content of a journal file.

/// Adds up all bytes of an operation, and so reads each of them.
private func sum(_ operation: Operation) -> Int {
    switch operation {
    case .set(let key, _, let value): key.reduce(0) { $0 &+ Int($1) } &+ value.reduce(0) { $0 &+ Int($1) }
    case .remove(let key): key.reduce(0) { $0 &+ Int($1) }
    case .removeAll: 0
    case .moved(let salt, let end): Int(truncatingIfNeeded: salt ^ end)
    }
}

/// Replays one input and checks the properties that hold for any bytes.
func fuzzReplay(_ bytes: UnsafeRawBufferPointer) {
    let count = bytes.count
    var salt: UInt64 = 0x1122_3344_5566_7788
    if case .valid(let header, _) = JournalHeader.parse(bytes) { salt = header.salt }
    let records = UnsafeRawBufferPointer(rebasing: bytes[min(JournalHeader.size, count)...])
    var total = 0
    let report = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt) { payload in
        Operation.forEach(in: payload) { total &+= sum($0) }
    }
    // A second replay must have the same report; it also fills a table, so that the sanitizer checks that too.
    var table = EntryTable()
    let again = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt) { table.apply($0) }
    precondition(report == again, "replay depends on more than the bytes")
    precondition(report.validEnd <= UInt64(JournalHeader.size + records.count), "the end is after the end of the file")
    var last = UInt64(JournalHeader.size)
    for range in report.damage {
        precondition(range.lowerBound >= last && !range.isEmpty, "damaged ranges overlap")
        last = range.upperBound
    }
    let entries = table.count
    precondition(entries <= count, "more entries than bytes")
    // A correct checksum lets the fuzzer get past it: the input becomes the payload of one record.
    if count > 0, count < 65_536 {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Record.headerSize + count + 2 * Record.alignment,
            alignment: 8
        )
        defer { memory.deallocate() }
        if let start = bytes.baseAddress { (memory + Record.headerSize).copyMemory(from: start, byteCount: count) }
        let size = Record.seal(memory, number: 0, payload: count, salt: salt, offset: UInt64(JournalHeader.size))
        let record = UnsafeRawBufferPointer(start: memory, count: size)
        let sealed = Replay.run(record, at: UInt64(JournalHeader.size), salt: salt) { _ in }
        precondition(sealed.records + sealed.damage.count == 1, "a sealed record is valid or damaged")
    }
    checkClaims(bytes, salt: salt)
}

/// Replays records with lengths from the input, in a file that is a hole behind the input's bytes for each of them.
///
/// The headers have correct checksums. However long the records claim to be, replay must read little of the hole.
private func checkClaims(_ input: UnsafeRawBufferPointer, salt: UInt64) {
    let partSize = 24
    let parts = min(input.count / partSize, 6)
    guard parts > 0 else { return }
    guard let stream = tmpfile() else { preconditionFailure("There is no temporary file.") }
    defer { fclose(stream) }
    let file = fileno(stream)
    let size: UInt64 = 8 << 30
    var offset = UInt64(JournalHeader.size)
    for part in 0..<parts where offset < size - 4_096 {
        let bytes = UnsafeRawBufferPointer(rebasing: input[(part * partSize)..<((part + 1) * partSize)])
        let length = max(1, bytes.littleEndian(at: 0, as: UInt32.self))
        // The checksum of the payload in the header is correct for a long payload only by chance.
        let header = Record.header(claiming: length, at: offset, salt: salt)
        precondition(pwrite(file, header, header.count, off_t(offset)) == header.count, "a header can't be written")
        let content = UnsafeRawBufferPointer(rebasing: bytes[4...])
        let start = off_t(offset) + off_t(header.count)
        precondition(pwrite(file, content.baseAddress, content.count, start) == content.count, "no content")
        let isClaim = length <= Record.maximumPayload
        offset += UInt64(Record.size(payload: isClaim ? Int(length) : partSize, at: offset))
    }
    precondition(ftruncate(file, off_t(size)) == 0, "the file can't be made longer")
    let probe = SystemCallProbe()
    probe.startRecording()
    do throws(JournalError) {
        let window = try FileWindow(of: file, to: size, calls: SystemCalls(probe: probe))
        var table = EntryTable()
        let report = try table.replay(window, salt: salt)
        precondition(report.validEnd <= size, "the end is after the end of the file")
    } catch {
        preconditionFailure("The temporary file can't be read: \(error)")
    }
    let bytesRead = probe.records.reduce(0) { $0 + ($1.call == .pread ? max(0, $1.result) : 0) }
    precondition(bytesRead <= parts * (3 * Operation.maximumValue + 16 << 20), "\(bytesRead) bytes were read")
}

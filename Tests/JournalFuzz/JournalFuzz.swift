// libFuzzer's entry point for replay; the input is the content of a journal file. `.ci/fuzz` compiles it together with
// the engine's sources, since libFuzzer has its own main function.

/// The sum of all bytes of an operation, each of which it reads.
private func sum(_ operation: Operation) -> Int {
    switch operation {
    case .set(let key, _, let value): key.reduce(0) { $0 &+ Int($1) } &+ value.reduce(0) { $0 &+ Int($1) }
    case .remove(let key): key.reduce(0) { $0 &+ Int($1) }
    case .removeAll: 0
    case .moved(let salt, let end): Int(truncatingIfNeeded: salt ^ end)
    }
}

/// Replays one input and checks what must hold for any bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    var salt: UInt64 = 0x1122_3344_5566_7788
    if case .valid(let header, _) = JournalHeader.parse(bytes) { salt = header.salt }
    let records = UnsafeRawBufferPointer(rebasing: bytes[min(JournalHeader.size, count)...])
    var total = 0
    let report = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt) { payload in
        Operation.forEach(in: payload) { total &+= sum($0) }
    }
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
    // With right checksums the fuzzer gets past them: the input as the payload of one record.
    if count > 0, count < 65_536 {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Record.headerSize + count + 2 * Record.alignment,
            alignment: 8
        )
        defer { memory.deallocate() }
        if let start { (memory + Record.headerSize).copyMemory(from: start, byteCount: count) }
        let size = Record.seal(memory, number: 0, payload: count, salt: salt, offset: UInt64(JournalHeader.size))
        let record = UnsafeRawBufferPointer(start: memory, count: size)
        let sealed = Replay.run(record, at: UInt64(JournalHeader.size), salt: salt) { _ in }
        precondition(sealed.records + sealed.damage.count == 1, "a sealed record is valid or damaged")
    }
    return 0
}

// Fuzzes a journal's header and the bytes behind its records: opens a suite with a journal that the input has changed.

import Foundation

/// A reader of the input, which returns zeros behind its end.
struct FuzzInput {
    var rest: UnsafeRawBufferPointer

    mutating func byte() -> UInt8 {
        guard let first = rest.first else { return 0 }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        return first
    }

    mutating func word() -> UInt64 { (0..<8).reduce(0) { word, index in word | UInt64(byte()) << (8 * index) } }
}

/// A journal with some records, before the fuzzer changes it.
struct FuzzJournal {
    static let salt: UInt64 = 0x1122_3344_5566_7788
    var bytes = [UInt8](repeating: 0, count: JournalHeader.size)
    var ends: [Int] = []

    init() {
        bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { JournalHeader(salt: Self.salt).encode(to: start) }
        }
        for number in UInt8(0)..<5 {
            // The payload is a set: its kind, the lengths of key and value, the key, and a value of two bytes.
            let payload: [UInt8] = [1, 1, 0, 2, 0, 0, 0, 65 + number, number, number]
            let start = bytes.count
            let padding = Record.size(payload: payload.count, at: UInt64(start)) - Record.headerSize - payload.count
            bytes += [UInt8](repeating: 0, count: Record.headerSize) + payload + [UInt8](repeating: 0, count: padding)
            bytes.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                Record.seal(base + start, number: 0, payload: payload.count, salt: Self.salt, offset: UInt64(start))
            }
            ends.append(bytes.count)
        }
    }
}

private let folder: String = {
    var template = Array("/dev/shm/default-fuzz-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { fatalError("The directory for the suites can't be created.") }
    return String(cString: path) + "/suite"
}()

private func contents(_ name: String) -> [UInt8] {
    (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))).map(Array.init) ?? []
}

private func seal(_ bytes: inout [UInt8], _ range: Range<Int>, at offset: Int) {
    let checksum = bytes[range].withUnsafeBytes { CRC32C.checksum($0) }
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
}

/// Opens one suite and checks the properties that hold for any header and tail.
func fuzzSuite(_ bytes: UnsafeRawBufferPointer) {
    var input = FuzzInput(rest: bytes)
    let flags = input.byte()
    let whole = FuzzJournal()
    var journal = whole.bytes
    // The copies of the header are changed, and get a correct checksum or not.
    var isIntact = [true, true]
    var isForged = false
    for (copy, offset) in JournalHeader.offsets.enumerated() where flags & (1 << copy) != 0 {
        for _ in 0..<(input.byte() % 8) { journal[offset + Int(input.byte() % 32)] = input.byte() }
        if flags & 4 != 0 { seal(&journal, offset..<offset + 28, at: offset + 28) }
        isIntact[copy] = journal[offset..<offset + 32] == whole.bytes[offset..<offset + 32]
        isForged = isForged || flags & 4 != 0 && !isIntact[copy]
    }
    if flags & 8 != 0 { journal = Array(journal.prefix(Int(input.byte()) << 8 | Int(input.byte()))) }
    let intactCount = journal.count
    // A record may follow that announces a move to a journal that doesn't exist.
    if flags & 16 != 0, journal.count == whole.bytes.count {
        let payload = [4] + (0..<16).map { _ in input.byte() }
        var record = [UInt8](repeating: 0, count: 64)
        let size = record.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            (base + Record.headerSize).copyMemory(from: payload, byteCount: payload.count)
            return Record.seal(
                base,
                number: 0,
                payload: payload.count,
                salt: FuzzJournal.salt,
                offset: UInt64(journal.count)
            )
        }
        journal += record[..<size]
    }
    // A record of any length may follow, with a correct checksum of its header, and a hole behind the bytes of it that
    // exist.
    var hole: UInt64 = 0
    if flags & 128 != 0, journal.count % Record.alignment == 0 {
        let length = max(1, UInt32(truncatingIfNeeded: input.word()))
        journal += Record.header(claiming: length, at: UInt64(journal.count), salt: FuzzJournal.salt)
        hole = UInt64(input.byte()) << 18
    }
    if flags & 32 != 0 { journal += (0..<Int(input.byte())).map { _ in input.byte() } }
    do {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(journal).write(to: URL(fileURLWithPath: folder + "/journal"))
        let size = UInt64(journal.count) + hole
        guard truncate(folder + "/journal", off_t(size)) == 0 else { fatalError("The journal can't be made longer.") }
    } catch {
        fatalError("\(error)")
    }
    var options = JournalOptions(automaticMaintenance: false)
    // Ten seconds later, the engine doesn't mistake a part of a journal for a copy in progress.
    if flags & 64 == 0 { options.calls = SystemCalls(probe: SystemCallProbe(fileTimeAdvance: 10_000_000_000)) }
    do {
        let suite = try Journal.open(at: folder, options: options)
        let found = suite.all
        let hasSalt =
            isIntact[0] && journal.count >= 32 || isIntact[1] && journal.count >= JournalHeader.size
        // A header of another journal with a correct checksum can't be told from the right one.
        if hasSalt, !isForged {
            for (number, end) in whole.ends.enumerated() where end <= intactCount {
                let number = UInt8(number)
                precondition(found[[65 + number]] == [number, number], "an intact record is lost")
            }
        }
        // Whatever was found, the suite must accept a write, and be intact after it.
        try [UInt8]("new".utf8).withUnsafeBytes { key in try suite.set(key: key, value: key) }
        try suite.synchronize()
        let verification = try suite.verify()
        precondition(verification.isIntact, "what was opened is damaged")
    } catch let error as JournalError {
        // Journals of a later format and copies that may continue are left as they are; nothing else may be refused.
        let left = contents("journal")
        let isUnchanged = left.count == journal.count + Int(hole) && left.starts(with: journal)
        switch error.kind {
        case .newerFormat, .overwritten: precondition(isUnchanged, "a refused journal was changed")
        default: fatalError("\(error)")
        }
    } catch {
        fatalError("\(error)")
    }
}

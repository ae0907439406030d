import Foundation
import Testing

@testable import DefaultJournal

@Suite("Format")
struct FormatTests {
    @Test("CRC-32C has the published values, in one piece and in several")
    func checksums() {
        func checksum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { CRC32C.checksum($0) } }
        // RFC 3720, appendix B.4, and the usual check value.
        #expect(checksum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(checksum(Array(0..<32)) == 0x46DD_794E)
        #expect(checksum(Array((0..<32).reversed())) == 0x113F_DB5C)
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for split in 0...bytes.count {
            let first = checksum(Array(bytes[..<split]))
            let both = Array(bytes[split...]).withUnsafeBytes { CRC32C.checksum($0, continuing: first) }
            #expect(both == checksum(bytes))
        }
    }

    @Test("CRC-32C is the same by tables and by the processor's instruction, for every length and alignment")
    func checksumsByTables() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(CRC32C.checksumByTable(nothing, continuing: 7) == 7)
        #expect(CRC32C.checksum(nothing, continuing: 7) == 7)
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 91) }
        for start in 0..<9 {
            for end in start...bytes.count {
                Array(bytes).withUnsafeBytes { all in
                    let part = UnsafeRawBufferPointer(rebasing: all[start..<end])
                    #expect(
                        CRC32C.checksum(part, continuing: 7) == CRC32C.checksumByTable(part, continuing: 7)
                    )
                }
            }
        }
    }

    @Test("A record begins at a multiple of eight bytes, but not at the beginning of a page")
    func starts() {
        let starts: [UInt64: UInt64] = [
            4_080: 4_080, 4_081: 4_088, 4_088: 4_088, 4_089: 4_104, 4_095: 4_104, 4_096: 4_104, 4_097: 4_104,
            4_105: 4_112,
        ]
        for (offset, start) in starts { #expect(Record.start(from: offset) == start, "\(offset)") }
    }

    @Test("A record ends at a multiple of eight bytes, but not at the end of a page")
    func sizes() {
        let sizes: [(payload: Int, offset: UInt64, size: Int)] = [
            (1, 4_128, 24), (8, 4_128, 24), (9, 4_128, 32), (16, 8_152, 32), (8, 8_160, 24), (9, 8_160, 40),
            (16, 8_160, 40), (17, 8_160, 40), (16, 8_168, 32), (1, 8_168, 32), (4_048, 4_128, 4_072),
            (4_049, 4_128, 4_072),
        ]
        for (payload, offset, size) in sizes {
            #expect(Record.size(payload: payload, at: offset) == size, "\(payload) at \(offset)")
        }
    }

    @Test("Either copy of the header is enough, and a later version is recognized")
    func headers() {
        let sample = SampleJournal()
        func parse(_ bytes: [UInt8]) -> JournalHeader.Reading { bytes.withUnsafeBytes { JournalHeader.parse($0) } }
        #expect(parse(sample.bytes) == .valid(JournalHeader(salt: sample.salt), damage: []))
        for index in 0..<32 {
            for (offset, other) in [(0, 4096), (4096, 0)] {
                var bytes = sample.bytes
                bytes[offset + index] ^= 0x10
                let damage = UInt64(offset)..<UInt64(offset + 32)
                #expect(parse(bytes) == .valid(JournalHeader(salt: sample.salt), damage: [damage]))
                bytes[other + index] ^= 0x10
                #expect(parse(bytes) == .unusable)
            }
        }
        for count in 0..<32 { #expect(parse(Array(sample.bytes[..<count])) == .unusable) }
        // No journal is written with this salt: in the engine it means that no journal is known.
        #expect(parse(SampleJournal(salt: 0).bytes) == .unusable)
        var newer = sample.bytes
        newer[8] = 2
        newer.withUnsafeMutableBytes { bytes in
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[0..<28]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
        }
        #expect(parse(newer) == .newer(version: 2))
        var other = sample.bytes
        other[0] ^= 1
        other.withUnsafeMutableBytes { bytes in
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[0..<28]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
        }
        #expect(parse(other) == .valid(JournalHeader(salt: sample.salt), damage: [0..<32]))
        // The second copy shows the later version too, whatever the state of the first one.
        for first in [sample.bytes[0], 0] {
            var newer = sample.bytes
            newer[0] = first
            newer[4_096 + 8] = 3
            newer.withUnsafeMutableBytes { bytes in
                let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[4_096..<4_124]))
                bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 4_124, as: UInt32.self)
            }
            #expect(parse(newer) == .newer(version: 3))
        }
        // If two copies differ, the first one counts.
        let two = Array(sample.bytes[..<4_096] + SampleJournal(salt: 5).bytes[4_096...])
        #expect(parse(two) == .valid(JournalHeader(salt: sample.salt), damage: []))
    }

    @Test("Only a whole operation is accepted as one")
    func operations() {
        func parse(_ bytes: [UInt8]) -> Int? {
            // A buffer of exactly this length, so that reading past its end is noticed.
            bytes.withUnsafeBytes { bytes in
                var cursor = 0
                return DefaultJournal.Operation.parse(bytes, at: &cursor) == nil ? nil : cursor
            }
        }
        for whole: [UInt8] in [
            [1, 1, 0, 2, 0, 0, 0, 65, 1, 2], [1, 1, 0, 0, 0, 0, 0, 65], [2, 2, 0, 65, 66], [3], [4] + Array(1...16),
        ] {
            #expect(parse(whole) == whole.count)
            #expect(parse(whole + [9, 9]) == whole.count)
            for count in whole.indices { #expect(parse(Array(whole[..<count])) == nil) }
        }
        // Operations without a key, and of a kind that this version doesn't know.
        for other: [UInt8] in [[1, 0, 0, 1, 0, 0, 0, 65], [2, 0, 0, 65], [0], [4, 1, 0, 65]] {
            #expect(parse(other) == nil)
        }
    }

    @Test("Each operation has the bytes of the format")
    func operationBytes() {
        func bytes(_ operation: DefaultJournal.Operation) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: operation.encodedSize) { buffer, count in
                operation.encode(to: buffer.baseAddress!)
                count = operation.encodedSize
            }
        }
        let (key, value): ([UInt8], [UInt8]) = ([65, 66], [1, 2, 3])
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                #expect(bytes(.set(key: key, prefix: nil, value: value)) == [1, 2, 0, 3, 0, 0, 0, 65, 66, 1, 2, 3])
                #expect(bytes(.set(key: key, prefix: 9, value: value)) == [1, 2, 0, 4, 0, 0, 0, 65, 66, 9, 1, 2, 3])
            }
            #expect(bytes(.remove(key: key)) == [2, 2, 0, 65, 66])
        }
        let longKey = [UInt8](repeating: 65, count: 0x0203)
        longKey.withUnsafeBytes { key in
            #expect(bytes(.remove(key: key)) == [2, 3, 2] + longKey)
            #expect(bytes(.set(key: key, prefix: nil, value: key)) == [1, 3, 2, 3, 2, 0, 0] + longKey + longKey)
        }
        #expect(bytes(.removeAll) == [3])
        let moved: [UInt8] = [4, 8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9]
        #expect(bytes(.moved(salt: 0x0102_0304_0506_0708, end: 0x090A_0B0C_0D0E_0F10)) == moved)
    }

    @Test("The golden file of version 1 can be read")
    func goldenFile() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/v1.journal")
        let bytes = Array(try Data(contentsOf: file))
        #expect(bytes == goldenJournal().bytes)
        let (found, report) = replay(bytes)
        #expect(report.isClean)
        #expect(report.records == 5)
        #expect(found.entries == ["volume": [42], "größe": Array("12 pt".utf8), "empty": []])
    }

    /// The fixture's journal, made again by this version.
    private func goldenJournal() -> SampleJournal {
        var journal = SampleJournal()
        journal.set("volume", [7])
        journal.set("größe", Array("12 pt".utf8))
        journal.set("gone", Array(repeating: 0xAB, count: 40))
        journal.append(payload: [1, 6, 0, 1, 0, 0, 0] + Array("volume".utf8) + [42] + [2, 4, 0] + Array("gone".utf8))
        journal.set("empty", [])
        return journal
    }

    @Test("A batch rejects what can't be stored and says why")
    func batches() {
        var batch = JournalBatch()
        #expect(batch.isEmpty)
        batch.set("", "x")
        #expect(batch.problem == .keyInvalid(bytes: 0))
        #expect(batch.isEmpty)
    }

    @Test("A value takes 64 MiB and its first byte, whether that is separate or not, and a bad key is named before it")
    func valueLimit() {
        [UInt8](repeating: 65, count: 1).withUnsafeBytes { key in
            // Only the sizes of these bytes are used.
            let value = UnsafeRawBufferPointer(start: key.baseAddress, count: 67_108_865)
            let longer = UnsafeRawBufferPointer(start: key.baseAddress, count: 67_108_866)
            let shorter = UnsafeRawBufferPointer(start: key.baseAddress, count: 67_108_864)
            let none = UnsafeRawBufferPointer(rebasing: key[..<0])
            func problem(_ operation: DefaultJournal.Operation) -> JournalError.Kind? { operation.problem }
            #expect(problem(.set(key: key, value: value)) == nil)
            #expect(problem(.set(key: key, prefix: 1, value: shorter)) == nil)
            #expect(problem(.set(key: key, value: longer)) == .valueTooLarge(bytes: 67_108_865))
            #expect(problem(.set(key: key, prefix: 1, value: value)) == .valueTooLarge(bytes: 67_108_865))
            #expect(problem(.set(key: none, value: longer)) == .keyInvalid(bytes: 0))
            #expect(problem(.remove(key: none)) == .keyInvalid(bytes: 0))
            #expect(problem(.remove(key: key)) == nil && problem(.removeAll) == nil)
            #expect(problem(.moved(salt: 0, end: 0)) == nil)
            var batch = JournalBatch()
            batch.set(key: key, prefix: 1, value: value)
            #expect(batch.problem == .valueTooLarge(bytes: 67_108_865))
            // Later changes don't replace the first rejection.
            batch.remove(key: none)
            batch.remove(key: key)
            #expect(batch.problem == .valueTooLarge(bytes: 67_108_865) && !batch.isEmpty)
        }
    }

    @Test("A batch takes as many bytes as its limit, which is 1 GiB, and not one more")
    func batchLimit() {
        #expect(JournalBatch().maximumSize == 1_073_741_824)
        var batch = JournalBatch()
        batch.maximumSize = 42
        // Each operation has 7 bytes, and 14 of key and value.
        batch.set("key 1", "123456789")
        batch.set("key 2", "123456789")
        #expect(batch.problem == nil)
        batch.remove("a")
        #expect(batch.problem == .batchTooLarge(bytes: 46))
        batch.set("", "x")
        #expect(batch.problem == .batchTooLarge(bytes: 46))
        var other = JournalBatch()
        other.maximumSize = 41
        other.set("key 1", "123456789")
        other.set("key 2", "123456789")
        #expect(other.problem == .batchTooLarge(bytes: 42))
    }

    @Test("A batch takes keys of 65,535 bytes, and not of one more")
    func keyLimit() {
        let key = [UInt8](repeating: 65, count: 65_536)
        var batch = JournalBatch()
        key.withUnsafeBytes { batch.remove(key: UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
        #expect(batch.problem == nil)
        key.withUnsafeBytes { batch.remove(key: $0) }
        #expect(batch.problem == .keyInvalid(bytes: 65_536))
    }
}

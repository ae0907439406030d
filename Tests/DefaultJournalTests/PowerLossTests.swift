#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal

@Suite("Power loss")
struct PowerLossTests {
    private static let value = String(repeating: "v", count: 90)

    @Test("After a few durable writes and a compaction, every possible disk image keeps what was promised")
    func smallTrace() throws {
        try checkImages(samples: 24, exhaustiveUpTo: 7) { journal, trace in
            try trace.set(journal, "a", "1", .everyWrite)
            try trace.set(journal, "b", "1", .background)
            try trace.set(journal, "a", "2", .everyWrite)
            try journal.compact()
            try trace.set(journal, "a", "3", .background)
            try trace.synchronize(journal)
        }
    }

    @Test("Many writes, removals, compactions of both kinds, and syncs")
    func largeTrace() throws {
        try checkImages(samples: 16, exhaustiveUpTo: 4) { journal, trace in
            for round in 0..<4 {
                for key in 0..<12 { try trace.set(journal, "key\(key)", "\(round) \(Self.value)", .background) }
                try trace.remove(journal, "key\(round)")
                if round % 2 == 0 { try journal.compact() }
                try trace.set(journal, "between", "\(round)", .background)
                try trace.synchronize(journal)
                try trace.set(journal, "durable", "\(round)", .everyWrite)
                if round % 2 == 1 { try journal.withExclusiveAccess { try journal.compact() } }
                try trace.set(journal, "durable", "\(round) again", .everyWrite)
            }
        }
    }

    @Test("A failed sync is recovered from by a rewrite, so that a later success is real")
    func failedSync() throws {
        try checkImages(samples: 16, exhaustiveUpTo: 4) { journal, trace in
            try trace.set(journal, "a", "1", .background)
            try trace.set(journal, "kept", "1", .background)
            trace.probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
            #expect(throws: JournalError.self) { try journal.synchronize() }
            try trace.set(journal, "a", "2", .everyWrite)
            try trace.set(journal, "b", "2", .background)
            try trace.synchronize(journal)
        }
    }

    private func checkImages(
        samples: Int,
        exhaustiveUpTo limit: Int,
        _ scenario: (Journal, inout PowerLossTrace) throws -> Void
    ) throws {
        let directory = TemporaryDirectory()
        var trace = PowerLossTrace()
        trace.probe.startRecording()
        let options = JournalOptions(calls: SystemCalls(probe: trace.probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try scenario(journal, &trace)
        var disk = PessimisticDisk(suite: directory.suite)
        var random = SystemRandomNumberGenerator()
        for (number, record) in trace.probe.records.enumerated() {
            disk.apply(record)
            guard [.open, .pwrite, .ftruncate, .fsync, .fdatasync, .rename].contains(record.call) else { continue }
            let count = disk.pendingCount
            if count <= limit {
                for choice in 0..<(1 << count) {
                    var bits = choice
                    try check(
                        disk.image {
                            defer { bits >>= 1 }; return bits & 1 == 1
                        },
                        trace,
                        number + 1
                    )
                }
            } else {
                try check(disk.image { true }, trace, number + 1)
                try check(disk.image { false }, trace, number + 1)
                for _ in 0..<samples { try check(disk.image { Bool.random(using: &random) }, trace, number + 1) }
            }
        }
    }

    private func check(_ image: [String: [UInt8]], _ trace: PowerLossTrace, _ record: Int) throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
        for (name, bytes) in image {
            try directory.write(
                name == "lock" ? Self.page(bytes, journal: image["journal"] ?? []) : bytes,
                to: "suite/" + name
            )
        }
        let journal = try Journal.openUnregistered(directory.suite)
        let problem = trace.problem(at: record, found: journal)
        #expect(problem == nil, "after record \(record)")
        try journal.set("next", "works")
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
        #expect(try journal.verify().isIntact)
    }

    /// The system writes the shared page back at any time, so its content on the disk is arbitrary.
    private static func page(_ bytes: [UInt8], journal: [UInt8]) -> [UInt8] {
        var page = bytes
        guard page.count == LockPage.size, Bool.random() else { return bytes }
        page.withUnsafeMutableBytes { page in
            for word in 1..<12 where Bool.random() {
                let value = [
                    0, 1, UInt64(journal.count), UInt64(journal.count / 2), UInt64.max, UInt64.random(in: 0...9999),
                ]
                page.storeBytes(of: value.randomElement() ?? 0, toByteOffset: word * 8, as: UInt64.self)
            }
            if journal.count >= 24, Bool.random() {
                for index in 0..<8 { page[16 + index] = journal[16 + index] }
            }
            // A page with a wrong checksum is not looked at.
            let check = UInt64(CRC32C.checksum(UnsafeRawBufferPointer(rebasing: page[..<64])))
            if Bool.random() { page.storeBytes(of: check, toByteOffset: 64, as: UInt64.self) }
        }
        return page
    }
}
#endif

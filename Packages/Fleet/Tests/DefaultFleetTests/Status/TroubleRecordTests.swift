import Foundation
import Testing

@testable import DefaultFleet

@Suite("What a follower has run into")
struct TroubleRecordTests {
    private func run(
        _ body: (_ writer: TroubleRecord, _ reader: TroubleRecord, _ file: URL) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try body(
                TroubleRecord(inReplicaAt: directory),
                TroubleRecord(inReplicaAt: directory),
                directory.appendingPathComponent("trouble")
            )
        }
    }

    @Test(
        "is what other processes of the host read, until the copy is confirmed",
        arguments: Freshness.Trouble.Cause.allCases
    )
    func record(cause: Freshness.Trouble.Cause) async throws {
        try await run { writer, reader, _ in
            #expect(reader.current(ofThisProcess: false) == nil)
            let trouble = Freshness.Trouble(cause: cause, explanation: "A sentence. Another one.")
            writer.record(trouble)
            #expect(reader.current(ofThisProcess: false) == trouble)
            #expect(writer.current(ofThisProcess: true) == trouble)
            writer.clear()
            #expect(reader.current(ofThisProcess: false) == nil)
            #expect(writer.current(ofThisProcess: true) == nil)
        }
    }

    @Test("is in a file that never grows, from the first confirmation on")
    func size() async throws {
        try await run { writer, reader, file in
            writer.clear()
            let size = try Data(contentsOf: file).count
            // Of two and of four bytes, so that some end would divide one; and a space at the end.
            for text in [String(repeating: "é😀 ", count: 500), String(repeating: "a ", count: 800), "one\ntwo"] {
                writer.record(.init(cause: .copy, explanation: text))
                #expect(try Data(contentsOf: file).count == size)
                let read = try #require(reader.current(ofThisProcess: false))
                #expect(read.cause == .copy && text.replacing("\n", with: " ").hasPrefix(read.explanation))
                #expect(read.explanation.utf8.count >= min(text.utf8.count, 900))
            }
            writer.clear()
            #expect(try Data(contentsOf: file).count == size)
        }
    }

    @Test("of an earlier process is gone when another one confirms the copy")
    func earlier() async throws {
        try await run { writer, other, _ in
            writer.record(.init(cause: .password, explanation: "It is wrong."))
            other.clear()
            #expect(writer.current(ofThisProcess: false) == nil)
        }
    }

    @Test("is nothing where the file is damaged, or half of it is of another write")
    func damaged() async throws {
        try await run { writer, reader, file in
            writer.record(.init(cause: .password, explanation: "It is wrong."))
            let whole = try Data(contentsOf: file)
            let end = try #require(String(decoding: whole, as: UTF8.self).lastIndex { $0 != " " })
            let count = String(decoding: whole, as: UTF8.self).prefix(through: end).utf8.count
            for place in 0..<count {
                var damaged = whole
                damaged[place] ^= 1
                try damaged.write(to: file)
                #expect(reader.current(ofThisProcess: false) == nil, "byte \(place)")
            }
            for length in [0, 10, whole.count - 1] {
                try whole.prefix(length).write(to: file)
                #expect(reader.current(ofThisProcess: false) == nil)
            }
        }
    }
}

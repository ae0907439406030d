import Default
import Foundation
import Testing

#if !canImport(Darwin)
@Suite("Several processes with one suite", .waits)
struct ProcessTests {
    private struct Counter: DefaultStorable {
        var count = 0
        static var defaults: CurrentStore { CurrentStore() }
    }

    @Test("count exactly when each updates one value")
    func updates() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "s").path(percentEncoded: false)
            try runAtOnce((0..<8).map { _ in ["count", path, "500"] })
            let suite = try FileDefaults(url: URL(filePath: path))
            #expect(try suite.df.load(forKey: "Counter", type: Counter.self)?.count == 4_000)
        }
    }

    @Test("migrate a value only once")
    func migrations() throws {
        struct MigratedCounter: Codable { var total: Int }
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "s").path(percentEncoded: false)
            let suite = try FileDefaults(url: URL(filePath: path))
            try suite.set(Data(#"{"count":1}"#.utf8), forKey: "MigratedCounter")
            try runAtOnce((0..<8).map { _ in ["migrate", path, "100"] })
            let stored = try suite.df.load(forKey: "MigratedCounter", type: MigratedCounter.self)
            #expect(stored?.total == 2 + 8 * 100 * 10)
            #expect(
                suite.dictionaryRepresentation().keys.sorted() == ["MigratedCounter", "MigratedCounter.schemaVersion"]
            )
        }
    }

    @Test("lose none of each other's keys, with transactions and compactions in between", arguments: [2, 8])
    func distinctKeys(processes: Int) throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "s").path(percentEncoded: false)
            try runAtOnce((0..<processes).map { ["keys", path, "\($0)", "500"] })
            let suite = try FileDefaults(url: URL(filePath: path))
            for process in 0..<processes {
                for number in 0..<500 {
                    #expect(suite.integer(forKey: "\(process).\(number)") == number)
                }
            }
            #expect(try suite.verify().isIntact)
        }
    }

    @Test("see a value as soon as the call that stored it has returned, and see only whole transactions")
    func coherence() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "s").path(percentEncoded: false)
            let suite = try FileDefaults(url: URL(filePath: path))
            #expect(suite.object(forKey: "a") == nil)
            let helper = try TestHelper.start(["pairs", path, "2000"])
            var rounds = 0
            while helper.isRunning {
                // Reads the keys in the opposite order of the write, so that a torn write would show b newer than a.
                let second = suite.integer(forKey: "b")
                let first = suite.integer(forKey: "a")
                #expect(first >= second)
                rounds += 1
            }
            helper.waitUntilExit()
            #expect(rounds > 0)
            #expect(suite.integer(forKey: "a") == 2_000)
            #expect(suite.integer(forKey: "b") == 2_000)
        }
    }

    @Test("find every value whose write had returned in a killed process")
    func kill() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "s").path(percentEncoded: false)
            for _ in 0..<10 {
                let helper = try TestHelper.start(["write-forever", path], pipesOutput: true)
                // Each line is a number that was stored before it was printed.
                let acknowledged = try #require(helper.readNumbers(atLeast: 50).last)
                helper.kill()
                let outcome = try TestHelper.run(["print-number", path])
                let stored = try #require(Int(outcome.output.trimmingCharacters(in: .newlines)), "\(outcome.errors)")
                #expect(stored >= acknowledged)
            }
        }
    }

    private func runAtOnce(_ commands: [[String]]) throws {
        let helpers = try commands.map { try TestHelper.start($0) }
        for helper in helpers {
            helper.waitUntilExit()
            #expect(helper.status == 0)
        }
    }
}
#endif

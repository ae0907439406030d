import Default
import Foundation
import Synchronization
import Testing

@Suite(.waits)
struct ConcurrencyTests {
    @Test("While another process writes, exports hold whole transactions and no write is lost")
    func writersMeet() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            // Many keys between the two that are changed together, so that an export which reads them by and by is
            // found out.
            try suite.transaction {
                for number in 0..<2_000 {
                    try suite.set(number, forKey: "m.\(number)")
                }
            }
            let isDone = Atomic<Bool>(false)
            let rounds = Atomic<Int>(0)
            let failures = Mutex<[String]>([])
            let writing = DispatchGroup()
            writing.enter()
            let writer = Thread {
                defer { writing.leave() }
                while !isDone.load(ordering: .relaxed) {
                    let round = rounds.wrappingAdd(1, ordering: .relaxed).newValue
                    do {
                        try suite.transaction {
                            try suite.set(round, forKey: "a.left")
                            try suite.set(round, forKey: "z.right")
                        }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                        return
                    }
                }
            }
            writer.start()
            func endWriter() {
                isDone.store(true, ordering: .relaxed)
                writing.wait()
            }
            // A write after the test has removed its folder would create the suite again.
            defer { endWriter() }

            let adders = try (0..<3).map { adder in
                let line = "for i in 1 2 3 4 5 6 7 8; do settings write app list -array-add \(adder)-$i; done"
                return try tool.shellProcess(line)
            }
            for round in 1...8 {
                let exported = try tool.run("export", "app", "--format", "json")
                #expect(exported.status == 0)
                let object = try JSONSerialization.jsonObject(with: exported.output) as? [String: Any]
                #expect(object?.count ?? 0 >= 2_000)
                #expect(object?["a.left"] as? Int == object?["z.right"] as? Int)
                #expect(try tool.run("verify", "app").status == 0)
                #expect(try tool.run("write", "app", "written.\(round)", "-int", "\(round)").status == 0)
            }
            for adder in adders {
                adder.waitUntilExit()
                #expect(adder.terminationStatus == 0)
            }
            endWriter()

            #expect(failures.withLock { $0 } == [])
            #expect(rounds.load(ordering: .relaxed) > 0)
            #expect(suite.stringArray(forKey: "list")?.count == 24)
            #expect(Set(suite.stringArray(forKey: "list") ?? []).count == 24)
            for round in 1...8 {
                #expect(suite.integer(forKey: "written.\(round)") == round)
            }
        }
    }
}

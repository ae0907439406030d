import Foundation
import Testing

@testable import Default

@Suite("A suite whose lock another process holds")
struct BusySuiteTests {
    /// Takes the lock of a suite through a separate open file, as another process would.
    private func withLock(of url: URL, _ body: () throws -> Void) throws {
        let file = open(url.path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(file, LOCK_EX) == 0)
        defer {
            // A child that another test is about to start shares the open file until it runs its program, so closing is
            // not enough.
            flock(file, LOCK_UN)
            close(file)
        }
        try body()
    }

    @Test(
        "can be read; what writes throws an error that names the process, and changes nothing",
        arguments: [0.02, 0, -1, .nan]
    )
    func timeout(_ seconds: TimeInterval) throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let suite = try FileDefaults(url: url, lockTimeout: seconds)
            try suite.set(1, forKey: "a")
            try suite.flush()
            try withLock(of: url) {
                #expect(suite.integer(forKey: "a") == 1)
                // A wait of more than a second would cause an event.
                let codes = EventCollector.codes { expectError(.storeBusy) { try suite.set(2, forKey: "a") } }
                #expect(codes == [])
                expectError(.storeBusy) { try suite.removeObject(forKey: "a") }
                expectError(.storeBusy) { try suite.transaction { try suite.set(2, forKey: "a") } }
                expectError(.storeBusy) { try suite.withExclusiveAccess {} }
                do {
                    try suite.set(2, forKey: "a")
                } catch {
                    #expect("\(error)".contains("another copy of this library in this process."))
                    #expect("\(error)".contains(url.path(percentEncoded: false)))
                }
                #expect(suite.integer(forKey: "a") == 1)
            }
            try suite.set(2, forKey: "a")
            #expect(suite.integer(forKey: "a") == 2)
        }
    }

    @Test("can be opened, and is waited for while it is created")
    func opening() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            do {
                try FileDefaults(url: url).set(1, forKey: "a")
            }
            try withLock(of: url) {
                let suite = try FileDefaults(url: url, lockTimeout: 0.02)
                #expect(suite.integer(forKey: "a") == 1)
                expectError(.storeBusy) { try suite.set(2, forKey: "a") }
            }
            let new = directory.appending(path: "new.defaults")
            try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
            try withLock(of: new) {
                expectError(.storeBusy) { _ = try FileDefaults(url: new, lockTimeout: 0.02) }
                // With an unlimited wait only the first attempt would end, and that with an error.
                let suite = FileSuite(location: .directory(new), lockTimeout: 0.02)
                for _ in 0..<3 {
                    expectError(.storeBusy) { _ = try suite.open() }
                }
                let standard = FileDefaults(suite: suite, durability: .background, sources: nil)
                #expect(standard.object(forKey: "a") == nil)
                expectError(.storeBusy) { try standard.set(2, forKey: "a") }
                expectError(.storeBusy) { try standard.checkAvailability() }
            }
            #expect(try FileDefaults(url: new).object(forKey: "a") == nil)
        }
    }

    @Test("is waited for by the first call that opens it, and not by each call that follows", .waits)
    func laterOpenings() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            // A wait of more than a second is reported.
            let suite = FileSuite(location: .directory(url), lockTimeout: 1.05)
            try Data().write(to: url)
            expectError(.storeUnavailable) { try suite.open() }
            try FileManager.default.removeItem(at: url)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            try withLock(of: url) {
                for expected in [[DefaultsError.Code.storeBusy], [], [], []] {
                    let codes = EventCollector.codes { expectError(.storeBusy) { try suite.open() } }
                    #expect(codes == expected)
                }
            }
            #expect(try suite.open().keys.isEmpty)
        }
    }

    @Test("is reported after a second of waiting", .waits)
    func event() throws {
        try withTemporaryDirectory { directory in
            // Runs in its own process, since a thread of the library may be the one that reports.
            let outcome = try TestHelper.run(["busy", directory.appending(path: "suite.defaults").path])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = outcome.output.split(separator: "\n").sorted()
            #expect(lines == ["event: store busy storeBusy", "set: storeBusy"])
        }
    }
}

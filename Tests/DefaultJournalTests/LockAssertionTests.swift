import Foundation
import Testing

@testable import DefaultJournal

@Suite("The engine's assertions about locks", .waits, .enabled(if: areAssertionsChecked))
struct LockAssertionTests {
    @Test(
        "end a process that calls a function without its lock",
        arguments: [
            "catchUp", "catchUp with stateLock, shared", "reload", "reload with exclusive", "releaseFileLock",
            "needsCompaction",
        ]
    )
    func withoutLock(call: String) throws {
        let directory = TemporaryDirectory()
        let helper = try Helper(["asserting", directory.suite, call])
        #expect(helper.finish().output == "")
        #expect(helper.process.terminationReason == .uncaughtSignal)
    }

    @Test(
        "let a call with its lock return",
        arguments: [
            "catchUp with stateLock", "reload under the lock", "releaseFileLock with exclusive",
            "needsCompaction in exclusive access",
        ]
    )
    func withLock(call: String) throws {
        let directory = TemporaryDirectory()
        let helper = try Helper(["asserting", directory.suite, call])
        #expect(helper.finish().output == "returned\n")
    }

    @Test("know which thread has a lock, also one that is taken more than once, or released while its holder waits")
    func holders() throws {
        let lock = ThreadLock(isRecursive: true)
        #expect(!lock.isHeldByThisThread)
        lock.lock()
        lock.lock()
        lock.unlock()
        #expect(lock.isHeldByThisThread)
        let isOthers = Locked<Bool?>(nil)
        Thread.detachNewThread { isOthers.withLock { $0 = lock.isHeldByThisThread } }
        try wait(for: "the other thread") { isOthers.withLock { $0 != nil } }
        #expect(isOthers.withLock { $0 } == false)
        lock.unlock()
        #expect(!lock.isHeldByThisThread)

        let condition = ThreadCondition()
        let single = ThreadLock()
        single.lock()
        condition.wait(single, until: Clock.monotonic() + 1)
        #expect(single.isHeldByThisThread)
        single.unlock()
        #expect(!single.isHeldByThisThread)
    }
}

/// Whether this build checks assertions, which one that is optimized doesn't.
private let areAssertionsChecked: Bool = {
    var isChecked = false
    assert(
        {
            isChecked = true
            return true
        }()
    )
    return isChecked
}()

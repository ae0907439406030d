import Foundation
import Testing

@testable import DefaultJournal

@Suite("A lock that readers share", .waits)
struct SharedLockTests {
    @Test("admits any number of readers, and none while a writer is active")
    func sharing() throws {
        let lock = SharedLock()
        let first = try #require(lock.tryLockShared())
        let second = try #require(lock.tryLockShared())
        lock.unlockShared(first)
        lock.unlockShared(second)
        lock.lock()
        #expect(lock.tryLockShared() == nil)
        lock.unlock()
        let third = try #require(lock.tryLockShared())
        lock.unlockShared(third)
        lock.lock()
        lock.unlock()
    }

    @Test("counts the readers of sixteen processors apart, and those of more together")
    func slots() {
        #expect([0, 1, 15, 16, 17, 33].map(SharedLock.slot(ofProcessor:)) == [0, 1, 15, 0, 1, 1])
    }

    @Test("makes a writer wait for the readers that there are, and no later reader for them")
    func waitingWriter() throws {
        let lock = SharedLock()
        let slots = try [#require(lock.tryLockShared()), #require(lock.tryLockShared())]
        let isLocked = Locked(false)
        let isDone = Locked(false)
        Thread.detachNewThread {
            lock.lock()
            isLocked.withLock { $0 = true }
            lock.unlock()
            isDone.withLock { $0 = true }
        }
        try wait(for: "a writer that waits") {
            let slot = lock.tryLockShared()
            if let slot { lock.unlockShared(slot) }
            return slot == nil
        }
        lock.unlockShared(slots[0])
        #expect(!isLocked.withLock { $0 } && lock.tryLockShared() == nil)
        lock.unlockShared(slots[1])
        try wait(for: "the writer") { isDone.withLock { $0 } }
        let slot = lock.lockShared()
        #expect(!slot.isExclusive)
        lock.unlockShared(slot)
    }

    @Test("never shows readers half of a change")
    func consistency() {
        // Two numbers that are equal whenever no writer is active.
        final class Pair: @unchecked Sendable {
            let lock = SharedLock()
            var first = 0
            var second = 0
        }
        let pair = Pair()
        let differences = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<5_000 {
                if thread < 2 {
                    pair.lock.lock()
                    pair.first += 1
                    pair.second += 1
                    pair.lock.unlock()
                } else if let slot = pair.lock.tryLockShared() {
                    let isSame = pair.first == pair.second
                    pair.lock.unlockShared(slot)
                    if !isSame { differences.withLock { $0 += 1 } }
                }
            }
        }
        #expect(differences.withLock { $0 } == 0)
        #expect(pair.first == 10_000)
    }
}

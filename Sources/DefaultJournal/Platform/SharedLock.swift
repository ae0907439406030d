internal import Synchronization

/// A lock that readers share, made for readers that are many, short, and on several processors.
///
/// A mutex, or one count of readers, would move from processor to processor with each look-up, which takes longer than the
/// look-up. So readers count themselves in places of their own, one of a few by thread, and only whoever wants the lock alone
/// looks at all of them. The scheme is known as a distributed or "big-reader" lock.
///
/// Readers never wait for each other. They must be short, since whoever wants the lock alone waits for them awake.
final class SharedLock: Sendable {
    private let alone = ThreadLock()
    private let isTaken = Atomic<Bool>(false)
    private let slots = Slots()

    /// Takes the lock alone.
    @inline(__always)
    func lock() {
        alone.lock()
        // From here on readers turn back; those that came before are waited for. Both sides write before they look, so one
        // of them sees the other.
        isTaken.store(true, ordering: .sequentiallyConsistent)
        if slots.areInUse { waitForReaders() }
    }

    /// Ends what ``lock()`` began.
    @inline(__always)
    func unlock() {
        isTaken.store(false, ordering: .releasing)
        alone.unlock()
    }

    /// Joins the readers, unless the lock is taken or about to be.
    ///
    /// - Returns: What ``leave(_:)`` takes; nil when ``lock()`` has to be called instead.
    @inline(__always)
    func join() -> Int? {
        let slot = slots.ofThread
        slots.enter(slot)
        if isTaken.load(ordering: .sequentiallyConsistent) {
            slots.leave(slot)
            return nil
        }
        return slot
    }

    /// Ends what ``join()`` began.
    @inline(__always)
    func leave(_ slot: Int) {
        slots.leave(slot)
    }

    @inline(never)
    private func waitForReaders() {
        var rounds = 0
        while slots.areInUse {
            rounds += 1
            // A reader that was interrupted may have to wait for a thread of higher priority, such as this one.
            if rounds < 1_000 { Threads.yield() } else { Threads.pause() }
        }
    }
}

/// Counts of readers, each on a cache line of its own.
private final class Slots: @unchecked Sendable {
    private struct Slot: ~Copyable {
        let readers = Atomic<Int>(0)
        // Two lines: processors fetch them in pairs.
        private let padding: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int) = (
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        )
    }

    private static let count = 8

    // Atomics need a fixed address.
    private let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)

    init() {
        for index in 0..<Self.count { (slots + index).initialize(to: Slot()) }
    }

    deinit {
        slots.deinitialize(count: Self.count)
        slots.deallocate()
    }

    /// Threads are told apart by addresses, whose middle bits differ.
    @inline(__always)
    var ofThread: Int { Int(truncatingIfNeeded: (Threads.current &* 0x9E37_79B9_7F4A_7C15) >> 61) }

    @inline(__always)
    func enter(_ index: Int) {
        slots[index].readers.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    func leave(_ index: Int) {
        slots[index].readers.wrappingSubtract(1, ordering: .releasing)
    }

    @inline(__always)
    var areInUse: Bool {
        for index in 0..<Self.count where slots[index].readers.load(ordering: .sequentiallyConsistent) != 0 {
            return true
        }
        return false
    }
}

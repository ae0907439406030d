internal import Synchronization

/// A lock that readers share, made for readers that are many, short, and on several processors.
///
/// A mutex, or one count of readers, would move from processor to processor with each look-up, which takes longer than the
/// look-up. So readers count themselves in places of their own, one of a few by processor, and only whoever wants the lock alone
/// looks at all of them. The scheme is known as a distributed or "big-reader" lock.
///
/// Readers never wait for each other. They must be short, since whoever wants the lock alone waits for them awake.
package final class SharedLock: Sendable {
    private let writerMutex = ThreadLock()
    private let writerActive = Atomic<Bool>(false)
    private let slots = Slots()

    package init() {}

    /// Takes the lock alone.
    @inline(__always)
    package func lock() {
        writerMutex.lock()
        // From here on readers turn back; those that came before are waited for. Both sides write before they look, so one
        // of them sees the other.
        writerActive.store(true, ordering: .sequentiallyConsistent)
        if slots.haveReaders { waitForReaders() }
    }

    /// Ends what ``lock()`` began.
    @inline(__always)
    package func unlock() {
        writerActive.store(false, ordering: .releasing)
        writerMutex.unlock()
    }

    /// Joins the readers, or takes the lock alone if that is what somebody else has just done.
    ///
    /// - Returns: What ``unlockShared(_:)`` takes.
    package func lockShared() -> Int? {
        if let slot = tryLockShared() { return slot }
        lock()
        return nil
    }

    /// Ends what ``lockShared()`` began.
    @inline(__always)
    package func unlockShared(_ slot: Int?) {
        if let slot { slots.removeReader(from: slot) } else { unlock() }
    }

    /// Joins the readers, unless the lock is taken or about to be.
    ///
    /// - Returns: What ``unlockShared(_:)`` takes; nil when ``lock()`` has to be called instead.
    @inline(__always)
    func tryLockShared() -> Int? {
        let slot = slots.nearest
        slots.addReader(to: slot)
        if writerActive.load(ordering: .sequentiallyConsistent) {
            slots.removeReader(from: slot)
            return nil
        }
        return slot
    }

    @inline(never)
    private func waitForReaders() {
        var rounds = 0
        while slots.haveReaders {
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

    private static let count = 16

    // Atomics need a fixed address. Whatever else lay in the first one's cache line would suffer with it.
    private let slots = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 128)
        .bindMemory(to: Slot.self, capacity: count)

    init() {
        for index in 0..<Self.count { (slots + index).initialize(to: Slot()) }
    }

    deinit {
        slots.deinitialize(count: Self.count)
        UnsafeMutableRawPointer(slots).deallocate()
    }

    /// The calling thread's.
    @inline(__always)
    var nearest: Int { Threads.processor & (Self.count - 1) }

    @inline(__always)
    func addReader(to index: Int) {
        slots[index].readers.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    func removeReader(from index: Int) {
        slots[index].readers.wrappingSubtract(1, ordering: .releasing)
    }

    @inline(__always)
    var haveReaders: Bool {
        for index in 0..<Self.count where slots[index].readers.load(ordering: .sequentiallyConsistent) != 0 {
            return true
        }
        return false
    }
}

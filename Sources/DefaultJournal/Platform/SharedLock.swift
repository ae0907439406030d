internal import Synchronization

/// A lock that readers share, for many short reads on several processors.
///
/// The cache line of a mutex, or of a single count of readers, would move between processors with each look-up, which takes
/// longer than the look-up. Here each processor counts its readers in a slot of its own, and only a writer checks all
/// slots. This is known as a distributed or "big-reader" lock.
///
/// Readers never wait for each other. They must be short, since a writer spins while it waits for them.
package final class SharedLock: Sendable {
    private let writerMutex = ThreadLock()
    private let writerActive = Atomic<Bool>(false)
    private let slots = Slots()

    package init() {}

    /// Takes the lock exclusively.
    package func lock() {
        writerMutex.lock()
        // New readers are refused from here on, and earlier ones are waited for. Both sides store before they load, so at
        // least one of them sees the other.
        writerActive.store(true, ordering: .sequentiallyConsistent)
        if slots.haveReaders { waitForReaders() }
    }

    /// Ends what ``lock()`` began.
    package func unlock() {
        writerActive.store(false, ordering: .releasing)
        writerMutex.unlock()
    }

    /// Takes the lock for reading, or exclusively if a writer is active.
    ///
    /// - Returns: The slot for ``unlockShared(_:)``.
    package func lockShared() -> Int? {
        if let slot = tryLockShared() { return slot }
        lock()
        return nil
    }

    /// Ends what ``lockShared()`` began.
    package func unlockShared(_ slot: Int?) {
        if let slot { slots.removeReader(from: slot) } else { unlock() }
    }

    /// Takes the lock for reading, unless a writer is active.
    ///
    /// - Returns: The slot for ``unlockShared(_:)``; nil when the lock wasn't taken.
    func tryLockShared() -> Int? {
        let slot = slots.nearest
        slots.addReader(to: slot)
        if writerActive.load(ordering: .sequentiallyConsistent) {
            slots.removeReader(from: slot)
            return nil
        }
        return slot
    }

    private func waitForReaders() {
        var rounds = 0
        while slots.haveReaders {
            rounds += 1
            // A preempted reader may need the processor of a thread with higher priority, such as this one.
            if rounds < 1_000 { Threads.yield() } else { Threads.pause() }
        }
    }
}

/// Counts of readers, each on a cache line of its own.
private final class Slots: @unchecked Sendable {
    private struct Slot: ~Copyable {
        let readers = Atomic<Int>(0)
        // Two cache lines: processors fetch them in pairs.
        private let padding: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int) = (
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        )
    }

    private static let count = 16

    // Atomics need a fixed address. The alignment keeps other data out of the first slot's cache line.
    private let slots = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 128)
        .bindMemory(to: Slot.self, capacity: count)

    init() {
        for index in 0..<Self.count { (slots + index).initialize(to: Slot()) }
    }

    deinit {
        slots.deinitialize(count: Self.count)
        UnsafeMutableRawPointer(slots).deallocate()
    }

    /// The slot of the calling thread's processor.
    var nearest: Int { Threads.processor & (Self.count - 1) }

    func addReader(to index: Int) {
        slots[index].readers.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    func removeReader(from index: Int) {
        slots[index].readers.wrappingSubtract(1, ordering: .releasing)
    }

    var haveReaders: Bool {
        for index in 0..<Self.count where slots[index].readers.load(ordering: .sequentiallyConsistent) != 0 {
            return true
        }
        return false
    }
}

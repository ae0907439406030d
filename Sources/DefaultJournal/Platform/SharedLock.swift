/// A lock that readers share, for many short reads on several processors.
///
/// The cache line of a mutex, or of a single count of readers, would move between processors with each look-up, which takes
/// longer than the look-up. Here each processor counts its readers in a slot of its own, and only a writer checks all
/// slots. This is known as a distributed or "big-reader" lock.
///
/// Readers never wait for each other. They must be short, since a writer spins while it waits for them.
package final class SharedLock: Sendable {
    private let writerMutex = ThreadLock()
    private let slots = Slots()

    package init() {}

    /// Takes the lock exclusively.
    package func lock() {
        writerMutex.lock()
        // New readers are refused from here on, and earlier ones are waited for. Both sides store before they load, so at
        // least one of them sees the other.
        slots.writerActive.store(1, ordering: .sequentiallyConsistent)
        if slots.haveReaders { waitForReaders() }
    }

    /// Ends what ``lock()`` began.
    package func unlock() {
        slots.writerActive.store(0, ordering: .releasing)
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
        if slots.writerActive.load(ordering: .sequentiallyConsistent) != 0 {
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

/// Counts of readers, and the flag of a writer, each on a cache line of its own.
private final class Slots: @unchecked Sendable {
    private static let count = 16
    /// Two cache lines: processors fetch them in pairs.
    private static let stride = 128

    // The readers' words, then the writer's; only atomic operations access them.
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: (count + 1) * stride, alignment: stride)

    init() {
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: (Self.count + 1) * Self.stride)
    }

    deinit {
        memory.deallocate()
    }

    private func word(_ index: Int) -> AtomicWord {
        AtomicWord((memory + index &* Self.stride).assumingMemoryBound(to: UInt64.self))
    }

    /// Not 0 while a writer has the lock or waits for readers.
    var writerActive: AtomicWord { word(Self.count) }

    /// The slot of the calling thread's processor.
    var nearest: Int { Threads.processor & (Self.count - 1) }

    func addReader(to index: Int) {
        word(index).wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    func removeReader(from index: Int) {
        word(index).wrappingSubtract(1, ordering: .releasing)
    }

    var haveReaders: Bool {
        for index in 0..<Self.count where word(index).load(ordering: .sequentiallyConsistent) != 0 {
            return true
        }
        return false
    }
}

/// The result of taking a ``SharedLock`` for reading, with which it is released.
package struct ReadToken: Sendable {
    /// The slot in which the reader is counted; nil if it has the lock exclusively.
    fileprivate let slot: Int?

    /// The token of a reader that has the lock exclusively.
    static var exclusive: ReadToken { ReadToken(slot: nil) }

    var isExclusive: Bool { slot == nil }
}

/// A lock that readers share, for many short reads on several processors.
///
/// The cache line of a mutex, or of a single count of readers, would move between processors with each look-up, which
/// takes longer than the look-up. Here each processor counts its readers in its own slot, and only a writer checks
/// all slots. This is known as a distributed or "big-reader" lock.
///
/// Readers never wait for each other. They must be short, since a writer spins while it waits for them.
package final class SharedLock: @unchecked Sendable {
    private static let slotCount = 16
    /// Two cache lines: processors fetch them in pairs.
    private static let stride = 128

    private let writerMutex = ThreadLock()
    // The counts of readers, then the writer's word; only atomic operations access them.
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: (slotCount + 1) * stride, alignment: stride)

    package init() {
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: (Self.slotCount + 1) * Self.stride)
    }

    deinit { memory.deallocate() }

    private func word(_ index: Int) -> AtomicWord {
        AtomicWord((memory + index &* Self.stride).assumingMemoryBound(to: UInt64.self))
    }

    /// Not 0 while a writer has the lock or waits for readers.
    private var writerActive: AtomicWord { word(Self.slotCount) }

    private var haveReaders: Bool {
        for index in 0..<Self.slotCount where word(index).load() != 0 { return true }
        return false
    }

    static func slot(ofProcessor number: Int) -> Int { number % slotCount }

    /// Takes the lock exclusively.
    package func lock() {
        writerMutex.lock()
        // New readers are refused from here on, and earlier ones are waited for. Both sides store before they load, so
        // at least one of them sees the other.
        writerActive.store(1)
        var rounds = 0
        while haveReaders {
            rounds += 1
            // A preempted reader may need the processor of a thread with higher priority, such as this one.
            if rounds < 1_000 { Threads.yield() } else { Threads.sleep(nanoseconds: 100_000) }
        }
    }

    package func unlock() {
        writerActive.store(0)
        writerMutex.unlock()
    }

    /// Whether the calling thread has the lock exclusively, for assertions; see ``ThreadLock/isHeldByThisThread``.
    var isHeldByThisThread: Bool { writerMutex.isHeldByThisThread }

    /// Whether the calling thread has the lock exclusively, or some thread for reading, for assertions.
    var isHeld: Bool { isHeldByThisThread || haveReaders }

    func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Takes the lock for reading, or exclusively if a writer is active.
    package func lockShared() -> ReadToken {
        if let token = tryLockShared() { return token }
        lock()
        return .exclusive
    }

    package func unlockShared(_ token: ReadToken) {
        if let slot = token.slot { word(slot).wrappingAdd(0 &- 1) } else { unlock() }
    }

    /// Takes the lock for reading, unless a writer is active: then it returns nil.
    func tryLockShared() -> ReadToken? {
        let slot = Self.slot(ofProcessor: Threads.processor)
        word(slot).wrappingAdd(1)
        if writerActive.load() == 0 { return ReadToken(slot: slot) }
        word(slot).wrappingAdd(0 &- 1)
        return nil
    }
}

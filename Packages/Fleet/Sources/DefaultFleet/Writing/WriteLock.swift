internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A recursive lock that waits until a deadline at most.
///
/// Threads of one process write one after the other: their changes would conflict, and a plain write has to wait for
/// exclusive access.
final class WriteLock: @unchecked Sendable {
    private let condition = MonotonicCondition()
    /// How often the calling thread, which has the lock, has acquired it.
    private(set) var depth = 0
    private let owner = Atomic<UInt>(0)

    /// Whether the calling thread has the lock; costs one atomic load while no thread has it.
    var isOwned: Bool {
        let owner = owner.load(ordering: .relaxed)
        return owner != 0 && owner == Self.currentThread
    }

    /// Waits for the lock; calls nest.
    ///
    /// - Returns: False when the deadline has passed.
    func acquire(until deadline: Deadline) -> Bool {
        if isOwned {
            depth += 1
            return true
        }
        return condition.withLock {
            while owner.load(ordering: .relaxed) != 0 {
                guard !deadline.hasPassed else { return false }
                condition.wait(until: deadline)
            }
            owner.store(Self.currentThread, ordering: .relaxed)
            depth = 1
            return true
        }
    }

    func release() {
        depth -= 1
        if depth == 0 {
            condition.withLock {
                owner.store(0, ordering: .relaxed)
                // To all: one that is woken may have given up.
                condition.broadcast()
            }
        }
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}

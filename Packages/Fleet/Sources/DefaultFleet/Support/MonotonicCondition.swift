#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
#error("This system's conditions are unknown.")
#endif

/// A lock, and a condition whose waits end by monotonic time.
///
/// Those of Foundation and Dispatch end by the clock, which may be set: after an hour if it is set back by one.
final class MonotonicCondition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Releases the lock, waits, and acquires it again; may return early.
    func wait(until deadline: Deadline) {
        // The deadline counts the time that the system sleeps, and this wait may not; so it looks again.
        let limit = min(deadline.remaining, .seconds(60)).timespec
        #if canImport(Darwin)
        var relative = limit
        pthread_cond_timedwait_relative_np(condition, mutex, &relative)
        #else
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += limit.tv_sec
        end.tv_nsec += limit.tv_nsec
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        pthread_cond_timedwait(condition, mutex, &end)
        #endif
    }

    func signal() {
        pthread_cond_signal(condition)
    }

    func broadcast() {
        pthread_cond_broadcast(condition)
    }
}

extension Duration {
    fileprivate var timespec: timespec {
        let (seconds, attoseconds) = components
        #if canImport(Darwin)
        return Darwin.timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        #elseif canImport(Glibc)
        return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        #else
        return Musl.timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        #endif
    }

    /// Sleeps, on a thread that may block; by monotonic time.
    func sleep() {
        var (time, rest) = (max(self, .zero).timespec, Self.zero.timespec)
        while nanosleep(&time, &rest) != 0, errno == EINTR {
            time = rest
        }
    }
}

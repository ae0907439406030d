#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
internal import CDefaultSystem
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A mutex with `lock` and `unlock` as separate calls.
///
/// The standard library's `Mutex` takes a closure, which would need generics across the module boundary for the upper
/// layer's look-up, and it isn't recursive.
public final class ThreadLock: @unchecked Sendable {
    // The mutex needs a fixed address; only the pthread functions access it, which are thread-safe.
    fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>
    #if DEBUG
    /// The thread that has the lock, or 0.
    private let holder = Atomic<UInt>(0)
    /// How often that thread has taken it; used by that thread only.
    private var depth = 0
    #endif

    /// - Parameter isRecursive: Whether the thread that holds the lock may take it again.
    public init(isRecursive: Bool = false) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        #if canImport(Glibc)
        // Spins for a moment before it blocks, since most holders are faster than blocking and waking up.
        let plain = PTHREAD_MUTEX_ADAPTIVE_NP
        #else
        let plain = PTHREAD_MUTEX_NORMAL
        #endif
        pthread_mutexattr_settype(&attributes, Int32(isRecursive ? PTHREAD_MUTEX_RECURSIVE : plain))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits for the lock and takes it.
    public func lock() {
        pthread_mutex_lock(mutex)
        noteTaken()
    }

    /// Releases the lock; called by the thread that has it.
    public func unlock() {
        noteReleased()
        pthread_mutex_unlock(mutex)
    }

    /// Takes the lock if it is free, and returns whether it was.
    func tryLock() -> Bool {
        guard pthread_mutex_trylock(mutex) == 0 else { return false }
        noteTaken()
        return true
    }

    /// Takes the lock, spinning at first: blocking and waking up takes longer than most holders do.
    func lockSpinning() {
        for _ in 0..<2000 where tryLock() { return }
        lock()
    }

    /// Whether the calling thread has the lock, for assertions: always true in release builds, which don't know it.
    package var isHeldByThisThread: Bool {
        #if DEBUG
        holder.load() == Threads.current
        #else
        true
        #endif
    }

    fileprivate func noteTaken() {
        #if DEBUG
        holder.store(Threads.current)
        depth += 1
        #endif
    }

    fileprivate func noteReleased() {
        #if DEBUG
        depth -= 1
        if depth == 0 { holder.store(0) }
        #endif
    }
}

/// A condition variable whose timeouts are measured on the monotonic clock.
final class ThreadCondition: @unchecked Sendable {
    // As in ThreadLock: a fixed address, accessed by pthread functions only.
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    func signal() { pthread_cond_signal(condition) }

    func broadcast() { pthread_cond_broadcast(condition) }

    /// Waits for a signal, or until ``Clock/monotonic()`` reaches `deadline`; `lock` is held before and after.
    func wait(_ lock: ThreadLock, until deadline: UInt64? = nil) {
        assert(lock.isHeldByThisThread)
        lock.noteReleased()
        defer { lock.noteTaken() }
        guard let deadline else {
            pthread_cond_wait(condition, lock.mutex)
            return
        }
        #if canImport(Darwin)
        let now = Clock.monotonic()
        var left = Clock.duration(nanoseconds: deadline > now ? deadline - now : 0)
        pthread_cond_timedwait_relative_np(condition, lock.mutex, &left)
        #else
        var instant = Clock.duration(nanoseconds: deadline)
        pthread_cond_timedwait(condition, lock.mutex, &instant)
        #endif
    }
}

/// The calling thread and new ones.
package enum Threads {
    /// A number that identifies the calling thread while it runs, never 0.
    package static var current: UInt { default_current_thread() }

    /// A number that threads running at the same time seldom share: that of the processor, where the system reports it.
    static var processor: Int { Int(default_processor_number()) }

    /// Sleeps for a time, which signals may shorten.
    static func sleep(nanoseconds: UInt64) {
        var time = Clock.duration(nanoseconds: nanoseconds)
        nanosleep(&time, nil)
    }

    static func yield() { sched_yield() }

    /// Names the calling thread in debuggers and tools, up to 15 bytes.
    static func name(_ name: String) { default_name_thread(name) }

    /// Starts a detached thread, and returns the error number, 0 when the thread runs.
    static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let context = Unmanaged.passRetained(ThreadBody(run: body))
        let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
            Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
            return nil
        }
        let code = default_start_thread(run, context.toOpaque())
        if code != 0 { context.release() }
        return code
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

enum Clock {
    /// Nanoseconds on a clock that never goes back.
    static func monotonic() -> UInt64 { clock_gettime_nsec(exact.monotonic) }

    /// ``monotonic()``, some milliseconds late, for a fifth of the time.
    static func monotonicTick() -> UInt64 { clock_gettime_nsec(coarse.monotonic) }

    /// Nanoseconds since 1970 on the clock of the kernel's file times, which advances in ticks of some milliseconds.
    static func fileTime() -> UInt64 { clock_gettime_nsec(coarse.real) }

    /// The current date and time in UTC with nanoseconds, as in `20260131T235959-123456789`.
    static func stamp() -> String {
        var now = timespec()
        clock_gettime(exact.real, &now)
        return stamp(of: now)
    }

    static func stamp(of time: timespec) -> String {
        var time = time
        var parts = tm()
        gmtime_r(&time.tv_sec, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%S", &parts)
        let date = String(decoding: text[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        return date + "-" + String(1_000_000_000 + time.tv_nsec).dropFirst()
    }

    static func duration(nanoseconds: UInt64) -> timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    private struct Clocks {
        var monotonic: clockid_t
        var real: clockid_t
    }

    // The macros of Apple's headers that name enumerators are not imported everywhere that the enumerators are.
    #if canImport(Darwin)
    private static var exact: Clocks { Clocks(monotonic: _CLOCK_MONOTONIC, real: _CLOCK_REALTIME) }
    #else
    private static var exact: Clocks { Clocks(monotonic: CLOCK_MONOTONIC, real: CLOCK_REALTIME) }
    #endif

    #if os(Linux)
    private static var coarse: Clocks { Clocks(monotonic: CLOCK_MONOTONIC_COARSE, real: CLOCK_REALTIME_COARSE) }
    #else
    private static var coarse: Clocks { exact }
    #endif

    private static func clock_gettime_nsec(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return nanoseconds(time)
    }
}
#endif

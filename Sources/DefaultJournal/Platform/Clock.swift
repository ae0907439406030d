#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The clocks that the engine reads.
enum Clock {
    /// Nanoseconds on a clock that never goes back.
    static func monotonic() -> UInt64 { clock_gettime_nsec(monotonicClock) }

    /// ``monotonic()``, some milliseconds late, for a fifth of the time.
    static func monotonicTick() -> UInt64 {
        #if os(Linux)
        clock_gettime_nsec(CLOCK_MONOTONIC_COARSE)
        #else
        clock_gettime_nsec(monotonicClock)
        #endif
    }

    /// Nanoseconds since 1970 on the clock of the kernel's file times, which advances in ticks of some milliseconds.
    static func fileTime() -> UInt64 {
        #if os(Linux)
        clock_gettime_nsec(CLOCK_REALTIME_COARSE)
        #else
        clock_gettime_nsec(_CLOCK_REALTIME)
        #endif
    }

    /// The current date and time in UTC, as in `20260131T235959`.
    static func stamp() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%S", &parts)
        return String(decoding: text[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    static func duration(nanoseconds: UInt64) -> timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    // The macros of Apple's headers that name enumerators are not imported everywhere that the enumerators are.
    #if canImport(Darwin)
    private static let monotonicClock = _CLOCK_MONOTONIC
    #else
    private static let monotonicClock = CLOCK_MONOTONIC
    #endif

    private static func clock_gettime_nsec(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return nanoseconds(time)
    }
}

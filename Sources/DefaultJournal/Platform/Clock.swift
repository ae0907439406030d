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
    static func monotonic() -> UInt64 {
        clock_gettime_nsec(CLOCK_MONOTONIC)
    }

    /// ``monotonic()``, some milliseconds late, for a fifth of the time.
    static func monotonicTick() -> UInt64 {
        #if os(Linux)
        clock_gettime_nsec(CLOCK_MONOTONIC_COARSE)
        #else
        clock_gettime_nsec(CLOCK_MONOTONIC)
        #endif
    }

    /// Nanoseconds since 1970 on the clock of the kernel's file times, which advances in ticks of some milliseconds.
    static func fileTime() -> UInt64 {
        #if os(Linux)
        clock_gettime_nsec(CLOCK_REALTIME_COARSE)
        #else
        clock_gettime_nsec(CLOCK_REALTIME)
        #endif
    }

    /// The current date and time in UTC, as in `20260131T235959`.
    static func stamp() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2) + "T"
            + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
    }

    /// A number with zeros in front of it.
    static func digits(_ value: Int32, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    static func timespec(nanoseconds: UInt64) -> timespec {
        #if canImport(Darwin)
        Darwin.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        #elseif canImport(Glibc)
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        #else
        Musl.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        #endif
    }

    static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    private static func clock_gettime_nsec(_ clock: clockid_t) -> UInt64 {
        var time = timespec(nanoseconds: 0)
        clock_gettime(clock, &time)
        return nanoseconds(time)
    }
}

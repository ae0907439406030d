#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

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
        var parts = tm()
        gmtime_r(&now.tv_sec, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%S", &parts)
        let date = String(decoding: text[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        return date + "-" + String(1_000_000_000 + now.tv_nsec).dropFirst()
    }

    static func duration(nanoseconds: UInt64) -> timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    private typealias Clocks = (monotonic: clockid_t, real: clockid_t)

    // The macros of Apple's headers that name enumerators are not imported everywhere that the enumerators are.
    #if canImport(Darwin)
    private static var exact: Clocks { (_CLOCK_MONOTONIC, _CLOCK_REALTIME) }
    #else
    private static var exact: Clocks { (CLOCK_MONOTONIC, CLOCK_REALTIME) }
    #endif

    #if os(Linux)
    private static var coarse: Clocks { (CLOCK_MONOTONIC_COARSE, CLOCK_REALTIME_COARSE) }
    #else
    private static var coarse: Clocks { exact }
    #endif

    private static func clock_gettime_nsec(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return nanoseconds(time)
    }
}

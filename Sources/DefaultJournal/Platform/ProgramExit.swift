#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The normal end of the program: a return from `main`, or a call of `exit`.
enum ProgramExit {
    /// Calls a function when the program ends normally, before the handlers that were registered earlier.
    ///
    /// - Returns: Whether it will be called.
    static func register(_ handler: @convention(c) () -> Void) -> Bool { atexit(handler) == 0 }
}

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The normal end of the program: a return from `main`, or a call of `exit`.
enum ProgramExit {
    /// The process that registered a handler; a child made with `fork` has another number.
    private static let process = getpid()

    /// Calls a function when the program ends normally, before the handlers that were registered earlier.
    ///
    /// - Returns: Whether it will be called.
    static func register(_ handler: @convention(c) () -> Void) -> Bool {
        _ = process
        return atexit(handler) == 0
    }

    /// Whether this is a child of the process that registered, made with `fork` and without `exec`.
    static var isForkedChild: Bool { getpid() != process }
}

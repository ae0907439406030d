internal import CDefaultSystem

/// What surrounds a program: what it has from the process that started it, and its end.
package enum ProgramEnvironment {
    /// The value of an environment variable; nil without one.
    ///
    /// Foundation's `environment` makes a dictionary of all variables.
    package static func variable(_ name: String) -> String? {
        default_environment_variable(name).map { String(cString: $0) }
    }

    /// Writes a text to standard error.
    ///
    /// If that can't be written, there is nowhere left to report to.
    package static func writeError(_ text: String) {
        var text = text
        text.withUTF8 { default_write_error($0.baseAddress, $0.count) }
    }

    /// Calls a function when the program ends normally, by a return from `main` or a call of `exit`.
    ///
    /// A signal's handler may call `exit`, on a thread that holds any lock. So the function gets all that it needs as
    /// an object, and must neither wait for a lock without a limit nor rely on being able to allocate memory. A child
    /// made with `fork` begins without one.
    ///
    /// - Parameters:
    ///   - object: The object, which must exist until then; it takes the place of the one of an earlier call.
    ///   - handler: The function.
    static func callAtExit(with object: AnyObject, _ handler: @convention(c) (UnsafeMutableRawPointer) -> Void) {
        // If it can't be registered, the program ends as one that was killed.
        _ = default_call_at_exit(handler, Unmanaged.passUnretained(object).toOpaque())
    }
}

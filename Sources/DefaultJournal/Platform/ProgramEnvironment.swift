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

    /// Calls a function when the program ends normally, by a return from `main` or a call of `exit`; returns whether it will be.
    static func callAtExit(_ handler: @convention(c) () -> Void) -> Bool { default_call_at_exit(handler) == 0 }
}

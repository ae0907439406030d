internal import CDefaultSystem

/// The surroundings of a program: its environment, its user, its file, and its end.
package enum ProgramEnvironment {
    /// The value of an environment variable; nil without one.
    ///
    /// Foundation's `environment` makes a dictionary of all variables.
    package static func variable(_ name: String) -> String? {
        default_environment_variable(name).map { String(cString: $0) }
    }

    /// The value of an environment variable that is a path; nil without one, or if it isn't text in UTF-8.
    ///
    /// With replacement characters it would be the path of another file.
    package static func path(inVariable name: String) -> String? {
        default_environment_variable(name).flatMap { String(validatingCString: $0) }
    }

    /// The home directory that the system has for this user, on Linux; nil if it has none whose path is text in UTF-8.
    package static var homeDirectory: String? {
        path(reading: { default_home_directory($0, $1) }, as: { String(validatingCString: $0) })
    }

    /// The name of the program's file, whatever has happened to the file; nil where the system doesn't know it.
    ///
    /// Only known on Linux.
    package static var programName: String? {
        guard var path = path(reading: { default_program_file($0, $1) }) else { return nil }
        // The kernel's addition, unless the file is really called that.
        let addition = " (deleted)"
        if path.hasSuffix(addition), !default_is_program_file(path) { path.removeLast(addition.utf8.count) }
        if let name = programName(of: path) { return name }
        // The process runs the loader, and the C library leaves its name out.
        guard let invocation = default_invocation_name() else { return nil }
        let resolved = self.path(reading: { default_resolved_path(invocation, $0, $1) })
        return programName(of: resolved ?? String(cString: invocation))
    }

    /// The name of the file at a path; nil if it is the dynamic loader, which may be started with a program as its
    /// argument.
    ///
    /// The loader of musl may be its C library under another name.
    static func programName(of path: String) -> String? {
        guard let name = path.split(separator: "/").last else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isLoader = ["ld", "ld64", "libc"].contains(parts[0]) || parts[0].hasPrefix("ld-")
        return isLoader && parts.dropFirst().contains("so") ? nil : String(name)
    }

    /// A path that a function writes; nil if it knows none.
    private static func path(
        reading write: (UnsafeMutablePointer<CChar>, Int) -> Bool,
        as text: (UnsafePointer<CChar>) -> String? = { String(cString: $0) }
    ) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { buffer in
            guard let start = buffer.baseAddress, write(start, buffer.count) else { return nil }
            return text(start)
        }
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

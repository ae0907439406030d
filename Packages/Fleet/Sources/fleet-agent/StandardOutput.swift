#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#else
@preconcurrency import Darwin
#endif

/// Where `print` writes.
enum StandardOutput {
    /// Writes what was printed so far; false when any of it could not be written, which `print` doesn't say.
    static func flush() -> Bool {
        fflush(stdout) == 0 && ferror(stdout) == 0
    }
}

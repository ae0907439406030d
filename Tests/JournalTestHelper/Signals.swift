#if canImport(Darwin)
import Darwin

let fileSizeLimit = RLIMIT_FSIZE
#else
import Glibc

let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#endif

typealias InformedHandler = @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

extension sigaction {
    /// Sets the function to call for a signal.
    mutating func setHandler(_ handler: (@convention(c) (Int32) -> Void)?) {
        #if canImport(Darwin)
        __sigaction_u.__sa_handler = handler
        #else
        __sigaction_handler.sa_handler = handler
        #endif
    }

    /// Sets a function that is also given the information about the signal.
    mutating func setHandler(withInformation handler: @escaping InformedHandler) {
        sa_flags = SA_SIGINFO
        #if canImport(Darwin)
        __sigaction_u.__sa_sigaction = handler
        #else
        __sigaction_handler.sa_sigaction = handler
        #endif
    }
}

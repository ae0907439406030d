#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

extension JournalError {
    /// The system's error number as a type; nil without one, and for an unknown one.
    package var systemErrorCode: POSIXErrorCode? { code.flatMap(POSIXErrorCode.init(rawValue:)) }
}

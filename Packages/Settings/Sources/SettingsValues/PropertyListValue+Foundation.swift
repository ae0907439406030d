package import Default
package import Foundation
import Synchronization

extension PropertyListValue {
    /// A value in one of Foundation's formats; nil when the bytes are not in one of them.
    package init?(serialized data: Data) {
        if BinaryPropertyListReader.isBinary(data) {
            guard let value = BinaryPropertyListReader.value(in: data) else {
                return nil
            }
            self = value
            return
        }
        guard let object = Self.object(serialized: data),
            let value = try? PropertyListValue(object: object)
        else {
            return nil
        }
        self = value
    }

    /// What Foundation reads; nil when it can't.
    ///
    /// Its parser of the old notation writes what it misses to standard error, so that is closed to it.
    package static func object(serialized data: Data) -> Any? {
        withoutStandardError { try? PropertyListSerialization.propertyList(from: data, format: nil) }
    }
}

/// Runs a body that calls Foundation's parser of property lists, whose own messages go nowhere.
func withoutStandardError<Result>(_ body: () -> Result) -> Result {
    standardError.withLock { _ in
        let kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        if kept >= 0, nowhere >= 0 { dup2(nowhere, STDERR_FILENO) }
        defer {
            if kept >= 0 {
                dup2(kept, STDERR_FILENO)
                close(kept)
            }
            if nowhere >= 0 { close(nowhere) }
        }
        return body()
    }
}

/// Held while what is written to standard error goes nowhere.
private let standardError = Mutex<Void>(())

internal import DefaultJournal
internal import Foundation

// The engine's errors and reports, as the library's.
extension DefaultsError {
    static func invalidSuiteName(_ name: String) -> DefaultsError {
        DefaultsError(
            .invalidSuiteName,
            reason: """
                \(String(name.prefix(64)).debugDescription) can't be the name of a suite: it has to be one path component \
                of 1 to 200 bytes, without slash and NUL, and not "." or "..".
                """
        )
    }

    static func storeUnavailable(at path: String, because fault: String) -> DefaultsError {
        DefaultsError(
            .storeUnavailable,
            reason: "The suite at \(path) can't be opened: \(fault).",
            store: path
        )
    }

    /// For an error that the engine threw when it was to open a suite.
    static func opening(_ error: JournalError) -> DefaultsError {
        let code: Code =
            if case .newerFormat = error.kind { .newerFormat } else { .storeUnavailable }
        return DefaultsError(
            code,
            reason: "The suite can't be opened. \(error)",
            store: error.path,
            underlyingError: error.underlyingError
        )
    }

    /// For an error that the engine threw in a suite that was open.
    static func failing(_ error: JournalError, key: String? = nil, in store: String) -> DefaultsError {
        let code: Code =
            switch error.kind {
            case .valueTooLarge, .batchTooLarge: .valueTooLarge
            case .keyInvalid: .invalidKey
            case .newerFormat: .newerFormat
            case .notARegularFile, .notADirectory, .notOwned, .invalidPath, .unstable: .storeUnavailable
            case .system, .alreadyExists, .replaced: .storeFailed
            }
        return DefaultsError(
            code,
            reason: error.description,
            key: key,
            store: store,
            underlyingError: error.underlyingError
        )
    }

    /// For a property list that can't be imported, or one key of it.
    static func importFailed(propertyList: URL, _ error: any Error, key: String? = nil) -> DefaultsError {
        let path = propertyList.path(percentEncoded: false)
        let reason =
            if let key {
                """
                What Foundation kept under \(key.debugDescription) in \(path) can't be imported: no suite has such a \
                key or value. The other values are; the file is left as it is.
                """
            } else {
                """
                The values that Foundation kept in \(path) can't be imported, because the file can't be read as a \
                property list. It is left as it is; the suite begins empty.
                """
            }
        return DefaultsError(.importFailed, reason: reason, key: key, underlyingError: error)
    }
}

extension JournalError {
    /// The system's error, which callers know; the engine's own type, which they don't, where there is none.
    fileprivate var underlyingError: any Error {
        if let code, let posix = POSIXErrorCode(rawValue: code) {
            return POSIXError(posix, userInfo: [NSFilePathErrorKey: path])
        }
        return self
    }
}

extension DefaultsDiagnostics.Event {
    /// What the engine reports about a suite outside of any call.
    init(_ report: JournalReport) {
        switch report {
        case .damaged(let damage):
            let fate =
                damage.copy.map { "The damaged file was backed up as \($0)." }
                ?? "It could not be copied and is left as it is."
            self.init(
                kind: .storeDamaged,
                error: DefaultsError(
                    .storeDamaged,
                    reason: """
                        \(damage.path) was damaged: \(damage.bytes) bytes could not be used. Everything else, \
                        \(damage.keptRecords) records, is kept. \(fate)
                        """,
                    store: damage.path,
                    underlyingError: damage.copyError?.underlyingError
                )
            )
        case .shortened(let path, let bytes):
            let reason = """
                \(path) is \(bytes) bytes shorter than what was stored: it was cut, or the power went before they reached \
                the disk. Everything else is kept.
                """
            self.init(kind: .storeDamaged, error: DefaultsError(.storeDamaged, reason: reason, store: path))
        case .replaced(let path):
            let reason = """
                The suite at \(path) was deleted or replaced while it was open. What is there now is used.
                """
            self.init(kind: .storeReplaced, error: DefaultsError(.storeReplaced, reason: reason, store: path))
        case .flushFailed(let error):
            self.init(kind: .maintenanceFailed, error: .failing(error, in: error.path))
        case .compactionFailed(let error):
            self.init(kind: .maintenanceFailed, error: .failing(error, in: error.path))
        case .catchUpFailed(let error):
            self.init(kind: .readFailed, error: .failing(error, in: error.path))
        }
    }
}

internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Converts the engine's errors and reports to those of the library.
extension DefaultsError {
    static func invalidSuiteName(_ name: String) -> DefaultsError {
        let reason = """
            \(String(name.prefix(64)).debugDescription) can't be used as the name of a suite. Use one path \
            component of 1 to 200 bytes without slashes and NUL, other than "." and "..".
            """
        return DefaultsError(.invalidSuiteName, ErrorContext(), reason)
    }

    /// For the suite named after a program without a name.
    static var programUnknown: DefaultsError {
        let reason = """
            The standard suite can't be opened, because it is named after the program, and the system doesn't say what \
            that is called. Mount /proc, or name the suite: FileDefaults(suiteName:).
            """
        return DefaultsError(.storeUnavailable, ErrorContext(), reason)
    }

    /// For a suite with a name, of a user without a home directory.
    static var noHomeDirectory: DefaultsError {
        let reason = """
            The suite can't be opened, because this user has no home directory whose path is text in UTF-8. Set the \
            variable XDG_CONFIG_HOME or HOME to a folder that this user may write, or choose the suite's directory: \
            FileDefaults(url:).
            """
        return DefaultsError(.storeUnavailable, ErrorContext(), reason)
    }

    /// For the value of a variable that names the folder of suites, and isn't an absolute path.
    static func ignoredVariable(_ value: String, named name: String, isText: Bool) -> DefaultsError {
        let fault = isText ? "isn't an absolute path" : "isn't text in UTF-8"
        let shell = value.hasPrefix("~") ? " A tilde means the home directory in a shell only." : ""
        let reason = """
            The variable \(name) is \(value.debugDescription), which \(fault), and is ignored.\(shell) \
            Suites are in \(name == "XDG_STATE_HOME" ? ".local/state" : ".config") in the home directory instead. Set \
            the variable to an absolute path.
            """
        return DefaultsError(.storeUnavailable, ErrorContext(), reason)
    }

    static func storeUnavailable(at path: String, because fault: String) -> DefaultsError {
        DefaultsError(.storeUnavailable, ErrorContext(store: path), "The suite at \(path) can't be opened: \(fault).")
    }

    /// For an error that the engine threw while it opened a suite, with what else can be done about it.
    static func opening(_ error: JournalError, advice: String) -> DefaultsError {
        let code: Code =
            switch error.kind {
            case .newerFormat: .newerFormat
            case .busy: .storeBusy
            case .readOnly: .storeReadOnly
            default: .storeUnavailable
            }
        let outcome = code == .storeReadOnly ? "does not exist, and can't be created" : "can't be opened"
        return DefaultsError(code, for: error, "The suite \(outcome). \(error)\(advice)")
    }

    /// For an error that the engine threw while it looked at a suite that isn't open.
    static func inspecting(_ error: JournalError) -> DefaultsError {
        DefaultsError(.storeUnavailable, for: error, "The suite can't be checked. \(error)")
    }

    /// For an error that the engine threw in an open suite.
    static func failing(_ error: JournalError, key: String? = nil, in store: String) -> DefaultsError {
        let code: Code =
            switch error.kind {
            case .valueTooLarge, .batchTooLarge: .valueTooLarge
            case .keyInvalid: .invalidKey
            case .newerFormat: .newerFormat
            case .busy: .storeBusy
            case .notARegularFile, .linked, .linkRefused, .notADirectory, .notOwned, .otherUsersFolder, .invalidPath,
                .unstable, .overwritten, .forked:
                .storeUnavailable
            case .readOnly: .storeReadOnly
            case .system where error.isReadOnlyDisk: .storeReadOnly
            case .system, .alreadyExists, .replaced: .storeFailed
            }
        let context = ErrorContext(key: key, store: store)
        return DefaultsError(code, context, error.description, causedBy: error.underlyingError)
    }

    /// For a property list, or one of its keys, that can't be imported.
    static func importFailed(propertyList: URL, _ error: any Error, key: String? = nil) -> DefaultsError {
        let path = propertyList.path
        let reason =
            if let key {
                """
                The value that Foundation stored under \(key.debugDescription) in \(path) can't be imported, because a suite \
                can't hold such a key or value. The other values were imported. The file was left unchanged.
                """
            } else {
                """
                The values that Foundation stored in \(path) can't be imported, because the file can't be read as a \
                property list. The file was left unchanged, and the suite starts empty.
                """
            }
        return DefaultsError(.importFailed, ErrorContext(key: key), reason, causedBy: error)
    }

    private init(_ code: Code, for error: JournalError, _ reason: String) {
        self.init(code, ErrorContext(store: error.path), reason, causedBy: error.underlyingError)
    }
}

extension JournalError {
    /// The system's error if there is one, because callers know its type; otherwise the engine's own error.
    fileprivate var underlyingError: any Error { systemErrorCode.map { POSIXError($0, path: path) } ?? self }
}

extension JournalReport.Damage {
    /// Sentences about the affected keys, after a space; empty if none are known.
    fileprivate var keySentences: String {
        var sentences = ""
        if !changedKeys.isEmpty {
            sentences += """
                 These keys have another value now than this program last read, or none: \(Self.list(changedKeys)). Another \
                program may have changed them too.
                """
        }
        if !possibleKeys.isEmpty {
            sentences += """
                 The damaged bytes perhaps held newer changes of these keys, which may have an older value now, or none: \
                \(Self.list(possibleKeys)).
                """
        }
        return sentences
    }

    private static func list(_ keys: [String]) -> String {
        keys.map { String($0.prefix(64)).debugDescription }.joined(separator: ", ")
            + (keys.count == keyLimit ? " and perhaps more" : "")
    }
}

extension DefaultsDiagnostics.Event {
    /// Creates an event for a report that the engine makes outside of any call.
    init(_ report: JournalReport) {
        switch report {
        case .damaged(let damage):
            let fate =
                damage.copy.map { "The damaged file was backed up as \($0)." }
                ?? (damage.copyError == nil
                    ? "It was left unchanged, since the suite can only be read."
                    : "The damaged file could not be backed up and was left unchanged.")
            let reason = """
                \(damage.path) was damaged: \(damage.bytes) bytes could not be used. Everything else \
                (\(damage.keptRecords) records) was kept. \(fate)\(damage.keySentences)
                """
            self.init(.storeDamaged, .storeDamaged, at: damage.path, reason, causedBy: damage.copyError)
        case .shortened(let path, let bytes):
            let reason = """
                \(path) is \(bytes) bytes shorter than it was: the file was truncated, or the power failed before they \
                reached the disk. Everything else was kept.
                """
            self.init(.storeDamaged, .storeDamaged, at: path, reason)
        case .writableByOthers(let path):
            let reason = """
                All users may write to the directory \(path), so they can replace what is stored there. Remove that \
                permission with chmod o-w.
                """
            self.init(.storeExposed, .storeExposed, at: path, reason)
        case .waiting(let path, let process):
            let reason = """
                A call has been waiting for a second for \(JournalError.name(of: process)), which has the lock of the suite at \
                \(path).
                """
            self.init(.storeBusy, .storeBusy, at: path, reason)
        case .replaced(let path):
            let reason = """
                The suite at \(path) was deleted or replaced while it was open. Its current contents are used from now on.
                """
            self.init(.storeReplaced, .storeReplaced, at: path, reason)
        case .flushFailed(let error), .compactionFailed(let error):
            self.init(kind: .maintenanceFailed, error: .failing(error, in: error.path))
        case .nameNotSynced(let error):
            let reason = """
                The file system of \(error.path) syncs no directories. A loss of power shortly after the suite was \
                created, or its file was replaced by a shorter one, may take the suite.
                """
            self.init(.maintenanceFailed, .storeFailed, at: error.path, reason, causedBy: error)
        case .compactedByWrite(let path, let process):
            let cause =
                process.map { "\(JournalError.name(of: $0)) has begun a compaction and has not ended it" }
                ?? "the disk is slower than the writes, or no thread could be started"
            let reason = """
                A write had to compact the suite at \(path), which had eight times its bound, and so waited for the \
                disk: \(cause). Later ones may have to, too.
                """
            self.init(.maintenanceFailed, .storeBusy, at: path, reason)
        case .catchUpFailed(let error):
            self.init(kind: .readFailed, error: .failing(error, in: error.path))
        case .watchRefused(let error, let isPolled):
            let consequence =
                isPolled
                ? "The library checks for them twice a second instead."
                : "They are noticed by the next read or write instead."
            let reason = """
                Changes of the suite at \(error.path) by other processes can't be waited for. \(consequence) \(error)
                """
            self.init(.watchFailed, .storeFailed, at: error.path, reason, causedBy: error)
        }
    }

    private init(
        _ kind: Kind,
        _ code: DefaultsError.Code,
        at path: String,
        _ reason: String,
        causedBy error: JournalError? = nil
    ) {
        let context = ErrorContext(store: path)
        self.init(kind: kind, error: DefaultsError(code, context, reason, causedBy: error?.underlyingError))
    }
}

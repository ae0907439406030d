#if canImport(Darwin)
internal import DefaultJournal
public import Foundation

/// The care that a suite's files need on systems that suspend apps, and lock files while the device is locked.
///
/// An app that is suspended while it holds a file lock in a shared container, such as an app group's, is ended by the
/// system. So the lock is not kept between writes there, and the work in the background runs in an activity that keeps
/// the process from being suspended.
enum AppleFiles {
    /// Runs work while the process is not suspended; see `JournalOptions.backgroundActivity`.
    ///
    /// It relies on the documentation of `performExpiringActivity(withReason:using:)`: the block is called on another
    /// thread, immediately with `true` if the activity isn't allowed, otherwise with `false`, and once more with `true`
    /// if the time that the activity may take ends while it runs.
    static func performActivity(_ work: @escaping @Sendable () -> Void) -> Bool {
        #if os(macOS)
        // Processes are not suspended there.
        work()
        return true
        #else
        let ended = DispatchSemaphore(value: 0)
        let wasAllowed = Locked<Bool?>(nil)
        let reason = "Default flushes settings to the disk"
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { hasExpired in
            let isFirst = wasAllowed.withLock { wasAllowed in
                defer { wasAllowed = wasAllowed ?? !hasExpired }
                return wasAllowed == nil
            }
            guard isFirst else { return }
            if !hasExpired {
                work()
            }
            ended.signal()
        }
        ended.wait()
        return wasAllowed.withLock { $0 } ?? false
        #endif
    }

    /// Makes a suite's files readable while the device is locked, from the first time on that it was unlocked.
    ///
    /// A process that the system starts in the background could not read its settings otherwise, if the app's files
    /// have a stricter class. Files that are created in the directory later get its class.
    ///
    /// - Parameters:
    ///   - directory: The suite's directory.
    ///   - protection: The class; nil for that one.
    static func protect(_ directory: String, _ protection: FileProtectionType?) {
        #if !os(macOS)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for path in [directory] + files.map({ directory + "/" + $0 }) {
            // Fails for files of another owner, which are protected by that owner.
            try? FileManager.default.setAttributes(
                [.protectionKey: protection ?? .completeUntilFirstUserAuthentication],
                ofItemAtPath: path
            )
        }
        #endif
    }
}

extension FileDefaults {
    /// Opens the suite with a name, and protects its files by a class of one's own.
    ///
    /// With `complete` or `completeUnlessOpen` a process that runs while the device is locked can't open the suite: it
    /// gets ``DefaultsError/Code/storeUnavailable``, and with `complete` writes of an open one fail as well. Without a
    /// class, it is `completeUntilFirstUserAuthentication`. Of several objects for one suite in a process, the one that
    /// opens it first decides; several processes, such as an app and its extension, need the same class. On macOS files
    /// have no such class.
    ///
    /// - Parameters:
    ///   - suiteName: The suite's name.
    ///   - place: What the suite is for.
    ///   - durability: When changes reach the disk.
    ///   - protection: The class.
    /// - Throws: As ``init(suiteName:in:durability:lockTimeout:mandatory:overrides:fallbacks:)``.
    public convenience init(
        suiteName: String,
        in place: Place = .configuration,
        durability: Durability = .background,
        protection: FileProtectionType
    ) throws(DefaultsError) {
        let suite = FileSuite(location: place.location(ofSuite: suiteName), protection: protection)
        _ = try suite.openUnlessReadOnly()
        self.init(suite: suite, durability: durability, sources: nil)
    }

    /// Opens the suite in a directory, such as one of an app group's container, and protects its files by a class of
    /// one's own; see ``init(suiteName:in:durability:protection:)``.
    ///
    /// - Parameters:
    ///   - url: The file URL of the suite's directory.
    ///   - durability: When changes reach the disk.
    ///   - protection: The class.
    /// - Throws: As ``init(url:durability:lockTimeout:mandatory:overrides:fallbacks:sourcesOf:)``.
    public convenience init(
        url: URL,
        durability: Durability = .background,
        protection: FileProtectionType
    ) throws(DefaultsError) {
        let suite = FileSuite(location: .directory(url), protection: protection)
        _ = try suite.openUnlessReadOnly()
        self.init(suite: suite, durability: durability, sources: nil)
    }

    /// Excludes the suite from backups, or includes it again; suites are included by default.
    ///
    /// - Parameter isExcluded: Whether to exclude it.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeFailed`` when the system refuses, and errors
    ///   of ``url``.
    public func setExcludedFromBackup(_ isExcluded: Bool) throws(DefaultsError) {
        var directory = try url
        var values = URLResourceValues()
        values.isExcludedFromBackup = isExcluded
        try DefaultsError.wrapping(ErrorContext(in: self)) { try directory.setResourceValues(values) }
    }
}
#endif

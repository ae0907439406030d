#if canImport(Darwin)
internal import DefaultJournal
internal import Foundation

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
    static func protect(_ directory: String) {
        #if !os(macOS)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for path in [directory] + files.map({ directory + "/" + $0 }) {
            // Fails for files of another owner, which are protected by that owner.
            try? FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: path
            )
        }
        #endif
    }
}

extension FileDefaults {
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

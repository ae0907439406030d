/// When a write has reached the disk, and not only the system's memory.
///
/// In both cases it survives the process being killed once the call has returned.
package enum JournalDurability: Sendable {
    /// Within about a second, in the background, and when the program ends normally; see ``BackgroundWorker``.
    case background
    case everyWrite
}

package struct JournalOptions: Sendable {
    /// Receives reports of what no caller's error covers.
    ///
    /// Called on any thread, with no lock held.
    var report: @Sendable (JournalReport) -> Void
    /// The system calls, which tests can observe and make fail in debug builds.
    var calls: SystemCalls
    /// Whether the journal flushes and compacts itself; tests that control the time of both turn it off.
    var automaticMaintenance: Bool
    /// Nanoseconds to wait for other processes; 0 to wait for none.
    var lockTimeout: UInt64
    /// What flushes and compacts, for tests that need room in its queue; nil for that of the process.
    var worker: BackgroundWorker?
    /// Whether the suite is only read, even if it could be written: nothing is created, repaired or locked.
    package var isReadOnly = false
    /// Runs a flush or a compaction on the background thread, on systems that may suspend the process: it must not be while
    /// the work holds the suite's lock.
    ///
    /// It returns when the work is done, or returns false when the system allows none, and is called again a second later.
    package var backgroundActivity: BackgroundActivity

    package typealias BackgroundActivity = @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool

    package init(
        report: @escaping @Sendable (JournalReport) -> Void = { _ in },
        calls: SystemCalls = SystemCalls(),
        automaticMaintenance: Bool = true,
        lockTimeout: UInt64 = 5_000_000_000,
        backgroundActivity: @escaping BackgroundActivity = { work in
            work()
            return true
        }
    ) {
        self.report = report
        self.calls = calls
        self.automaticMaintenance = automaticMaintenance
        self.lockTimeout = lockTimeout
        self.backgroundActivity = backgroundActivity
    }
}

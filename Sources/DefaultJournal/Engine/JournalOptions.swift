/// The options with which a suite is opened.
package struct JournalOptions: Sendable {
    package static var standard: JournalOptions { JournalOptions() }

    /// Receives reports of events that no caller's error covers.
    ///
    /// Called on any thread, with no lock held.
    package var report: @Sendable (JournalReport) -> Void = { _ in }
    /// The system calls, which tests can observe and make fail in debug builds.
    var calls = SystemCalls()
    /// Whether the journal flushes and compacts itself; tests that control the time of both turn it off.
    var automaticMaintenance = true
    /// Nanoseconds to wait for other processes; 0 to wait for none.
    package var lockTimeout: UInt64 = 5_000_000_000
    /// The worker that flushes and compacts, for tests that need room in its queue; nil for that of the process.
    var worker: BackgroundWorker?
    /// Whether the suite is only read, even if it could be written: nothing is created, repaired or locked.
    package var isReadOnly = false
    /// Runs a flush or a compaction on the background thread, on systems that may suspend the process: it must not be
    /// while the work holds the suite's lock.
    ///
    /// It returns when the work is done, or returns false when the system allows none, and is called again a second
    /// later.
    package var backgroundActivity: @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool = { work in
        work()
        return true
    }
}

/// When a write has reached the disk, and not only the system's memory.
///
/// In both cases it survives the process being killed once the call has returned.
package enum JournalDurability: Sendable, Hashable {
    /// Within about a second, in the background.
    case background
    /// Before the call returns.
    case everyWrite
}

/// How a journal is opened.
package struct JournalOptions: Sendable {
    /// Receives reports of what no caller's error covers.
    ///
    /// Called on any thread, with no lock held.
    package var report: @Sendable (JournalReport) -> Void
    /// The system calls, which tests can observe and make fail in debug builds.
    package var calls: SystemCalls
    /// Whether the journal flushes and compacts itself; tests that control the time of both turn it off.
    package var automaticMaintenance: Bool

    package init(
        report: @escaping @Sendable (JournalReport) -> Void = { _ in },
        calls: SystemCalls = SystemCalls(),
        automaticMaintenance: Bool = true
    ) {
        self.report = report
        self.calls = calls
        self.automaticMaintenance = automaticMaintenance
    }
}

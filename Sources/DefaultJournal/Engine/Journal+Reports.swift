extension Journal {
    /// Stores a report until no lock is held.
    func note(_ report: JournalReport) {
        reports.withLock { $0.append(report) }
        hasReports.store(true)
    }

    /// Delivers the stored reports, unless the calling thread has exclusive access, whose end delivers them.
    package func deliverReports() {
        guard hasReports.load(), owner.load() != Threads.current else { return }
        // First: a report that comes after the exchange sets it again.
        hasReports.store(false)
        if let due = repair.exchange(nil) { perform(due) }
        deliverWithoutRepair()
    }

    /// Delivers the stored reports, while the engine is at work with no lock but ``compaction``.
    func deliverWithoutRepair() {
        for report in reports.exchange([]) { options.report(report) }
    }
}

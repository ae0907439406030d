/// Syncs a suite's journal, with no other lock held; threads that wait at the same time share a sync.
final class Flusher: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    private let calls: SystemCalls
    private let lock = ThreadLock()
    private let finished = ThreadCondition()
    /// What is known to be on the disk.
    private var synced: (salt: UInt64, end: UInt64) = (0, 0)
    /// What the threads that wait want to be on the disk.
    private var wanted: (salt: UInt64, end: UInt64) = (0, 0)
    private var isSyncing = false
    /// Counts the calls of ``forget()``.
    private var forgetCount = 0
    /// The journal whose sync failed last, and how.
    private var failed: (salt: UInt64, error: JournalError)?

    init(calls: SystemCalls) {
        self.calls = calls
    }

    /// Returns when a file is on the disk up to an offset.
    ///
    /// - Throws: The sync that failed, in each thread that waited for it.
    func sync(_ file: JournalFile, to end: UInt64) throws(JournalError) {
        lock.lock()
        defer { lock.unlock() }
        if wanted.salt != file.salt || wanted.end < end { wanted = (file.salt, end) }
        while !(synced.salt == file.salt && synced.end >= end) {
            if let failed, failed.salt == file.salt { throw failed.error }
            if isSyncing {
                finished.wait(lock)
                continue
            }
            isSyncing = true
            // What is written by now is synced too.
            let covered = wanted.salt == file.salt ? wanted.end : end
            let count = forgetCount
            lock.unlock()
            var failure: JournalError?
            do throws(JournalError) { try calls.sync(file.raw, isDataOnly: true) } catch { failure = error }
            lock.lock()
            isSyncing = false
            if let failure {
                // The system may believe now that there is nothing left to write, so it must not be tried again.
                failed = (file.salt, failure)
            } else if forgetCount == count, synced.salt != file.salt || synced.end < covered {
                synced = (file.salt, covered)
            }
            finished.broadcast()
        }
    }

    func noteSynced(_ file: JournalFile, to end: UInt64) {
        lock.lock()
        defer { lock.unlock() }
        synced = (file.salt, end)
    }

    /// Forgets what is on the disk: the file may have been overwritten, also by one that is shorter.
    func forget() {
        lock.lock()
        defer { lock.unlock() }
        (synced, wanted) = ((0, 0), (0, 0))
        forgetCount += 1
    }

    func isSynced(_ file: JournalFile, to end: UInt64) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return synced.salt == file.salt && synced.end >= end
    }
}

/// Syncs an open journal file, with no other lock held; threads that wait at the same time share a sync.
///
/// It belongs to one opening of the file. A file that is restored or overwritten may have the same salt, or even be the
/// same one, but is opened again, and then nothing is known to be on the disk.
final class Flusher: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    private let lock = ThreadLock()
    private let finished = ThreadCondition()
    /// The offset up to which the file is known to be on the disk.
    private var synced: UInt64 = 0
    /// The offset up to which the threads that wait want it on the disk.
    private var wanted: UInt64 = 0
    private var isSyncing = false
    /// The error of the last sync, if it failed.
    private var failure: JournalError?

    /// Returns when the file is on the disk up to an offset.
    ///
    /// - Throws: The sync that failed, in each thread that waited for it.
    func sync(_ descriptor: Int32, to end: UInt64, calls: SystemCalls) throws(JournalError) {
        lock.lock()
        defer { lock.unlock() }
        wanted = max(wanted, end)
        while synced < end {
            if let failure { throw failure }
            if isSyncing {
                finished.wait(lock)
                continue
            }
            isSyncing = true
            // Everything written by now is synced too.
            let covered = wanted
            lock.unlock()
            let result = sync(descriptor, calls: calls)
            lock.lock()
            isSyncing = false
            switch result {
            case .success: synced = max(synced, covered)
            // The system may now believe that there is nothing left to write, so no thread tries it again.
            case .failure(let error): failure = error
            }
            finished.broadcast()
        }
    }

    private func sync(_ descriptor: Int32, calls: SystemCalls) -> Result<Void, JournalError> {
        Result { () throws(JournalError) in try calls.sync(descriptor, isDataOnly: true) }
    }

    /// Notes that the file is on the disk up to an offset.
    func noteSynced(to end: UInt64) {
        lock.lock()
        defer { lock.unlock() }
        synced = max(synced, end)
    }

    func isSynced(to end: UInt64) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return synced >= end
    }
}

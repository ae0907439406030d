package struct JournalOptions: Sendable {
    package static var standard: JournalOptions { JournalOptions() }

    /// Receives reports of what no caller's error covers.
    ///
    /// Called on any thread, with no lock held.
    package var report: @Sendable (JournalReport) -> Void = { _ in }
    /// The system calls, which tests can observe and make fail in debug builds.
    var calls = SystemCalls()
    /// Whether the journal flushes and compacts itself; tests that control the time of both turn it off.
    var automaticMaintenance = true
    /// Nanoseconds to wait for other processes; 0 to wait for none.
    package var lockTimeout: UInt64 = 5_000_000_000
    /// What flushes and compacts, for tests that need room in its queue; nil for that of the process.
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

/// Learns which entries of a suite change, and owns what it makes of their values.
package protocol JournalObserver: AnyObject {
    /// Whether it wants to learn of changes now.
    var isObserving: Bool { get }

    /// Takes the key of an entry that has changed, or is about to.
    ///
    /// Called under the engine's locks; the key's bytes are valid during the call only.
    func noteChange(of key: UnsafeRawBufferPointer, by origin: ChangeOrigin)

    /// Frees what it has made of a value: ``EntryTable/Entry/form``.
    static func free(_ form: UnsafeMutableRawPointer)
}

package enum ChangeOrigin: Sendable {
    /// The calling thread, which has exclusive access.
    case thisThread
    /// Another process, or it isn't known: the journal was read.
    case journal
}

extension Journal {
    /// Under `stateLock`: applies a change of this thread's to the entries.
    func apply(_ operation: Operation) {
        noteChange(operation, by: .thisThread)
        entries.apply(operation)
    }

    /// Under `stateLock`: applies a change that was read from the journal.
    ///
    /// - Throws: The refusal of memory for what the file claims.
    func applyRead(_ operation: Operation) throws(JournalError) {
        noteChange(operation, by: .journal)
        try entries.apply(checking: operation)
    }

    func noteChange(_ operation: Operation, by origin: ChangeOrigin) {
        if let observer, observer.isObserving {
            switch operation {
            case .set(let key, _, _), .remove(let key): observer.noteChange(of: key, by: origin)
            case .removeAll: entries.forEach { observer.noteChange(of: $0.key, by: origin) }
            case .moved: break
            }
        }
    }

    /// Under `stateLock`: replaces all entries by those of a journal that was read from its beginning.
    ///
    /// - Returns: The names of the keys that have changed, sorted, the first ones; none if they aren't asked for.
    func replaceEntries(by table: consuming EntryTable, namesChanges: Bool) -> [String] {
        let isObserving = observer?.isObserving ?? false
        var names: [String] = []
        if isObserving || namesChanges {
            entries.forEachDifference(from: table) { key in
                if isObserving { observer?.noteChange(of: key, by: .journal) }
                // Keys that begin with NUL are the library's own.
                if namesChanges, key.first != 0 { names.append(String(decoding: key, as: UTF8.self)) }
            }
        }
        entries = table
        return Array(names.inOrder().prefix(JournalReport.Damage.keyLimit))
    }
}

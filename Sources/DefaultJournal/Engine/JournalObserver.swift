/// Is notified which entries of a suite change, and owns the forms that it makes of their values.
package protocol JournalObserver: AnyObject {
    /// Whether it wants to be notified of changes now.
    var isObserving: Bool { get }

    /// Takes the key of an entry that has changed, or is about to.
    ///
    /// Called under the engine's locks; the key's bytes are valid during the call only.
    func noteChange(of key: UnsafeRawBufferPointer, by origin: ChangeOrigin)

    /// Frees the form that it has made of a value: ``EntryTable/Entry/form``.
    static func free(_ form: UnsafeMutableRawPointer)
}

/// The origin of a change.
package enum ChangeOrigin: Sendable {
    /// The calling thread, which has exclusive access.
    case thisThread
    /// Another process or an unknown one: the journal was read.
    case journal
}

extension Journal {
    /// Applies a change of this thread's to the entries; under the lock and `stateLock`.
    func apply(_ operation: Operation) {
        assert(hasFileLock && stateLock.isHeldByThisThread)
        noteChange(operation, by: .thisThread)
        entries.apply(operation)
    }

    /// Applies a change that was read from the journal; under `stateLock`.
    ///
    /// - Throws: The refusal of the memory that the file claims.
    func applyRead(_ operation: Operation) throws(JournalError) {
        assert(hasStateLock)
        noteChange(operation, by: .journal)
        try entries.apply(checking: operation)
    }

    /// Notifies the observer of a change that is about to be applied.
    func noteChange(_ operation: Operation, by origin: ChangeOrigin) {
        guard let observer, observer.isObserving else { return }
        switch operation {
        case .set(let key, _, _), .remove(let key): observer.noteChange(of: key, by: origin)
        case .removeAll: entries.forEach { observer.noteChange(of: $0.key, by: origin) }
        case .moved: break
        }
    }

    /// Replaces all entries by those of a journal that was read from its beginning; under `stateLock`.
    ///
    /// - Returns: The names of the keys that have changed, sorted, the first ones; none if they aren't asked for.
    func replaceEntries(by table: consuming EntryTable, namesChanges: Bool) -> [String] {
        assert(hasStateLock)
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
        return Array(names.sorted().prefix(JournalReport.Damage.keyLimit))
    }
}

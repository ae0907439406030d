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
    /// Under `stateLock`: applies one change to the entries.
    func apply(_ operation: Operation, by origin: ChangeOrigin) {
        if let observer, observer.isObserving {
            switch operation {
            case .set(let key, _, _), .remove(let key): observer.noteChange(of: key, by: origin)
            case .removeAll: entries.forEach { observer.noteChange(of: $0.key, by: origin) }
            case .moved: break
            }
        }
        entries.apply(operation)
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
        return Array(names.inOrder().prefix(JournalReport.DamagedKeys.limit))
    }
}

internal import DefaultJournal

/// A sequence of the keys of a store whose values changed.
///
/// Changes that happen between two reads of the sequence are combined into one set.
///
/// ```swift
/// for await keys in store.changes() {
///     print("changed:", keys)
/// }
/// ```
///
/// An empty set means that it isn't known which keys changed. See ``ValueUpdates`` for which changes are seen, and when
/// the sequence ends.
public typealias KeyChanges = ValueUpdates<Set<String>>

extension KeyValueStorage {
    /// The keys that change after iteration has started.
    public func changes() -> KeyChanges { KeyChanges(of: nil, in: self, makeReader: KeyChanges.makeReader) }
}

extension KeyChanges {
    /// Makes a reader that combines what has changed since it was read; an empty set is what isn't known.
    static func makeReader() -> Reader {
        let pending = Locked<Set<String>?>(nil)
        return Reader(
            note: { keys in
                pending.withLock { pending in
                    if let keys, pending?.isEmpty != true {
                        pending = keys.union(pending ?? [])
                    } else {
                        pending = []
                    }
                }
                return true
            },
            next: { pending.exchange(nil) }
        )
    }
}

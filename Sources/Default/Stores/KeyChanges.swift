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
/// An empty set means that it isn't known which keys changed. See ``ValueUpdates`` for which changes are seen, and when the
/// sequence ends.
public struct KeyChanges: AsyncSequence {
    /// A set of keys.
    public typealias Element = Set<String>
    /// The sequence never fails.
    public typealias Failure = Never

    fileprivate let storage: any KeyValueStorage

    /// Starts to observe the storage.
    public func makeAsyncIterator() -> Iterator {
        let signal = ChangeSignal()
        return Iterator(signal: signal, observation: storage.observeChanges { keys in signal.note(keys) })
    }

    /// Delivers the sets of a ``KeyChanges``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let signal: ChangeSignal
        fileprivate let observation: StoreObservation

        /// Waits for changes since the iterator was created, or since the last call.
        public mutating func next() async -> Set<String>? {
            await next(isolation: #isolation)
        }

        /// Waits for changes since the iterator was created, or since the last call.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Set<String>? {
            switch await signal.next(isolation: actor) {
            case .keys(let keys):
                return keys
            case .any:
                return []
            case nil:
                observation.cancel()
                return nil
            }
        }
    }
}

@available(*, unavailable, message: "Iterate where you create it: a store need not be Sendable.")
extension KeyChanges: Sendable {}

@available(*, unavailable, message: "An iterator belongs to one task.")
extension KeyChanges.Iterator: Sendable {}

extension KeyValueStorage {
    /// The keys that change after iteration has started.
    public func changes() -> KeyChanges {
        KeyChanges(storage: self)
    }
}

/// The names of a store's keys whose values change, as sets: what changed while the reader did something else comes together.
///
/// ```swift
/// for await keys in store.changes() {
///     print("changed:", keys)
/// }
/// ```
///
/// A set is empty when it is known that something changed, but not what. Where changes are seen, and until when, is as for
/// ``ValueUpdates``.
public struct KeyChanges: AsyncSequence {
    /// Names of keys.
    public typealias Element = Set<String>
    /// It never fails.
    public typealias Failure = Never

    fileprivate let storage: any KeyValueStorage

    /// Starts to watch.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> Iterator {
        let signal = ChangeSignal()
        return Iterator(signal: signal, observation: storage.observeChanges { keys in signal.note(keys) })
    }

    /// Delivers the sets of a ``KeyChanges``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let signal: ChangeSignal
        fileprivate let observation: StoreObservation

        /// Waits for changes since the iterator was made, or since the last call.
        ///
        /// - Parameter actor: The actor to stay on.
        /// - Returns: The keys, nil when the task was cancelled.
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

@available(*, unavailable, message: "Iterate where you ask for it: a store need not be Sendable.")
extension KeyChanges: Sendable {}

@available(*, unavailable, message: "An iterator belongs to one task.")
extension KeyChanges.Iterator: Sendable {}

extension KeyValueStorage {
    /// The names of the keys that change from when the sequence is first iterated.
    ///
    /// - Returns: The sequence.
    public func changes() -> KeyChanges {
        KeyChanges(storage: self)
    }
}

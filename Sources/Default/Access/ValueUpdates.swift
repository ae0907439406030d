/// A value and what becomes of it: the current value first, then one more each time it has changed.
///
/// ```swift
/// for await theme in Defaults.updates(.theme) {
///     print("The theme is", theme)
/// }
/// ```
///
/// - A value is read when it is delivered, so the last one delivered is what is stored. A reader that is slow misses values in
///   between, never the newest. Writing what is stored already delivers nothing, and neither does a value equal to the last
///   one, of types that are `Equatable`.
/// - Changes of this process are seen through whatever handle on the storage they were made, and in a ``FileDefaults`` those of
///   every other process. See ``Foundation/UserDefaults/observeChanges(_:)`` for what can't be seen in a
///   `UserDefaults`.
/// - The sequence ends when the task that reads it is cancelled. Each iterator watches from its first value until it is
///   released or has ended; then nothing is left of it.
public struct ValueUpdates<Value>: AsyncSequence {
    /// A value.
    public typealias Element = Value
    /// It never fails: what can't be read is delivered as the default, and reported.
    public typealias Failure = Never

    private let storage: any KeyValueStorage
    private let keys: Set<String>
    private let stored: () -> [PropertyListValue?]?
    private let read: () -> Value

    /// - Parameters:
    ///   - keys: The keys in the storage whose changes matter.
    ///   - storage: The storage.
    ///   - stored: What is stored under the keys, which shows whether anything is new; nil where only `read` knows.
    ///   - read: Reads the value.
    init(
        of keys: Set<String>,
        in storage: any KeyValueStorage,
        stored: @escaping () -> [PropertyListValue?]?,
        read: @escaping () -> Value
    ) {
        self.storage = storage
        self.keys = keys
        self.stored = stored
        self.read = read
    }

    /// - Parameters:
    ///   - keys: The keys in the store whose changes matter.
    ///   - store: The store.
    ///   - read: Reads the value.
    init(of keys: [String], in store: any DefaultsStore, read: @escaping () -> Value) {
        self.init(of: Set(keys), in: store, stored: { keys.map(store.storedValue(forKey:)) }, read: read)
    }

    /// Starts with the current value.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self)
    }

    /// Delivers the values of a ``ValueUpdates``.
    public struct Iterator: AsyncIteratorProtocol {
        private struct Delivered {
            var stored: [PropertyListValue?]?
            var value: Value
        }

        private let updates: ValueUpdates
        private let signal = ChangeSignal()
        private var observation: StoreObservation?
        private var latest: Delivered?

        fileprivate init(updates: ValueUpdates) {
            self.updates = updates
        }

        /// Waits for the next value; the first comes at once.
        ///
        /// - Parameter actor: The actor to stay on.
        /// - Returns: The value, nil when the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            guard !Task.isCancelled else {
                return end()
            }
            if observation == nil {
                observation = updates.storage.observeChanges { [signal] keys in signal.note(keys) }
                return deliver()
            }
            while let changes = await signal.next(isolation: actor) {
                if case .keys(let keys) = changes, keys.isDisjoint(with: updates.keys) {
                    continue
                }
                if let value = deliver() {
                    return value
                }
            }
            return end()
        }

        /// Reads the value; nil when it is the one that was delivered last.
        private mutating func deliver() -> Value? {
            // What is stored is looked at before the value is read: were it changed in between, the reader would see the
            // value once too often rather than once too rarely.
            let stored = updates.stored()
            if let latest, let stored, latest.stored == stored {
                return nil
            }
            let value = updates.read()
            let isNew = latest.map { !Self.isEqual($0.value, value) } ?? true
            latest = Delivered(stored: stored, value: value)
            return isNew ? value : nil
        }

        private mutating func end() -> Value? {
            observation?.cancel()
            return nil
        }

        private static func isEqual(_ one: Value, _ other: Value) -> Bool {
            func isEqual<Known: Equatable>(_ known: Known) -> Bool {
                known == other as? Known
            }
            return (one as? any Equatable).map { isEqual($0) } ?? false
        }
    }
}

@available(*, unavailable, message: "Iterate where you ask for it: a store need not be Sendable.")
extension ValueUpdates: Sendable {}

@available(*, unavailable, message: "An iterator belongs to one task.")
extension ValueUpdates.Iterator: Sendable {}

/// A sequence of values: the current value first, then a new one each time it changes.
///
/// ```swift
/// for await theme in Defaults.updates(.theme) {
///     print("The theme is", theme)
/// }
/// ```
///
/// - A value is read when it is delivered, so the last delivered value is the stored one. A slow reader misses values in
///   between, but never the newest. Writing the value that is already stored delivers nothing. Neither does a value equal to
///   the last one, if the type is `Equatable`.
/// - Changes in this process are seen through any handle on the storage, and changes by other processes on a
///   ``FileDefaults``. On a `UserDefaults`, changes made through this library are seen, and on Apple's systems also those
///   that Foundation posts notifications for.
/// - The sequence ends when the task that reads it is cancelled. Each iterator observes the storage from its first value
///   until it is released or has ended.
public struct ValueUpdates<Value>: AsyncSequence {
    /// A value.
    public typealias Element = Value
    /// The sequence never fails; for a value that can't be read the default is delivered, and an event reports the error.
    public typealias Failure = Never

    private let storage: any KeyValueStorage
    private let keys: Set<String>
    private let stored: () -> [PropertyListValue?]?
    private let read: () -> Value
    /// Whether the current value is delivered first.
    var deliversCurrent = true

    /// - Parameters:
    ///   - keys: The keys in the storage whose changes matter.
    ///   - storage: The storage.
    ///   - stored: Returns the stored values of the keys, to find out whether anything changed; nil if only `read` can find
    ///     out.
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

    /// Creates an iterator that starts with the current value.
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self)
    }

    /// Delivers the values of a ``ValueUpdates``.
    public struct Iterator: AsyncIteratorProtocol {
        private let updates: ValueUpdates
        private let signal = ChangeSignal()
        private var observation: StoreObservation?
        private var latest = Latest()

        fileprivate init(updates: ValueUpdates) {
            self.updates = updates
            if !updates.deliversCurrent {
                observe()
                _ = latest.next(of: updates)
            }
        }

        /// Waits for the next value; the first is returned without waiting.
        public mutating func next() async -> Value? {
            await next(isolation: #isolation)
        }

        /// Waits for the next value; the first is returned without waiting.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            guard !Task.isCancelled else {
                return end()
            }
            if observation == nil {
                observe()
                return latest.next(of: updates)
            }
            while let changes = await signal.next(isolation: actor) {
                if case .keys(let keys) = changes, keys.isDisjoint(with: updates.keys) {
                    continue
                }
                if let value = latest.next(of: updates) {
                    return value
                }
            }
            return end()
        }

        private mutating func observe() {
            observation = .of(updates.keys, in: updates.storage) { [signal] keys in signal.note(keys) }
        }

        private mutating func end() -> Value? {
            observation?.cancel()
            return nil
        }
    }

    /// The value that was delivered last.
    private struct Latest {
        private struct Delivered {
            var stored: [PropertyListValue?]?
            var value: Value
        }

        private var latest: Delivered?

        /// Reads the value; nil when it is the last delivered one.
        mutating func next(of updates: ValueUpdates) -> Value? {
            // The stored values are fetched before the value is read. If they change in between, the value is delivered once
            // too often instead of being missed.
            let stored = updates.stored()
            if let latest, let stored, latest.stored?.areSame(as: stored) == true {
                return nil
            }
            let value = updates.read()
            let isNew = latest.map { !Self.isEqual($0.value, value) } ?? true
            latest = Delivered(stored: stored, value: value)
            return isNew ? value : nil
        }

        private static func isEqual(_ one: Value, _ other: Value) -> Bool {
            func isEqual<Known: Equatable>(_ known: Known) -> Bool {
                known == other as? Known
            }
            return (one as? any Equatable).map { isEqual($0) } ?? false
        }
    }
}

@available(*, unavailable, message: "Iterate where you create it: a store need not be Sendable.")
extension ValueUpdates: Sendable {}

@available(*, unavailable, message: "An iterator belongs to one task.")
extension ValueUpdates.Iterator: Sendable {}

extension ValueUpdates {
    /// Calls a handler with the current value, and with a new one each time it changes.
    ///
    /// ```swift
    /// let observation = Defaults.updates(.theme).observe { theme in
    ///     print("The theme is", theme)
    /// }
    /// ```
    ///
    /// The first call is made on the calling thread, unless the sequence leaves out the current value. The others are made on the
    /// thread that made or noticed the change, with no lock held, and one at a time. So the handler may change what it observes,
    /// and should return quickly. A call under way when the observation ends is completed, and no other begins.
    ///
    /// - Parameter handler: Receives the values. One that changes again before it is delivered is left out.
    /// - Returns: The observation. It ends when it is cancelled or released, so keep a reference to it.
    public func observe(_ handler: @escaping @Sendable (Value) -> Void) -> StoreObservation {
        let delivery = Delivery(of: self)
        return .serial(of: keys, in: storage) { delivery.deliver(to: handler) }
    }

    /// Calls a handler with the current value, and with a new one each time it changes, until an object is deallocated.
    ///
    /// ```swift
    /// Defaults.updates(.theme).observe(for: player) { player, theme in
    ///     player.use(theme)
    /// }
    /// ```
    ///
    /// The calls are those of ``observe(_:)``. None begins after the object was deallocated. What is observed keeps the handler,
    /// what that captures, and the store, until the next change after that. To release them at once, cancel the observation in
    /// the object's `deinit`.
    ///
    /// - Parameters:
    ///   - owner: The object. It isn't retained.
    ///   - handler: Receives the object and the values. It should not capture the object, which would never be deallocated.
    /// - Returns: The observation, which can be cancelled before. No reference to it has to be kept.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Value) -> Void
    ) -> StoreObservation {
        .owned(by: owner) { withOwner in
            observe { value in withOwner { handler($0, value) } }
        }
    }

    /// Delivers values to a handler.
    private final class Delivery: @unchecked Sendable {
        // A store calls its observers on threads that may use it, and a serial observation calls them one at a time.
        private let updates: ValueUpdates
        private var latest = Latest()

        init(of updates: ValueUpdates) {
            self.updates = updates
            if !updates.deliversCurrent {
                _ = latest.next(of: updates)
            }
        }

        func deliver(to handler: (Value) -> Void) {
            if let value = latest.next(of: updates) {
                handler(value)
            }
        }
    }
}

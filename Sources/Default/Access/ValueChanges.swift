internal import DefaultJournal

/// A sequence of the changes of a value, or of several, each with what was stored before and after it.
///
/// ```swift
/// for await change in Defaults.changes(.volume) {
///     print("from", change.old, "to", change.new)
/// }
/// ```
///
/// - Every change is delivered that one thread makes after another. Changes that several threads or processes make at the
///   same time may be combined into one. The value before a change is always the value after the previous one, and the last
///   delivered value is the stored one.
/// - Changes wait for a slow reader up to a limit. Then the newest are combined into one, so the first value before and the
///   last value after them are kept. It is left out if they are the same. ``ValueUpdates`` keeps the newest value only.
/// - Writing the value that is already stored is not a change. Removing the stored value is one to the default.
/// - The values of several keys are read one after the other. Those that change in one transaction are one change.
/// - The sequence ends when the task that reads it is cancelled. Each iterator observes the store until it is released or has
///   ended. See ``ValueUpdates`` for which changes are seen.
public struct ValueChanges<Value>: AsyncSequence {
    /// A change of a value.
    public struct Element {
        /// The value before the change; the key's default if nothing was stored.
        public let old: Value
        /// The value after the change; the key's default if nothing is stored.
        public let new: Value
    }

    /// The sequence never fails; for a value that can't be read the default is delivered, and an event reports the error.
    public typealias Failure = Never

    private let values: ObservedValues
    private let limit: Int
    private let decode: ([PropertyListValue?]) -> Value

    /// - Parameters:
    ///   - keys: The keys.
    ///   - store: The store.
    ///   - limit: The number of changes that wait for a slow reader.
    ///   - decode: Turns what is stored under the keys into a value.
    init(
        of keys: [String],
        in store: any DefaultsStore,
        limit: Int,
        decode: @escaping ([PropertyListValue?]) -> Value
    ) {
        values = ObservedValues(keys: keys, store: store)
        self.limit = Swift.max(limit, 1)
        self.decode = decode
    }

    /// Starts to observe the store.
    public func makeAsyncIterator() -> Iterator {
        Iterator(of: values, limit: limit, decode: decode)
    }

    /// Delivers the changes of a ``ValueChanges``.
    public struct Iterator: AsyncIteratorProtocol {
        private let signal = ChangeSignal()
        private let log: ChangeLog
        private let observation: StoreObservation
        private let decode: ([PropertyListValue?]) -> Value

        fileprivate init(of values: ObservedValues, limit: Int, decode: @escaping ([PropertyListValue?]) -> Value) {
            let log = ChangeLog(limit: limit)
            self.log = log
            self.decode = decode
            observation = .of(Set(values.keys), in: values.store) { [signal] keys in
                if log.record(values.read) {
                    signal.note(keys)
                }
            }
            log.begin(values.read)
        }

        /// Waits for the next change.
        public mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// Waits for the next change.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while !Task.isCancelled {
                if let change = log.removeFirst() {
                    return Element(old: decode(change.old), new: decode(change.new))
                }
                guard await signal.next(isolation: actor) != nil else {
                    break
                }
            }
            observation.cancel()
            return nil
        }
    }
}

extension ValueChanges.Element: Sendable where Value: Sendable {}

@available(*, unavailable, message: "Iterate where you create it: a store need not be Sendable.")
extension ValueChanges: Sendable {}

@available(*, unavailable, message: "An iterator belongs to one task.")
extension ValueChanges.Iterator: Sendable {}

extension ValueChanges {
    /// Calls a handler at each change; see ``ValueUpdates/observe(_:)``.
    ///
    /// Changes that are made while the handler runs, by itself or by other threads, are combined into one.
    ///
    /// - Parameter handler: Receives the changes that are made from now on.
    /// - Returns: The observation. It ends when it is cancelled or released, so keep a reference to it.
    public func observe(_ handler: @escaping @Sendable (Element) -> Void) -> StoreObservation {
        let delivery = Delivery(of: self)
        return .serial(of: Set(values.keys), in: values.store) { delivery.deliver(to: handler) }
    }

    /// Calls a handler at each change until an object is deallocated; see ``ValueUpdates/observe(for:_:)``.
    ///
    /// - Parameters:
    ///   - owner: The object. It isn't retained.
    ///   - handler: Receives the object and the changes. It should not capture the object, which would never be deallocated.
    /// - Returns: The observation, which can be cancelled before. No reference to it has to be kept.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Element) -> Void
    ) -> StoreObservation {
        .owned(by: owner) { withOwner in
            observe { change in withOwner { handler($0, change) } }
        }
    }

    /// Delivers changes to a handler.
    private final class Delivery: @unchecked Sendable {
        // The values are for observers, and the function that decodes them only uses the store.
        private let values: ObservedValues
        private let log: ChangeLog
        private let decode: ([PropertyListValue?]) -> Value

        init(of changes: ValueChanges) {
            values = changes.values
            log = ChangeLog(limit: changes.limit)
            decode = changes.decode
            log.begin(values.read)
        }

        func deliver(to handler: (Element) -> Void) {
            if log.record(values.read), let change = log.removeFirst() {
                handler(Element(old: decode(change.old), new: decode(change.new)))
            }
        }
    }
}

/// What is stored under some keys, for an observer.
private struct ObservedValues: @unchecked Sendable {
    // A store calls its observers on threads that may use it.
    let keys: [String]
    let store: any DefaultsStore

    func read() -> [PropertyListValue?] { keys.map(store.storedValue(forKey:)) }
}

/// The changes of stored values that have not been read yet.
final class ChangeLog: Sendable {
    struct Change: Sendable {
        let old: [PropertyListValue?]
        let new: [PropertyListValue?]
    }

    private struct State {
        var latest: [PropertyListValue?] = []
        var changes: [Change] = []
        /// Counts the values that were recorded.
        var generation = 0
        var hasBegun = false
    }

    private let state = Guarded(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Records the values before the first change, which may have been recorded already.
    func begin(_ read: () -> [PropertyListValue?]) {
        let value = read()
        state.withLock { state in
            if !state.hasBegun {
                state.latest = value
                state.hasBegun = true
            }
        }
    }

    /// Records what is stored now.
    ///
    /// It is read without the lock, since a read may notify observers. If another thread has recorded something in the
    /// meantime, this may be older, and is read again.
    ///
    /// - Returns: Whether it has changed.
    func record(_ read: () -> [PropertyListValue?]) -> Bool {
        while true {
            let generation = state.withLock { $0.generation }
            let value = read()
            let isChange: Bool? = state.withLock { state in
                guard state.generation == generation else {
                    return nil
                }
                state.generation += 1
                guard state.hasBegun else {
                    state.latest = value
                    state.hasBegun = true
                    return false
                }
                guard !state.latest.areSame(as: value) else {
                    return false
                }
                if state.changes.count < limit {
                    state.changes.append(Change(old: state.latest, new: value))
                } else {
                    let change = Change(old: state.changes.removeLast().old, new: value)
                    if !change.old.areSame(as: change.new) {
                        state.changes.append(change)
                    }
                }
                state.latest = value
                return true
            }
            if let isChange {
                return isChange
            }
        }
    }

    /// Removes the oldest change and returns it.
    func removeFirst() -> Change? {
        state.withLock { $0.changes.isEmpty ? nil : $0.changes.removeFirst() }
    }
}

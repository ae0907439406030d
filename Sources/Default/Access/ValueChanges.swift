internal import DefaultJournal

/// A sequence of the changes of a value, or of several, each with what was stored before and after it.
///
/// ```swift
/// for await change in Defaults.changes(.volume) {
///     print("from", change.old, "to", change.new)
/// }
/// ```
///
/// - Every change is delivered that one thread makes after another. Changes that several threads or processes make at
///   the same time may be combined into one. The value before a change is always the value after the previous one, and
///   the last delivered value is the stored one.
/// - Changes wait for a slow reader up to a limit. Then the newest are combined into one, so the first value before and
///   the last value after them are kept. It is left out if they are the same. ``ValueUpdates`` keeps the newest value
///   only.
/// - Writing the value that is already stored is not a change. Removing the stored value is one to the default.
/// - A stored value that can't be read is not a change, and is reported to ``DefaultsDiagnostics``. The next change
///   starts from the last value that could be read; storing that again is not a change.
/// - The values of several keys are read one after the other. Those that change in one transaction are one change.
/// - The sequence ends when the task that reads it is cancelled. See ``ValueUpdates`` for which changes are seen.
///   Changes that are made while a handler runs, by itself or by other threads, are combined into one.
public typealias ValueChanges<Value> = ValueUpdates<ValueChange<Value>>

/// A change of a value.
public struct ValueChange<Value> {
    /// The value before the change, the last that could be read; the key's default if nothing was stored.
    public let old: Value
    /// The value after the change; the key's default if nothing is stored.
    public let new: Value
}

extension ValueChange: Sendable where Value: Sendable {}

extension ValueUpdates {
    /// - Parameters:
    ///   - keys: The keys.
    ///   - store: The store.
    ///   - limit: The number of changes that wait for a slow reader.
    ///   - makeUpdate: Makes a function that turns what is stored under the keys into a value, for one reader.
    init<Value>(
        of keys: [String],
        in store: any DefaultsStore,
        limit: Int,
        makeUpdate: @escaping () -> ([PropertyListValue?]) -> LastReadable<Value>.Update
    ) where Element == ValueChange<Value> {
        self.init(of: Set(keys), in: store) {
            func read() -> [PropertyListValue?] { keys.map(store.storedValue(forKey:)) }
            let log = ChangeLog(after: read(), limit: limit)
            let update = makeUpdate()
            func next() -> ValueChange<Value>? {
                while let change = log.removeFirst() {
                    let old = update(change.old).value
                    // Not for a value that can't be read, or is the last one that could be.
                    if let new = update(change.new).newValue { return ValueChange(old: old, new: new) }
                }
                return nil
            }
            return Reader(note: { _ in log.record(read) }, next: next)
        }
    }
}

/// The changes of stored values that have not been read yet.
final class ChangeLog: Sendable {
    typealias Values = [PropertyListValue?]

    /// A change, with the values before and after it.
    struct Change {
        let old: Values
        let new: Values
    }

    private struct State {
        /// The stored values before the oldest change, and after each.
        var values: [Values]
        /// The number of times that something was recorded.
        var generation = 0
    }

    private let state: Locked<State>
    private let limit: Int

    init(after values: Values, limit: Int) {
        state = Locked(State(values: [values]))
        self.limit = max(limit, 1)
    }

    /// Records what is stored now.
    ///
    /// It is read without the lock, since a read may notify observers. If another thread has recorded something in the
    /// meantime, this may be older, and is read again.
    ///
    /// - Returns: Whether it has changed.
    func record(_ read: () -> Values) -> Bool {
        while true {
            let generation = state.withLock { $0.generation }
            let new = read()
            let isChange: Bool? = state.withLock { state in
                guard state.generation == generation else { return nil }
                state.generation += 1
                func isLatest() -> Bool { state.values[state.values.count - 1].areSame(as: new) }
                guard !isLatest() else { return false }
                if state.values.count > limit {
                    state.values.removeLast()
                }
                if !isLatest() {
                    state.values.append(new)
                }
                return true
            }
            if let isChange { return isChange }
        }
    }

    /// Removes the oldest change and returns it.
    func removeFirst() -> Change? {
        state.withLock { state in
            guard state.values.count > 1 else { return nil }
            return Change(old: state.values.removeFirst(), new: state.values[0])
        }
    }
}

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
/// - The sequence ends when the task that reads it is cancelled. See ``ValueUpdates`` for which changes are seen. Changes that
///   are made while a handler runs, by itself or by other threads, are combined into one.
public typealias ValueChanges<Value> = ValueUpdates<ValueChange<Value>>

/// A change of a value.
public struct ValueChange<Value> {
    /// The value before the change; the key's default if nothing was stored.
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
    ///   - decode: Turns what is stored under the keys into a value.
    init<Value>(
        of keys: [String],
        in store: any DefaultsStore,
        limit: Int,
        decode: @escaping ([PropertyListValue?]) -> Value
    ) where Element == ValueChange<Value> {
        self.init(of: Set(keys), in: store) {
            func read() -> [PropertyListValue?] { keys.map(store.storedValue(forKey:)) }
            let log = ChangeLog(after: read(), limit: limit)
            return Reader(
                note: { _ in log.record(read) },
                next: { log.removeFirst().map { ValueChange(old: decode($0.old), new: decode($0.new)) } }
            )
        }
    }
}

/// The changes of stored values that have not been read yet.
final class ChangeLog: Sendable {
    typealias Change = (old: [PropertyListValue?], new: [PropertyListValue?])

    private struct State {
        var latest: [PropertyListValue?]
        var changes: [Change] = []
        /// Counts the values that were recorded.
        var generation = 0
    }

    private let state: Guarded<State>
    private let limit: Int

    init(after values: [PropertyListValue?], limit: Int) {
        state = Guarded(State(latest: values))
        self.limit = max(limit, 1)
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
                guard state.generation == generation else { return nil }
                state.generation += 1
                guard !state.latest.areSame(as: value) else { return false }
                if state.changes.count < limit {
                    state.changes.append((state.latest, value))
                } else {
                    let change = (old: state.changes.removeLast().old, new: value)
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
public typealias KeyChanges = ValueUpdates<Set<String>>

extension KeyValueStorage {
    /// The keys that change after iteration has started.
    public func changes() -> KeyChanges {
        KeyChanges(of: nil, in: self, makeReader: KeyChanges.makeReader)
    }
}

extension KeyChanges {
    /// Makes a reader that combines what has changed since it was read; an empty set is what isn't known.
    static func makeReader() -> Reader {
        let pending = Guarded<Set<String>?>(nil)
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
            next: {
                pending.withLock { pending in
                    defer { pending = nil }
                    return pending
                }
            }
        )
    }
}

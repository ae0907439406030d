internal import DefaultJournal

/// A sequence of values: the current value first, then a new one each time it changes.
///
/// ```swift
/// for await theme in Defaults.updates(.theme) {
///     print("The theme is", theme)
/// }
/// ```
///
/// - A value is read when it is delivered, so the last delivered value is the stored one. A slow reader misses values
///   in between, but never the newest. Writing the value that is already stored delivers nothing. Neither does a value
///   equal to the last one, if the type is `Equatable`.
/// - Changes in this process are seen through any handle on the storage, and changes by other processes on a
///   ``FileDefaults``. On a `UserDefaults`, changes made through this library are seen, and on Apple platforms also
///   those that Foundation posts notifications for.
/// - Nothing is delivered for a stored value that can't be read, which is reported to ``DefaultsDiagnostics``: the last
///   value that could be read stays the current one, for each of several keys by itself. Only if it is the first value,
///   the default is delivered. A removed value is the default, too.
/// - The sequence ends when the task that reads it is cancelled. Each iterator observes the storage until it is
///   released or has ended.
public struct ValueUpdates<Element>: AsyncSequence {
    /// The sequence never fails; an event reports a value that can't be read, for which nothing is delivered.
    public typealias Failure = Never

    private let keys: Set<String>?
    private let storage: any KeyValueStorage
    private let makeReader: () -> Reader

    /// What an iterator or a handler knows, so that it receives what is new.
    //
    // A storage calls its observers on threads that may use it, and `next` is called by one of them at a time.
    final class Reader: @unchecked Sendable {
        /// Notes that keys have changed, nil if it isn't known which; returns false if there is nothing new.
        let note: (Set<String>?) -> Bool
        /// Returns the next element; nil when there is nothing new.
        let next: () -> Element?

        init(note: @escaping (Set<String>?) -> Bool, next: @escaping () -> Element?) {
            self.note = note
            self.next = next
        }
    }

    /// - Parameters:
    ///   - keys: The keys in the storage whose changes matter; nil for all.
    ///   - storage: The storage.
    ///   - makeReader: Makes what knows the elements that were delivered, none at first.
    init(of keys: Set<String>?, in storage: any KeyValueStorage, makeReader: @escaping () -> Reader) {
        self.keys = keys
        self.storage = storage
        self.makeReader = makeReader
    }

    /// Starts to observe the storage.
    public func makeAsyncIterator() -> Iterator { Iterator(of: self) }

    /// Delivers the elements of a ``ValueUpdates``.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: Reader
        private let signal = ChangeSignal()
        private let observation: StoreObservation

        fileprivate init(of updates: ValueUpdates) {
            let reader = updates.makeReader()
            self.reader = reader
            observation = .of(updates.keys, in: updates.storage) { [signal] keys in
                if reader.note(keys) {
                    signal.note()
                }
            }
            // Values that changed before the observation.
            if let keys = updates.keys {
                _ = reader.note(keys)
            }
        }

        /// Waits for the next element; a current value is returned without waiting.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// Waits for the next element; a current value is returned without waiting.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while !Task.isCancelled {
                if let element = reader.next() { return element }
                guard await signal.next(isolation: actor) else { break }
            }
            observation.cancel()
            return nil
        }
    }
}

extension ValueUpdates {
    /// - Parameters:
    ///   - keys: The keys in the storage whose changes matter.
    ///   - storage: The storage.
    ///   - deliversCurrent: Whether the current value is delivered first.
    ///   - makeUpdate: Makes a function that returns the current value, for one reader. It fetches what is stored
    ///     before it reads the value: if that changes in between, the value is delivered once too often instead of
    ///     being missed.
    init(
        of keys: Set<String>,
        in storage: any KeyValueStorage,
        deliversCurrent: Bool = true,
        makeUpdate: @escaping () -> () -> LastReadable<Element>.Update
    ) {
        self.init(of: keys, in: storage) {
            let hasNews = Locked(true)
            let update = makeUpdate()
            func next() -> Element? {
                guard hasNews.exchange(false) else { return nil }
                return update().newValue
            }
            if !deliversCurrent {
                _ = next()
            }
            return Reader(
                note: { _ in
                    hasNews.withLock { $0 = true }
                    return true
                },
                next: next
            )
        }
    }

    /// - Parameters:
    ///   - keys: The keys in the store whose changes matter.
    ///   - store: The store.
    ///   - deliversCurrent: Whether the current value is delivered first.
    ///   - makeUpdate: Makes a function that turns the contents of the keys into the current value, for one reader.
    init(
        of keys: [String],
        in store: any DefaultsStore,
        deliversCurrent: Bool = true,
        makeUpdate: @escaping () -> ([PropertyListValue?]) -> LastReadable<Element>.Update
    ) {
        self.init(of: Set(keys), in: store, deliversCurrent: deliversCurrent) {
            let update = makeUpdate()
            return { update(keys.map(store.storedValue(forKey:))) }
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
    /// The first call is made on the calling thread, unless the sequence leaves out the current value. The others are
    /// made on the thread that made or noticed the change, with no lock held, and one at a time. So the handler may
    /// change what it observes, and should return quickly. A call under way when the observation ends is completed, and
    /// no other begins.
    ///
    /// - Parameter handler: Receives the values. One that changes again before it is delivered is left out.
    /// - Returns: The observation. It ends when it is cancelled or released, so keep a reference to it.
    public func observe(_ handler: @escaping @Sendable (Element) -> Void) -> StoreObservation {
        let reader = makeReader()
        return .serial(of: keys, in: storage) { keys in
            _ = reader.note(keys)
            while let element = reader.next() {
                handler(element)
            }
        }
    }

    /// Calls a handler with the current value, and with a new one each time it changes, until an object is deallocated.
    ///
    /// ```swift
    /// Defaults.updates(.theme).observe(for: player) { player, theme in
    ///     player.use(theme)
    /// }
    /// ```
    ///
    /// The calls are those of ``observe(_:)``. None begins after the object was deallocated. What is observed keeps the
    /// handler, what that captures, and the store, until the next change after that. To release them at once, cancel
    /// the observation in the object's `deinit`.
    ///
    /// - Parameters:
    ///   - owner: The object. It isn't retained.
    ///   - handler: Receives the object and the values. It should not capture the object, which would never be
    ///     deallocated.
    /// - Returns: The observation, which can be cancelled before. No reference to it has to be kept.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Element) -> Void
    ) -> StoreObservation {
        .owned(by: owner) { withOwner in
            observe { value in withOwner { handler($0, value) } }
        }
    }
}

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

    /// What was stored before the oldest change, and after each; and the number of times that something was recorded.
    private let state: Locked<(values: [Values], generation: Int)>
    private let limit: Int

    init(after values: Values, limit: Int) {
        state = Locked((values: [values], generation: 0))
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
    func removeFirst() -> (old: Values, new: Values)? {
        state.withLock { state in
            guard state.values.count > 1 else { return nil }
            return (state.values.removeFirst(), state.values[0])
        }
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

extension StoreObservation {
    /// Calls a body at each change of some keys of a storage, and before that if the keys are known; calls never
    /// overlap.
    static func serial(
        of keys: Set<String>?,
        in storage: any KeyValueStorage,
        _ body: @escaping Handler
    ) -> StoreObservation {
        // A storage of another package may call its observers on several threads at once; a hub does not.
        let hub = ChangeHub()
        let calls = hub.add(body)
        let changes = of(keys, in: storage) { hub.notify($0) }
        if let keys {
            hub.notify(keys)
        }
        return StoreObservation {
            changes.cancel()
            calls.cancel()
        }
    }
}

extension StoreObservation {
    /// Starts an observation that lasts as long as an object, by which it isn't retained.
    ///
    /// What is observed keeps it, by its handler, which ends it when it finds that the object is gone. Nothing else
    /// looks at the object: a look retains it for a moment, and could be what deallocates it, on any thread.
    ///
    /// - Parameters:
    ///   - owner: The object.
    ///   - start: Starts the observation. It receives a function that calls a body with the object while it exists.
    /// - Returns: The observation.
    static func owned<Owner: AnyObject & Sendable>(
        by owner: Owner,
        start: (_ withOwner: @escaping @Sendable ((Owner) -> Void) -> Void) -> StoreObservation
    ) -> StoreObservation {
        let kept = Locked<StoreObservation?>(nil)
        let calls = start { [weak owner] body in
            if let owner {
                body(owner)
            } else {
                kept.exchange(nil)?.cancel()
            }
        }
        let observation = StoreObservation {
            calls.cancel()
            kept.exchange(nil)?.cancel()
        }
        // The object exists until here, so no handler has found it gone before.
        withExtendedLifetime(owner) {
            kept.withLock { $0 = observation }
        }
        return observation
    }
}

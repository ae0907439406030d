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

    /// The state of an iterator or a handler, by which it receives only new elements.
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
    ///   - makeReader: Makes a reader to which nothing has been delivered.
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
    /// handler, what that captures, and the store, until the next change after that. To release them immediately,
    /// cancel the observation in the object's `deinit`.
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

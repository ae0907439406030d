extension Defaults {
    /// The value of a key, and what becomes of it; see ``ValueUpdates``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The values: the current one first.
    public func updates<Value>(_ key: Key<Value>) -> ValueUpdates<Value> {
        // The store that is there now: another task may read the sequence.
        let defaults = Defaults(suite: suite)
        return ValueUpdates(of: [key.name], in: suite) { defaults[key] }
    }

    /// The values of several keys, together each time one of them changes; see ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    /// - Returns: Tuples of the values: the current ones first.
    public func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        let defaults = Defaults(suite: suite)
        var keys = [first.name, second.name]
        for name in repeat (each others).name {
            keys.append(name)
        }
        return ValueUpdates(of: keys, in: suite) {
            (defaults[first], defaults[second], repeat defaults[each others])
        }
    }

    /// The value of a key of the standard store, and what becomes of it; see ``ValueUpdates``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The values: the current one first.
    public static func updates<Value>(_ key: Key<Value>) -> ValueUpdates<Value> {
        Defaults().updates(key)
    }

    /// The values of several keys of the standard store, together each time one of them changes; see ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    /// - Returns: Tuples of the values: the current ones first.
    public static func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        Defaults().updates(first, second, repeat each others)
    }
}

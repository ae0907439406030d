extension Defaults {
    /// A sequence of a key's value and its changes; see ``ValueUpdates``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The values, the current one first.
    public func updates<Value>(_ key: Key<Value>) -> ValueUpdates<Value> {
        // The current store is captured here, because another task may iterate the sequence.
        let defaults = Defaults(suite: suite)
        return ValueUpdates(of: [key.name], in: suite) { defaults[key] }
    }

    /// A sequence of the values of several keys, with a new element each time one of them changes; see ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    /// - Returns: Tuples of the values, the current ones first.
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

    /// A sequence of the value of a key in the standard store and its changes; see ``ValueUpdates``.
    public static func updates<Value>(_ key: Key<Value>) -> ValueUpdates<Value> {
        Defaults().updates(key)
    }

    /// A sequence of the values of several keys in the standard store, with a new element each time one of them changes; see
    /// ``ValueUpdates``.
    public static func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        Defaults().updates(first, second, repeat each others)
    }
}

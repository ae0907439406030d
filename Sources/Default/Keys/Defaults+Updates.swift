extension Defaults {
    /// A sequence of a key's value and its changes; see ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - initial: Whether the current value is delivered first; if not, the first one is that of the first change after
    ///     iteration has started.
    /// - Returns: The values.
    public func updates<Value>(_ key: Key<Value>, initial: Bool = true) -> ValueUpdates<Value> {
        // The current store is captured here, because another task may iterate the sequence.
        let defaults = Defaults(suite: suite)
        var updates = ValueUpdates(of: [key.name], in: suite) { defaults[key] }
        updates.deliversCurrent = initial
        return updates
    }

    /// A sequence of the values of several keys, with a new element each time one of them changes; see ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    ///   - initial: Whether the current values are delivered first.
    /// - Returns: Tuples of the values.
    public func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        initial: Bool = true
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        let defaults = Defaults(suite: suite)
        var keys = [first.name, second.name]
        for name in repeat (each others).name {
            keys.append(name)
        }
        var updates = ValueUpdates(of: keys, in: suite) {
            (defaults[first], defaults[second], repeat defaults[each others])
        }
        updates.deliversCurrent = initial
        return updates
    }

    /// A sequence of the value of a key in the standard store and its changes; see ``ValueUpdates``.
    public static func updates<Value>(_ key: Key<Value>, initial: Bool = true) -> ValueUpdates<Value> {
        Defaults().updates(key, initial: initial)
    }

    /// A sequence of the values of several keys in the standard store, with a new element each time one of them changes; see
    /// ``ValueUpdates``.
    public static func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        initial: Bool = true
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        Defaults().updates(first, second, repeat each others, initial: initial)
    }

    /// A sequence of the changes of a key's value, each with the value before and after it; see ``ValueChanges``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - limit: The number of changes that wait for a slow reader; when there are more, the newest are combined into one.
    /// - Returns: The changes that happen after iteration has started.
    public func changes<Value>(_ key: Key<Value>, limit: Int = 100) -> ValueChanges<Value> {
        let access = KeyAccess(key.name, in: suite)
        return ValueChanges(of: access, limit: limit) { stored in
            guard let stored else {
                return key.defaultValue
            }
            let value = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
                try access.decode(stored, by: key.bridge, default: key.defaultValue)
            }
            return value ?? key.defaultValue
        }
    }

    /// A sequence of the changes of a key's value in the standard store; see ``ValueChanges``.
    public static func changes<Value>(_ key: Key<Value>, limit: Int = 100) -> ValueChanges<Value> {
        Defaults().changes(key, limit: limit)
    }
}

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
        return ValueUpdates(of: [key.name], in: suite, deliversCurrent: initial) { defaults[key] }
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
        let names = Self.names(first, second, repeat each others)
        return ValueUpdates(of: names, in: suite, deliversCurrent: initial) {
            (defaults[first], defaults[second], repeat defaults[each others])
        }
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
        let store = suite
        return ValueChanges(of: [key.name], in: store, limit: limit) { key.value(of: $0[0], in: store) }
    }

    /// A sequence of the changes of several keys' values, each with all values before and after it; see ``ValueChanges``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    ///   - limit: The number of changes that wait for a slow reader; when there are more, the newest are combined into one.
    /// - Returns: The changes that happen after iteration has started, as tuples of the values.
    public func changes<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        limit: Int = 100
    ) -> ValueChanges<(First, Second, repeat each Other)> {
        let store = suite
        let names = Self.names(first, second, repeat each others)
        return ValueChanges(of: names, in: store, limit: limit) { stored in
            var stored = stored[...]
            func next<Value>(_ key: Key<Value>) -> Value { key.value(of: stored.removeFirst(), in: store) }
            return (next(first), next(second), repeat next(each others))
        }
    }

    /// A sequence of the changes of a key's value in the standard store; see ``ValueChanges``.
    public static func changes<Value>(_ key: Key<Value>, limit: Int = 100) -> ValueChanges<Value> {
        Defaults().changes(key, limit: limit)
    }

    /// A sequence of the changes of several keys' values in the standard store; see ``ValueChanges``.
    public static func changes<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        limit: Int = 100
    ) -> ValueChanges<(First, Second, repeat each Other)> {
        Defaults().changes(first, second, repeat each others, limit: limit)
    }
}

extension Defaults {
    private static func names<each Other>(_ first: Keys, _ second: Keys, _ others: repeat Key<each Other>) -> [String] {
        var keys = [first.name, second.name]
        for name in repeat (each others).name {
            keys.append(name)
        }
        return keys
    }
}

extension Defaults.Key {
    /// The value of what was stored under the key; errors are reported.
    fileprivate func value(of stored: PropertyListValue?, in store: any DefaultsStore) -> Value {
        guard let stored else {
            return defaultValue
        }
        let value = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try KeyAccess(name, in: store).decode(stored, by: bridge, default: defaultValue)
        }
        return value ?? defaultValue
    }
}

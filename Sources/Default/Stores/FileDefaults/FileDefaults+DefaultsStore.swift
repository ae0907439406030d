internal import DefaultJournal
public import Foundation

extension FileDefaults: DefaultsStore {
    /// The value for a key: a launch argument, else what is stored, else what is registered.
    ///
    /// - Parameter key: The key.
    /// - Returns: `String`, `Bool`, `Int` (`UInt` over `Int.max`), `Double`, `Data`, `Date`, `[Any]` or `[String: Any]`;
    ///   nil when there is none.
    public func object(forKey key: String) -> Any? {
        value(forKey: key)?.object
    }

    /// The `Data` for a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The bytes, nil when there is no value or it is not `Data`.
    public func data(forKey key: String) -> Data? {
        if arguments.values.isEmpty, let found = suite.withCurrent({ $0.dataOrDefault(for: StoreKey(unchecked: key)) })
        {
            return found
        }
        guard case .data(let data) = value(forKey: key) else {
            return nil
        }
        return data
    }

    /// The value for a key, with its type spelled out: a launch argument, else what is stored, else what is registered.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when there is none.
    public func propertyListValue(forKey key: String) -> PropertyListValue? {
        value(forKey: key)
    }

    /// Stores a property-list value under a key, or removes what is there.
    ///
    /// - Parameters:
    ///   - value: The value, encoded at most 64 MiB; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue``, ``DefaultsError/Code/valueTooLarge``,
    ///   ``DefaultsError/Code/storeUnavailable`` or ``DefaultsError/Code/storeFailed``; nothing has changed then.
    public func set(_ value: Any?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try write(PropertyListValue(value, forKey: key, in: self).map { StoredValue($0) }, for: storeKey)
    }

    /// Stores `Data` under a key.
    ///
    /// - Parameters:
    ///   - data: The bytes, at most 64 MiB.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ data: Data, forKey key: String) throws(DefaultsError) {
        try write(StoredValue(data), for: StoreKey(key))
    }

    /// Stores a value with its type spelled out.
    ///
    /// - Parameters:
    ///   - value: The value, encoded at most 64 MiB.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as for any value.
    public func set(_ value: PropertyListValue, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value.checkDepth(forKey: key, in: self)
        try write(StoredValue(value), for: storeKey)
    }

    /// Removes what is stored under a key, if anything is.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/storeUnavailable`` or ``DefaultsError/Code/storeFailed``; nothing has changed then.
    public func removeObject(forKey key: String) throws(DefaultsError) {
        try write(nil, for: StoreKey(key))
    }

    /// All keys and values: launch arguments, what is stored, and what is registered.
    ///
    /// - Returns: Values by their keys, as ``object(forKey:)`` gives them; of keys that are canonically equivalent, one.
    public func dictionaryRepresentation() -> [String: Any] {
        var values: [StoreKey: PropertyListValue]
        if let suite = suite.openIfPossible() {
            values = suite.index.registeredValues
            values.merge(suite.values) { _, stored in stored }
        } else {
            values = suite.registeredValues
        }
        values.merge(arguments.values) { _, argument in argument }
        return Dictionary(values.map { ($0.key.string, $0.value.object) }, uniquingKeysWith: { first, _ in first })
    }

    /// The keys under which something is stored, launch arguments and registered defaults left out.
    public func storedKeys() -> [String] {
        suite.openIfPossible()?.keys.map(\.string) ?? []
    }

    /// Brings everything stored so far to the disk: when it returns, it survives the machine losing power.
    ///
    /// - Returns: True.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``.
    @discardableResult
    public func synchronize() throws(DefaultsError) -> Bool {
        let suite = try suite.open()
        do {
            try suite.journal.synchronize()
        } catch {
            throw .failing(error, in: storeDescription)
        }
        return true
    }

    /// Keeps all other writers, of whatever process, out of the suite until the matching ``endExclusiveAccess()``.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``; there is no exclusive access then.
    public func beginExclusiveAccess() throws(DefaultsError) {
        let journal = try suite.open().journal
        do {
            try journal.beginExclusiveAccess()
        } catch {
            throw .failing(error, in: storeDescription)
        }
    }

    /// Ends what ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() {
        // A suite that was opened stays open, so this is the journal that the access began on.
        let suite = suite.current
        suite?.journal.endExclusiveAccess()
        suite?.tellOfChanges()
    }

    /// Calls a handler at each change of the suite: by this object, another one for the suite, or another process.
    ///
    /// The first observation of a suite in a process starts a thread that watches the suite's directory, and the last one
    /// ends it. On Apple's systems there is no such thread: other processes' changes are noticed at the next read.
    ///
    /// - Parameter handler: Is told which keys changed, on any thread, once the values can be read.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        suite.observe(handler)
    }

    /// Opens the suite if it isn't open.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``.
    public func checkAvailability() throws(DefaultsError) {
        _ = try suite.open()
    }

    /// "FileDefaults" with the path of the suite's directory.
    public var storeDescription: String {
        "FileDefaults(\((try? suite.path()) ?? "unavailable"))"
    }
}

extension FileDefaults {
    /// The value for a key, from wherever there is one.
    func value(forKey key: String) -> PropertyListValue? {
        let storeKey = StoreKey(unchecked: key)
        if !arguments.values.isEmpty, let argument = arguments.values[storeKey] {
            return argument
        }
        if let found = suite.withCurrent({ $0.valueOrDefault(for: storeKey) }) {
            return found
        }
        guard let suite = suite.openIfPossible() else {
            return suite.registeredValue(for: storeKey)
        }
        return suite.valueOrDefault(for: storeKey)
    }

    /// Stores a value, or takes it into the transaction that this thread is in.
    func write(_ value: consuming StoredValue?, for key: StoreKey) throws(DefaultsError) {
        let suite = try suite.open()
        do {
            try suite.write(value, for: key, durability: JournalDurability(durability))
        } catch {
            throw .failing(error, key: key.string, in: storeDescription)
        }
        suite.tellOfChanges()
    }
}

extension JournalDurability {
    init(_ durability: FileDefaults.Durability) {
        switch durability {
        case .background: self = .background
        case .everyWrite: self = .everyWrite
        }
    }
}

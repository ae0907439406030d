internal import DefaultJournal

extension FileDefaults: DefaultsStore {
    /// The value for a key: a launch argument, else what is stored, else what is registered.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when there is none.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        let key = StoreKey(unchecked: key)
        if !arguments.values.isEmpty, let argument = arguments.values[key] {
            return argument
        }
        guard let suite = suite.openIfPossible() else {
            return self.suite.registeredValue(for: key)
        }
        return suite.value(for: key) ?? suite.index.registeredValue(for: key)
    }

    /// Stores a value under a key, or removes what is there; in a transaction of this thread, when that ends.
    ///
    /// - Parameters:
    ///   - value: The value, at most 64 MiB in its binary form; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue``, ``DefaultsError/Code/valueTooLarge``,
    ///   ``DefaultsError/Code/storeUnavailable`` or ``DefaultsError/Code/storeFailed``; nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        let suite = try suite.open()
        do {
            try suite.write(value.map { StoredValue($0) }, for: storeKey, durability: JournalDurability(durability))
        } catch {
            throw .failing(error, key: key, in: storeDescription)
        }
        suite.notifyChanges()
    }

    /// The keys under which something is stored, launch arguments and registered defaults left out.
    public func storedKeys() -> [String] {
        suite.openIfPossible()?.keys.map(\.string) ?? []
    }

    /// Brings everything stored so far to the disk: when it returns, it survives the machine losing power.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``.
    public func flush() throws(DefaultsError) {
        let suite = try suite.open()
        do {
            try suite.journal.synchronize()
        } catch {
            throw .failing(error, in: storeDescription)
        }
    }

    /// Prevents all other threads and processes from changing the suite, until the matching ``endExclusiveAccess()``.
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
        suite?.notifyChanges()
    }

    /// Calls a handler at each change of the suite: by this object, another one for the suite, or another process.
    ///
    /// The first observation of a suite in a process starts a thread that watches the suite's directory, and the last one
    /// ends it. On Apple's systems there is no such thread: other processes' changes are noticed at the next read.
    ///
    /// - Parameter handler: Receives the keys that changed, on any thread, once the values can be read.
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

extension FileDefaults: UserDefaultsVocabulary {
    /// Supplies values for keys of this suite under which nothing is stored, for as long as the process runs.
    ///
    /// They hold for every object for the suite in this process, and for no other suite.
    ///
    /// - Parameter values: The values, by their keys; they replace those registered before for the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``; nothing is registered then.
    public func registerValues(_ values: [String: PropertyListValue]) throws(DefaultsError) {
        suite.register(try values.checked(in: self))
    }

    /// All keys and values as of one moment: launch arguments, what is stored, and what is registered.
    ///
    /// - Returns: Values by their keys; of keys that are canonically equivalent, one.
    public func allValues() -> [String: PropertyListValue] {
        var values: [StoreKey: PropertyListValue]
        if let suite = suite.openIfPossible() {
            values = suite.index.registeredValues
            values.merge(suite.values) { _, stored in stored }
        } else {
            values = suite.registeredValues
        }
        values.merge(arguments.values) { _, argument in argument }
        return Dictionary(values.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
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

internal import DefaultJournal

extension FileDefaults: DefaultsStore {
    /// The value for a key: a launch argument, otherwise the stored value, otherwise the registered one.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        let key = StoreKey(unchecked: key)
        if !arguments.values.isEmpty, let argument = arguments.values[key] {
            return argument
        }
        guard let value = suite.withOpenSuite({ $0.value(for: key) ?? $0.state.registeredValue(for: key) }) else {
            return suite.registeredValue(for: key)
        }
        return value
    }

    /// Stores a value under a key, or removes the stored value.
    ///
    /// Inside a transaction of this thread, the change is stored when the transaction ends.
    ///
    /// - Parameters:
    ///   - value: The value, at most 64 MiB in its binary form; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/unsupportedValue``,
    ///   ``DefaultsError/Code/valueTooLarge``, ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly`` or ``DefaultsError/Code/storeFailed``. Nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        let suite = try suite.open()
        do {
            try suite.write(value, for: storeKey, durability: JournalDurability(durability))
        } catch {
            throw .failing(error, key: key, in: storeDescription)
        }
        suite.notifyChanges()
    }

    /// The keys that have a stored value; keys with only a launch argument or a registered default are not included.
    public func storedKeys() -> [String] {
        suite.openIfPossible()?.keys.map(\.string) ?? []
    }

    /// Flushes all previous writes to the disk: when the call returns, they survive a loss of power.
    ///
    /// In a suite that can only be read there is nothing to flush, and the call does nothing.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``.
    public func flush() throws(DefaultsError) {
        guard let suite = try suite.openUnlessReadOnly() else {
            return
        }
        do {
            try suite.journal.synchronize()
        } catch {
            throw .failing(error, in: storeDescription)
        }
    }

    /// Prevents all other threads and processes from changing the suite, until the matching ``endExclusiveAccess()``.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly`` or ``DefaultsError/Code/storeFailed``. Exclusive access has not begun then.
    public func beginExclusiveAccess() throws(DefaultsError) {
        let journal = try suite.open().journal
        do {
            try journal.beginExclusiveAccess()
        } catch {
            throw .failing(error, in: storeDescription)
        }
    }

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    public func endExclusiveAccess() {
        // An open suite stays open, so this is the journal on which the access began.
        let suite = suite.current
        suite?.journal.endExclusiveAccess()
        suite?.notifyChanges()
    }

    /// Calls a handler at each change of the suite, made through this object, another object for the suite, or another
    /// process.
    ///
    /// While a suite has observations, its directory is watched. One descriptor and two threads serve all suites of the process:
    /// one waits for changes by other processes, one calls the handlers for them. The end of the last observation ends both.
    /// If the system refuses to watch the directory, the library checks for changes twice a second until it allows
    /// that, and ``DefaultsDiagnostics/Event/Kind/watchFailed`` says why. On Apple platforms nothing is watched: changes by other
    /// processes are noticed at the next read.
    ///
    /// - Parameter handler: Receives the keys that changed, on any thread, when the new values can be read.
    /// - Returns: The observation. It keeps the suite open.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        suite.observe(handler)
    }

    /// Opens the suite if it isn't open.
    ///
    /// A suite that can only be read is available, and so is one that doesn't exist where nothing can be written: it is empty.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``.
    public func checkAvailability() throws(DefaultsError) {
        _ = try suite.openUnlessReadOnly()
    }

    /// "FileDefaults" with the path of the suite's directory.
    public var storeDescription: String {
        "FileDefaults(\((try? suite.path()) ?? "unavailable"))"
    }
}

extension FileDefaults: LayeredStore {
    func ownValue(forKey key: String) -> PropertyListValue? {
        suite.withOpenSuite { $0.value(for: StoreKey(unchecked: key)) } ?? nil
    }
}

extension FileDefaults: UserDefaultsVocabulary {
    /// Registers values for keys of this suite that have no stored value, for as long as the process runs.
    ///
    /// They apply to every object for the suite in this process, and to no other suite.
    ///
    /// - Parameter values: The values by their keys. They replace values that were registered earlier for the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``. Nothing is registered then.
    public func registerValues(_ values: [String: PropertyListValue]) throws(DefaultsError) {
        suite.register(try values.checked(in: self))
    }

    /// A snapshot of all keys and values: launch arguments, stored values and registered ones.
    public func allValues() -> [String: PropertyListValue] {
        var values: [StoreKey: PropertyListValue]
        if let suite = suite.openIfPossible() {
            values = suite.state.registeredValues
            values.replaceValues(with: suite.values)
        } else {
            values = suite.registeredValues
        }
        values.replaceValues(with: arguments.values)
        return values.byString
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

extension FileDefaults {
    /// Makes several changes as one unit: they become visible and durable together, in all processes, or not at all.
    ///
    /// Inside the body, reads on its thread see the changes. Other threads and processes see them when the body has
    /// returned. If the body throws or the process ends, the changes are discarded. No other thread or process can write in
    /// between. A nested transaction becomes part of the outer one: when only the inner body throws, only its changes are
    /// discarded.
    ///
    /// ```swift
    /// try suite.transaction {
    ///     try suite.set("example.com", forKey: "host")
    ///     try suite.set(443, forKey: "port")
    /// }
    /// ```
    ///
    /// - Parameter body: Makes the changes: at most 64 MiB for each value, and 1 GiB for all of them.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws; ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly``, ``DefaultsError/Code/valueTooLarge`` or ``DefaultsError/Code/storeFailed``. Nothing
    ///   has changed then.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let suite = try suite.open()
        var hasChanges = false
        let result = try withExclusiveAccess {
            let outer = suite.state.transaction
            suite.state.transaction = outer ?? [:]
            do {
                let result = try body()
                if outer == nil { hasChanges = try commit(in: suite) }
                return result
            } catch {
                suite.state.transaction = outer
                throw error
            }
        }
        // With the lock released. What is stored already may not have reached the disk yet.
        if hasChanges, durability == .everyWrite { try flush() }
        return result
    }

    /// Ends the transaction, and writes its changes as one record.
    ///
    /// - Returns: Whether there were any.
    private func commit(in suite: OpenSuite) throws(DefaultsError) -> Bool {
        let changes = suite.state.transaction ?? [:]
        suite.state.transaction = nil
        var batch = JournalBatch()
        // A value that is stored already is not a change, and neither is the removal of a key that has none.
        for (key, value) in changes where !suite.journal.entries.holds(value, for: key) {
            batch.set(key, to: value)
        }
        do throws(JournalError) {
            try suite.journal.append(batch)
        } catch {
            throw .failing(error, in: storeDescription)
        }
        return !changes.isEmpty
    }
}

internal import DefaultJournal

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

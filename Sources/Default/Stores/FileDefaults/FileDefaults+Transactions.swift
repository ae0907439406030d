internal import DefaultJournal

extension FileDefaults {
    /// Makes several changes as one: they become visible and durable together, in all processes, or not at all.
    ///
    /// Within the body, on its thread, reads see what it has changed. Everyone else sees it once the body has returned, or
    /// nothing of it when the body throws or the process ends. No other writer of any process comes in between.
    /// A transaction in a transaction becomes part of it: when only the inner body throws, only its changes are dropped.
    ///
    /// ```swift
    /// try suite.transaction {
    ///     try suite.set("example.com", forKey: "host")
    ///     try suite.set(443, forKey: "port")
    /// }
    /// ```
    ///
    /// - Parameter body: Makes the changes: each value at most 64 MiB, all of them 1 GiB.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/valueTooLarge`` or ``DefaultsError/Code/storeFailed``. Nothing has changed then.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let suite = try suite.open()
        return try withExclusiveAccess {
            let index = suite.index
            let outer = index.transaction
            index.transaction = outer ?? [:]
            let result: Result
            do {
                result = try body()
            } catch {
                index.transaction = outer
                throw error
            }
            guard outer == nil else {
                return result
            }
            let changes = index.transaction ?? [:]
            index.transaction = nil
            do throws(JournalError) {
                var batch = JournalBatch()
                for (key, value) in changes {
                    try batch.set(key, to: value)
                }
                try index.withOwnChanges { () throws(JournalError) in
                    try suite.journal.append(batch, durability: JournalDurability(durability))
                }
            } catch {
                throw DefaultsError.failing(error, in: storeDescription)
            }
            return result
        }
    }
}

internal import Foundation

extension DefaultStorable {
    /// Stores the value, and keeps aside what it replaces where that can't be used.
    ///
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or what the store throws; what was stored is unchanged
    ///   then.
    func replaceStoredValue(in store: some DefaultsStore, forKey key: String) throws(DefaultsError) {
        let data = try store.encode(self, forKey: key, encoder: Self.defaultCoder)
        let known = KnownContents.shared.content(for: Self.self, forKey: key)
        var loss: DefaultsError?
        do {
            try store.withExclusiveAccess {
                if Self.schemaVersion == 0, let stored = store.data(forKey: key), known.isKnown(stored) {
                    try store.set(data, forKey: key)
                } else {
                    loss = try Self.replace(with: data, forKey: key, in: store, known: known)
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: Self.self, store: store.storeDescription)
        }
        known.note(data)
        store.tellOfChange(forKey: key)
        if let loss {
            store.reportQuarantine(because: loss, forKey: key, type: Self.self)
        }
    }

    /// Replaces what is stored after a look at it.
    ///
    /// - Returns: Why it had to be kept aside, nil when it hadn't.
    private static func replace(
        with data: Data,
        forKey key: String,
        in store: some DefaultsStore,
        known: KnownContent
    ) throws -> DefaultsError? {
        let stored = store.object(forKey: key)
        let loss = stored.flatMap { lossInReplacing($0, forKey: key, in: store, known: known) }
        guard loss != nil || schemaVersion > 0 else {
            try store.set(data, forKey: key)
            return nil
        }
        try store.transaction {
            if let stored, loss != nil {
                try store.quarantine(stored, forKey: key, type: Self.self)
            }
            if schemaVersion > 0 {
                let record = try store.schemaRecord(forKey: key, type: Self.self)
                let text = SchemaRecord(version: schemaVersion, data: data, replacing: record).text
                try store.set(text as Any?, forKey: SiblingKey.version(of: key))
            }
            try store.set(data, forKey: key)
        }
        return loss
    }

    /// Why something of what is stored would be lost if it were replaced, nil when all of it can be used.
    private static func lossInReplacing(
        _ object: Any,
        forKey key: String,
        in store: some DefaultsStore,
        known: KnownContent
    ) -> DefaultsError? {
        guard let data = object as? Data else {
            return .typeMismatch(found: object, key: key, type: Self.self, store: store.storeDescription)
        }
        if known.isKnown(data), (try? recordedVersion(of: data, forKey: key, in: store)) == schemaVersion {
            return nil
        }
        do {
            let reading = try read(data, forKey: key, in: store)
            guard let report = reading.report, !report.unusable.isEmpty else {
                return nil
            }
            return .completed(report, key: key, type: Self.self, store: store.storeDescription)
        } catch {
            return error
        }
    }
}

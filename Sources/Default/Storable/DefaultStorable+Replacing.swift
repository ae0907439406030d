extension DefaultStorable {
    /// Stores the value, and quarantines the value that it replaces if that can't be used.
    ///
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or errors of the store. The stored value is unchanged
    ///   then.
    func replaceStoredValue(in store: any DefaultsStore, forKey key: String) throws(DefaultsError) {
        let access = KeyAccess(key, in: store)
        let data = try access.encode(self, encoder: Self.defaultCoder)
        var loss: DefaultsError?
        do {
            try store.withExclusiveAccess {
                let stored = access.ownValue
                loss = stored.flatMap { Self.lossInReplacing($0, forKey: key, in: store) }
                guard loss != nil || Self.schemaVersion > 0 else {
                    return try store.setStoredValue(.data(data), forKey: key)
                }
                try store.transaction {
                    if let stored, loss != nil {
                        try access.quarantine(of: Self.self).add(stored)
                    }
                    if Self.schemaVersion > 0 {
                        let record = try SchemaRecord.stored(beside: key, of: Self.self, in: store)
                        let text = SchemaRecord(version: Self.schemaVersion, data: data, replacing: record).text
                        try store.setStoredValue(.string(text), forKey: CompanionKey.version(of: key))
                    }
                    try store.setStoredValue(.data(data), forKey: key)
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: Self.self, store: store.storeDescription)
        }
        if Self.remembersDecodedValues {
            DecodedValueCache.shared.insert(data, of: Self.self, forKey: key)
        }
        store.notifyChange(forKey: key)
        if let loss {
            access.quarantine(of: Self.self).report(because: loss)
        }
    }

    /// The reason why replacing the stored value would lose data; nil when all of it can be used.
    private static func lossInReplacing(
        _ stored: PropertyListValue,
        forKey key: String,
        in store: any DefaultsStore
    ) -> DefaultsError? {
        guard case .data(let data) = stored else {
            return .typeMismatch(found: stored, key: key, type: Self.self, store: store.storeDescription)
        }
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if remembersDecodedValues, DecodedValueCache.shared.contains(data, of: Self.self, forKey: key),
            schemaVersion == 0 || (try? recordedVersion(of: data, forKey: key, in: store)) == schemaVersion
        {
            return nil
        }
        do {
            let reading = try read(data, forKey: key, in: store)
            guard let report = reading.report, !report.unusable.isEmpty else {
                return nil
            }
            return .filledIn(report, key: key, type: Self.self, store: store.storeDescription)
        } catch {
            return error
        }
    }
}

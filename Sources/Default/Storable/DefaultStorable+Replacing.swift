internal import Foundation

extension DefaultStorable {
    /// Stores the value, with what it replaces and the type doesn't know.
    ///
    /// Quarantines the replaced value if it can't be used.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - key: The key.
    ///   - moved: What is kept of a value from elsewhere, if this replaces none.
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or errors of the store. The stored value is unchanged
    ///   then.
    func replaceStoredValue(
        in store: any DefaultsStore,
        forKey key: String,
        keeping moved: KeptFields = KeptFields()
    ) throws(DefaultsError) {
        let access = KeyAccess(key, in: store)
        let data = try access.encode(self, encoder: Self.defaultCoder)
        var loss: DefaultsError?
        var kept = KeptFields()
        do {
            try store.withExclusiveAccess {
                let stored = access.ownValue
                (loss, kept) = stored.map { Self.inspect($0, forKey: key, in: store) } ?? (nil, KeptFields())
                kept.fields = kept.fields ?? moved.fields
                kept.version = kept.version ?? moved.version
                if kept.arePredecessors {
                    let (lost, fields) = Self.inspect(
                        kept.fields,
                        besides: data,
                        forKey: key,
                        in: store.storeDescription
                    )
                    (loss, kept.fields) = (loss ?? lost, fields)
                }
                let data = kept.fields?.added(to: data) ?? data
                guard loss != nil || Self.schemaVersion > 0 else {
                    return try store.setStoredValue(.data(data), forKey: key)
                }
                try store.transaction {
                    if let stored, loss != nil {
                        try access.quarantine(of: Self.self).add(stored)
                    }
                    if Self.schemaVersion > 0 {
                        let record = try SchemaRecord.stored(beside: key, of: Self.self, in: store)
                        let own = SchemaVersion(Self.schemaVersion, readableSince: Self.readableSince)
                        let text = SchemaRecord(version: kept.version ?? own, data: data, replacing: record).text
                        try store.setStoredValue(.string(text), forKey: CompanionKey.version(of: key))
                    }
                    try store.setStoredValue(.data(data), forKey: key)
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: Self.self, store: store.storeDescription)
        }
        if Self.remembersDecodedValues, kept.fields == nil {
            DecodedValueCache.shared.insert(data, of: Self.self, forKey: key, isComplete: true)
        }
        store.notifyChange(forKey: key)
        if let loss {
            access.quarantine(of: Self.self).report(because: loss)
        }
    }

    /// Finds out what replacing the stored value would lose.
    ///
    /// - Returns: The reason why it would lose data, nil when all of it can be used; and what is kept of it.
    private static func inspect(
        _ stored: PropertyListValue,
        forKey key: String,
        in store: any DefaultsStore
    ) -> (loss: DefaultsError?, kept: KeptFields) {
        guard case .data(let data) = stored else {
            return (
                .typeMismatch(found: stored, key: key, type: Self.self, store: store.storeDescription), KeptFields()
            )
        }
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if remembersDecodedValues, DecodedValueCache.shared.isComplete(data, of: Self.self, forKey: key),
            schemaVersion == 0 || (try? recordedVersion(of: data, forKey: key, in: store)?.number) == schemaVersion
        {
            return (nil, KeptFields())
        }
        do {
            let reading = try read(data, forKey: key, in: store)
            let loss = StoredSettings(reading: reading, data: data, key: key, store: store).loss
            guard keepsUnknownFields else {
                return (loss, KeptFields())
            }
            guard reading.report?.migratedFrom == nil else {
                return (loss, KeptFields(fields: reading.unknown, arePredecessors: true))
            }
            let version = try recordedVersion(of: data, forKey: key, in: store)
            return (
                loss,
                KeptFields(
                    fields: unknownFields(in: reading.bytes ?? data, besides: reading.value),
                    // With its fields, the value is still one that the newer version understands.
                    version: version.flatMap { $0.number > schemaVersion ? $0 : nil }
                )
            )
        } catch {
            return (error, KeptFields())
        }
    }

    /// What the type doesn't know in some bytes, apart from what is to be dropped; nil when the type knows everything.
    static func unknownFields(
        in data: Data,
        besides value: Self,
        coder: DefaultsCoder = defaultCoder
    ) -> UnknownFields? {
        // Nothing is unknown in what the type itself encodes.
        if let own = try? coder.encodeTopLevel(value), own == data {
            return nil
        }
        return UnknownFields(in: data, besides: Self.self, coder: coder).flatMap(withoutDropped)
    }

    /// Removes what the type drops; nil when nothing remains.
    static func withoutDropped(_ fields: UnknownFields) -> UnknownFields? {
        var unknown = fields
        // An old name that is not used counts as unusable, so it was quarantined.
        for path in removedProperties + renamedProperties.keys {
            unknown.remove(path.split(separator: ".").map(String.init))
        }
        return unknown.isEmpty ? nil : unknown
    }

    /// Finds out which fields are kept of those that a predecessor doesn't know.
    ///
    /// - Parameters:
    ///   - fields: The fields.
    ///   - data: The bytes of the value that they were migrated to.
    ///   - key: The key, for the error.
    ///   - store: The description of the store, for the error.
    /// - Returns: The reason why some are not kept, nil when all are; and those that are.
    static func inspect(
        _ fields: UnknownFields?,
        besides data: Data,
        forKey key: String,
        in store: String
    ) -> (loss: DefaultsError?, kept: UnknownFields?) {
        let kept = fields?.unknown(to: Self.self, besides: data, coder: defaultCoder)
        let lost = Set(fields?.paths ?? []).subtracting(kept?.paths ?? []).map { $0.joined(separator: ".") }.sorted()
        let report = LoadReport(unusable: lost.map { .init(path: $0, reason: "was not used by the migration") })
        return (lost.isEmpty ? nil : .filledIn(report, key: key, type: Self.self, store: store), kept)
    }
}

/// What a write keeps of the value that it replaces.
struct KeptFields {
    /// What the type doesn't know; nil when it knows everything, or nothing is to be kept.
    var fields: UnknownFields?
    /// Whether the fields are from a predecessor's bytes, so that this type may know some of them.
    var arePredecessors = false
    /// The version of the value, if it is that of a newer type.
    var version: SchemaVersion?
}

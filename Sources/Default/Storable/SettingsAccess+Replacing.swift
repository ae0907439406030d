#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension SettingsAccess {
    /// Encodes a value to store.
    ///
    /// - Throws: `encodingFailed`.
    func encode(_ value: some DefaultStorable) throws(DefaultsError) -> Data {
        try values.encode(value, encoder: type.defaultCoder)
    }

    /// Stores the bytes of a value, with what it replaces and the type doesn't know.
    ///
    /// Quarantines the replaced value if it can't be used.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - moved: What is kept of a value from elsewhere, if this replaces none.
    /// - Throws: `invalidKey`, `quarantineFailed`, or errors of the store. The stored value is unchanged then.
    func replace(with data: Data, keeping moved: KeptFields = KeptFields()) throws(DefaultsError) {
        var loss: DefaultsError?
        var kept = KeptFields()
        try DefaultsError.wrapping(context) {
            try store.withExclusiveAccess {
                let stored = values.ownValue
                (loss, kept) = stored.map(inspect) ?? (nil, KeptFields())
                if kept.fields == nil {
                    (kept.fields, kept.arePredecessors) = (moved.fields, moved.arePredecessors)
                }
                kept.version = kept.version ?? moved.version
                let (lost, data) = add(kept, to: data)
                // What was moved has been inspected where it was found.
                loss = loss ?? (stored == nil ? nil : lost)
                guard loss != nil || type.schemaVersion > 0 else {
                    return try store.setStoredValue(.data(data), forKey: key)
                }
                try store.transaction {
                    if let stored, loss != nil {
                        try quarantine.add(stored, version: recordedVersion(of: stored))
                    }
                    if type.schemaVersion > 0 {
                        let own = SchemaVersion(type.schemaVersion, readableSince: type.readableSince)
                        try SchemaRecord.store(kept.version ?? own, of: data, beside: key, of: type, in: store)
                    }
                    try store.setStoredValue(.data(data), forKey: key)
                }
            }
        }
        if type.remembersDecodedValues, kept.fields == nil {
            DecodedValueCache.shared.insert(data, of: type, forKey: key, isComplete: true)
        }
        store.notifyChange(forKey: key)
        if let loss {
            quarantine.report(because: loss)
        }
    }

    /// Finds out what replacing the stored value would lose.
    ///
    /// - Returns: The reason why it would lose data, nil when all of it can be used; and what is kept of it.
    private func inspect(_ stored: PropertyListValue) -> (loss: DefaultsError?, kept: KeptFields) {
        guard case .data(let data) = stored else { return (.typeMismatch(found: stored, context), KeptFields()) }
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if type.remembersDecodedValues, DecodedValueCache.shared.isComplete(data, of: type, forKey: key),
            type.schemaVersion == 0 || (try? recordedVersion(of: data)?.number) == type.schemaVersion
        {
            return (nil, KeptFields())
        }
        do {
            let found = try read(data)
            return (found.loss, found.keptFields)
        } catch {
            return (error, KeptFields())
        }
    }
}

extension StoredSettings {
    /// What a write keeps of the value when it replaces it.
    var keptFields: KeptFields {
        guard form.type.keepsUnknownFields else { return KeptFields() }
        let arePredecessors = form.report.migratedFrom != nil
        // With its fields, the value is still one that the newer version understands.
        let newer = version.flatMap { $0.number > access.type.schemaVersion && !arePredecessors ? $0 : nil }
        return KeptFields(fields: unknownFields, arePredecessors: arePredecessors, version: newer)
    }

    /// What the type that the bytes are of doesn't know in them, apart from what is to be dropped; nil when it knows everything.
    private var unknownFields: UnknownFields? {
        let data = form.bytes ?? data
        // Nothing is unknown in what the type itself encodes.
        if form.type.successors.isEmpty, (try? form.coder.encodeTopLevel(value))?.isSame(as: data) == true {
            return nil
        }
        let unknown = UnknownFields(in: data, unknownTo: form.type.type, coder: form.coder)
        // These are unusable, so the bytes are quarantined. A container of that name has fields of its own.
        for value in form.report.unusable where value.reason == LoadReport.UnusableValue.hasOldName {
            unknown?.remove(StoredTree.path(value.path), keepingParts: true)
        }
        for path in form.type.removedProperties {
            unknown?.remove(StoredTree.path(path))
        }
        return unknown?.isEmpty == false ? unknown : nil
    }

    /// Whether the next write removes a property from the bytes, which are of the type itself.
    var hasRemovedProperties: Bool {
        guard !access.type.removedProperties.isEmpty else { return false }
        let unknown = UnknownFields(in: data, unknownTo: access.type, coder: access.type.defaultCoder)
        return access.type.removedProperties.contains { unknown?.contains(StoredTree.path($0)) ?? false }
    }
}

extension SettingsAccess {
    /// Adds what is kept to the bytes of a new value.
    ///
    /// - Parameters:
    ///   - kept: What is kept. Of a predecessor's fields, those under old names of properties are removed from it.
    ///   - data: The bytes of a value of the type.
    /// - Returns: The reason why some of it has no place there, nil when all has one; and the bytes with the rest.
    func add(_ kept: KeptFields, to data: Data) -> (loss: DefaultsError?, data: Data) {
        guard let fields = kept.fields else { return (nil, data) }
        var lost: [StoredTree.Path] = []
        if kept.arePredecessors {
            let all = fields.paths
            // Under the old name of a property, the next read would take it for that.
            for path in type.renamedProperties.keys {
                fields.remove(StoredTree.path(path), keepingParts: true)
            }
            lost = all.filter { !fields.hasField(at: $0) }
        }
        var placement = fields.added(to: data)
        if kept.arePredecessors {
            // What this type knows, it has from the migration.
            let unknown = placement.data.flatMap {
                UnknownFields(in: $0, unknownTo: type, coder: type.defaultCoder)
            }
            let known = placement.placed.filter { unknown?.hasField(at: $0) != true }
            lost += placement.homeless + placement.replaced + known
            placement = unknown?.added(to: data) ?? .init()
        }
        lost += placement.homeless
        let report = LoadReport(
            unusable: lost.map {
                .init(
                    path: LoadReport.path($0),
                    reason: "is not a property of the type, and has no place in the new value"
                )
            }
        )
        return (lost.isEmpty ? nil : .filledIn(report, context), placement.data ?? data)
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

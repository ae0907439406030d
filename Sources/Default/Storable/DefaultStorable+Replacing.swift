#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
        try DefaultsError.wrapping(access.context(Self.self)) {
            try store.withExclusiveAccess {
                let stored = access.ownValue
                (loss, kept) = stored.map { Self.inspect($0, forKey: key, in: store) } ?? (nil, KeptFields())
                if kept.fields == nil {
                    (kept.fields, kept.arePredecessors) = (moved.fields, moved.arePredecessors)
                }
                kept.version = kept.version ?? moved.version
                let (lost, data) = Self.add(kept, to: data, forKey: key, in: store)
                // What was moved has been inspected where it was found.
                loss = loss ?? (stored == nil ? nil : lost)
                guard loss != nil || Self.schemaVersion > 0 else {
                    return try store.setStoredValue(.data(data), forKey: key)
                }
                try store.transaction {
                    if let stored, loss != nil {
                        let version = Self.recordedVersion(of: stored, forKey: key, in: store)
                        try access.quarantine(of: Self.self).add(stored, version: version)
                    }
                    if Self.schemaVersion > 0 {
                        let own = SchemaVersion(Self.schemaVersion, readableSince: Self.readableSince)
                        try SchemaRecord.store(kept.version ?? own, of: data, beside: key, of: Self.self, in: store)
                    }
                    try store.setStoredValue(.data(data), forKey: key)
                }
            }
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
            return (.typeMismatch(found: stored, ErrorContext(key, Self.self, in: store)), KeptFields())
        }
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if remembersDecodedValues, DecodedValueCache.shared.isComplete(data, of: Self.self, forKey: key),
            schemaVersion == 0 || (try? recordedVersion(of: data, forKey: key, in: store)?.number) == schemaVersion
        {
            return (nil, KeptFields())
        }
        do {
            let found = try read(data, forKey: key, in: store)
            return (found.loss, keptFields(of: found))
        } catch {
            return (error, KeptFields())
        }
    }

    /// What a write keeps of a value that it replaces.
    static func keptFields(of found: StoredSettings<Self>) -> KeptFields {
        guard found.form.type.keepsUnknownFields else { return KeptFields() }
        let arePredecessors = found.form.report.migratedFrom != nil
        // With its fields, the value is still one that the newer version understands.
        let newer = found.version.flatMap { $0.number > schemaVersion && !arePredecessors ? $0 : nil }
        return KeptFields(fields: unknownFields(of: found), arePredecessors: arePredecessors, version: newer)
    }

    /// What the type that some bytes are of doesn't know in them, apart from what is to be dropped; nil when it knows everything.
    private static func unknownFields(of found: StoredSettings<Self>) -> UnknownFields? {
        let (form, data) = (found.form, found.form.bytes ?? found.data)
        // Nothing is unknown in what the type itself encodes.
        if form.type.successors.isEmpty, (try? form.coder.encodeTopLevel(found.value))?.isSame(as: data) == true {
            return nil
        }
        var unknown = UnknownFields(in: data, unknownTo: form.type.type, coder: form.coder)
        // These are unusable, so the bytes are quarantined. A container of that name has fields of its own.
        for value in form.report.unusable where value.reason == LoadReport.UnusableValue.hasOldName {
            unknown?.remove(StoredTree.path(value.path), keepingParts: true)
        }
        for path in form.type.removedProperties {
            unknown?.remove(StoredTree.path(path))
        }
        return unknown?.fields.isEmpty == false ? unknown : nil
    }

    /// Whether the next write removes a property from some bytes, which are of this type.
    static func hasRemovedProperties(_ data: Data) -> Bool {
        guard !removedProperties.isEmpty else { return false }
        let unknown = UnknownFields(in: data, unknownTo: Self.self, coder: defaultCoder)
        return removedProperties.contains { unknown?.contains(StoredTree.path($0)) ?? false }
    }

    /// Adds what is kept to the bytes of a new value.
    ///
    /// - Parameters:
    ///   - kept: What is kept.
    ///   - data: The bytes of a value of this type.
    ///   - key: The key, for the error.
    ///   - store: The store, for the error.
    /// - Returns: The reason why some of it has no place there, nil when all has one; and the bytes with the rest.
    static func add(
        _ kept: KeptFields,
        to data: Data,
        forKey key: String,
        in store: any DefaultsStore
    ) -> (loss: DefaultsError?, data: Data) {
        guard var fields = kept.fields else { return (nil, data) }
        var lost: [StoredTree.Path] = []
        if kept.arePredecessors {
            let all = fields.paths
            // Under the old name of a property, the next read would take it for that.
            for path in renamedProperties.keys {
                fields.remove(StoredTree.path(path), keepingParts: true)
            }
            let remaining = Set(fields.paths)
            lost = all.filter { !remaining.contains($0) }
        }
        var placement = fields.added(to: data)
        if kept.arePredecessors {
            // What this type knows, it has from the migration.
            let unknown = placement.data.flatMap { UnknownFields(in: $0, unknownTo: Self.self, coder: defaultCoder) }
            let paths = Set(unknown?.paths ?? [])
            lost += placement.homeless + placement.replaced + placement.placed.filter { !paths.contains($0) }
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
        return (
            lost.isEmpty ? nil : .filledIn(report, ErrorContext(key, Self.self, in: store)),
            placement.data ?? data
        )
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

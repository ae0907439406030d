#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DefaultStorable {
    /// Loads the stored value, with a report of how it differs from the stored form.
    ///
    /// Like ``load(from:forKey:)``, but returns the report instead of sending it to ``DefaultsDiagnostics``.
    ///
    /// ```swift
    /// if let (settings, report) = try VisualSettings.loadWithReport() {
    ///     print("New in this version:", report.filledIn)
    ///     print("Not usable any more:", report.unusable)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to read; nil, the default, for all keys that ``load(from:forKey:)`` tries.
    /// - Returns: The value and the report, which is empty when all stored values could be used and none was
    ///   filled in; nil when nothing is stored.
    /// - Throws: The same errors as ``load(from:forKey:)``. The stored value is left unchanged.
    public static func loadWithReport(
        from store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> (value: Self, report: LoadReport)? {
        guard let stored = try StoredSettings.find(Self.self, in: store ?? ownStore, forKey: key),
            let value = stored.value as? Self
        else { return nil }
        return (value, stored.form.report)
    }

    /// Stores the value in the type's current form, if the stored form differs.
    ///
    /// This is the case when the value was migrated, filled in, renamed, has one of the ``removedProperties``, or was
    /// found under one of the ``previousIdentifiers``. The call is optional: reading returns the same value without it,
    /// and the next write has the same effect. The stored value is replaced once, at the end, with exclusive access. So
    /// calling it again, or in two processes at once, has no further effect.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to migrate; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: Whether anything was stored.
    /// - Throws: The same errors as ``load(from:forKey:)`` and ``save(to:withKey:)``. The stored value is unchanged
    ///   then.
    @discardableResult
    public static func migrate(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> Bool {
        let target = access(key, in: store ?? ownStore)
        return try target.values.withExclusiveAccess(type: Self.self) {
            guard let stored = try StoredSettings.find(Self.self, in: target.store, forKey: key),
                !stored.form.isCurrent || stored.access.key != target.key || stored.hasRemovedProperties
            else { return false }
            stored.reportFillingIn()
            try stored.value.save(to: target.store, withKey: key)
            return true
        }
    }

    /// The stored values that could not be used and were replaced.
    ///
    /// A write quarantines the value that it replaces if that can't be decoded, has parts that the type can't use, is
    /// not `Data`, or was stored by a newer version of the app. So does
    /// ``move(from:sourceKey:to:forKey:removingOriginal:)`` with what it could not use. Each distinct value is
    /// quarantined once. At most three of a key are kept: the newest, whatever its size; the oldest, if it has at most
    /// 4 MiB; and the one before the newest, if it and the oldest together have at most 4 MiB. A copy that is removed
    /// for that is reported as ``DefaultsDiagnostics/Event/Kind/quarantineFull``.
    ///
    /// They are stored under `"<key>.quarantine"`, as an array of dictionaries. If they can't be stored there, the
    /// write fails and replaces nothing.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The values, newest first.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/typeMismatch`` when something else is stored
    ///   under that key.
    public static func quarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> [QuarantinedValue] {
        try access(key, in: store ?? ownStore).quarantine.values()
    }

    /// Stores the newest quarantined value again that can be read now.
    ///
    /// A later release may read what an earlier one could not: because an error in it was mended, or because the user
    /// went back to an older version of the app for a while. It may be migrated or filled in. If no value can be used
    /// as a whole, the newest is stored of which a part can be used, and what can't be is reported, as by each read. It
    /// is stored as it was, and taken out of the quarantine. The value that it replaces is quarantined in its place, so
    /// nothing is lost, and calling it again exchanges the two.
    ///
    /// ```swift
    /// if let restored = try VisualSettings.restoreQuarantined() {
    ///     print("Restored what was replaced on", restored.date)
    /// }
    /// ```
    ///
    /// The exchange is one operation, also between processes on a ``FileDefaults``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key that it was stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The value that was stored again; nil when nothing is quarantined.
    /// - Throws: ``DefaultsError`` with the reason why the newest quarantined value can't be read, if none can; with
    ///   the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch`` when something else is stored
    ///   under the key of the quarantine, or one of the store's. Nothing is changed then.
    @discardableResult
    public static func restoreQuarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> QuarantinedValue? {
        let access = access(key, in: store ?? ownStore)
        let restored = try SettingsWriting.run(for: [access.key]) { () throws(DefaultsError) in
            try access.quarantine.restore(version: access.recordedVersion) { value, version throws(DefaultsError) in
                try access.use(value, ofVersion: version)
            }
        }
        if let loss = restored?.loss {
            DefaultsDiagnostics.report(.readFailed, loss)
        }
        return restored?.value
    }

    /// Removes the stored values that could not be used and were replaced.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch``
    ///   when something else is stored under the key of the quarantine, or one of the store's.
    public static func removeQuarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) {
        try access(key, in: store ?? ownStore).quarantine.removeAll()
    }
}

extension DefaultStorable {
    /// Imports a value once from another store, or from a value that another library stored.
    ///
    /// Call it at each launch, before the settings are used:
    ///
    /// ```swift
    /// try VisualSettings.move(from: UserDefaults.standard)
    /// if let group = UserDefaults(suiteName: "group.app") {
    ///     try VisualSettings.move(from: group, sourceKey: "visual")
    /// }
    /// ```
    ///
    /// It reads values of this library, in any version of the type; JSON or a property list in `Data`, whatever the
    /// type's own coder is; JSON in a string; and a native property-list dictionary. Missing properties are filled in.
    /// If source and target are the same key of one store, it converts a string or a dictionary in place. An original
    /// that is converted in place, or has parts that the type can't use, is quarantined in the target; see
    /// ``quarantined(in:forKey:)``. Properties that the type doesn't know are moved as well, or quarantined if the
    /// formats differ; see ``keepsUnknownFields``.
    ///
    /// The call does nothing when a value is already stored under the key, unless it is the one to convert, or when a
    /// value was moved there before, even if it has been removed since. A mark under `"<key>.moved"` records that a
    /// value was moved.
    ///
    /// When several threads or, for a ``FileDefaults``, processes call it at the same time, one of them moves the
    /// value.
    ///
    /// - Parameters:
    ///   - source: The store to read the value from. It is left unchanged, unless `removingOriginal` is true.
    ///   - sourceKey: The key in that store; nil, the default, for `key` or, if that is nil as well, for all keys that
    ///     ``load(from:forKey:)`` tries.
    ///   - target: The store to move to; nil, the default, for the type's ``defaults``.
    ///   - key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    ///   - removingOriginal: Whether to remove the value from the source after it has been stored in the target; false
    ///     by default. A value that was stored in the source in the meantime is left there.
    /// - Returns: Whether a value was moved.
    /// - Throws: The same errors as ``load(from:forKey:)`` and ``save(to:withKey:)``. The stored value is unchanged
    ///   then, and the original is still in the source. If only its removal fails, the value has been moved, and the
    ///   original is still there.
    @discardableResult
    public static func move(
        from source: any DefaultsStore,
        sourceKey: String? = nil,
        to target: (any DefaultsStore)? = nil,
        forKey key: String? = nil,
        removingOriginal: Bool = false
    ) throws(DefaultsError) -> Bool {
        let sourceKeys = (sourceKey ?? key).map { [$0] } ?? identifiers
        return try access(key, in: target ?? ownStore)
            .move(from: source, under: sourceKeys, removingOriginal: removingOriginal)
    }
}

extension SettingsAccess {
    /// A value that is imported.
    private struct Original {
        let access: SettingsAccess
        let value: PropertyListValue
        /// Why it is quarantined; nil if nothing is lost.
        var loss: DefaultsError?
    }

    fileprivate func move(
        from source: any DefaultsStore,
        under sourceKeys: [String],
        removingOriginal: Bool
    ) throws(DefaultsError) -> Bool {
        _ = try StoreKey(key)
        let isSameStore = source.storeDescription == store.storeDescription
        let original = try values.withExclusiveAccess(type: type) { () -> Original? in
            let stored = store.ownValue(forKey: key)
            if case .data? = stored { return nil }
            let isInPlace = stored != nil
            guard !isInPlace || isSameStore && sourceKeys.first == key,
                store.ownValue(forKey: CompanionKey.moved(of: key)) == nil,
                var original = try firstValue(under: sourceKeys, in: source)
            else { return nil }
            let origin = original.access
            let found = try origin.readForeign(original.value)
            let kept = found.keptFields
            let data = try origin.encode(found.value)
            let loss = found.loss ?? origin.add(kept, to: data).loss(origin.context)
            original.loss = isInPlace ? nil : loss
            try store.transaction {
                if original.loss != nil {
                    try quarantine.add(original.value)
                }
                // Beside mandatory properties too.
                try SettingsWriting.run(for: [key]) { try replace(with: data, keeping: kept) }
                try store.setStoredValue(.boolean(true), forKey: CompanionKey.moved(of: key))
            }
            return original
        }
        guard let original else { return false }
        if let loss = original.loss {
            quarantine.report(because: loss)
        }
        if removingOriginal, !(isSameStore && original.access.key == key) {
            try original.access.remove(original.value)
        }
        return true
    }

    /// Removes a value that was moved and its version, unless it was changed in the meantime.
    private func remove(_ original: PropertyListValue) throws(DefaultsError) {
        try values.withExclusiveAccess(type: type) {
            if store.ownValue(forKey: key) == original {
                try Self.remove([key], of: type, from: store)
            }
        }
    }

    /// Removes values and their versions.
    static func remove(
        _ keys: [String],
        of type: any DefaultStorable.Type,
        from store: any DefaultsStore
    ) throws(DefaultsError) {
        let versions = keys.map(CompanionKey.version).filter { store.ownValue(forKey: $0) != nil }
        let marks = keys.map(CompanionKey.partial).filter { PartialMark.isMark(store.ownValue(forKey: $0)) }
        let companions = versions + marks
        // Settings may be cleared beside mandatory properties.
        try SettingsWriting.run(for: keys) { () throws(DefaultsError) in
            try KeyAccess.remove(keys + companions, from: store, type: type)
        }
    }

    private func firstValue(
        under keys: [String],
        in store: any DefaultsStore
    ) throws -> Original? {
        for key in keys {
            let origin = SettingsAccess(type: type, key: key, store: store)
            if let value = store.ownValue(forKey: key) { return Original(access: origin, value: value) }
            try origin.values.checkAbsence(type: type)
        }
        return nil
    }

    /// Creates a value from one that this or another library stored, with the first coder that can decode it.
    private func readForeign(_ value: PropertyListValue) throws(DefaultsError) -> StoredSettings {
        // Nil is the type's own coder.
        let (data, coders): (Data, [DefaultsCoder?]) =
            switch value {
            case .data(let data): (data, [nil, .json, .propertyList])
            case .string(let text): (Data(text.utf8), [nil, .json])
            case .dictionary, .array: (value.propertyListData ?? Data(), [.propertyList])
            default: (Data(), [])
            }
        var first: DefaultsError?
        for coder in coders {
            do {
                let stored = try read(data, coder: coder)
                stored.reportFillingIn()
                return stored
            } catch {
                guard error.code == .undecodable else { throw error }
                first = first ?? error
            }
        }
        throw first ?? .typeMismatch(found: value, context)
    }
}

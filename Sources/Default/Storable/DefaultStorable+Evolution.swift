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
    /// - Returns: The value and the report, which is empty when the value has exactly the stored values; nil when nothing is
    ///   stored.
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
    /// This is the case when the value was migrated, filled in, renamed, has one of the ``removedProperties``, or was found under
    /// one of the ``previousIdentifiers``. The call is optional: reading returns the same value without it, and the next write has
    /// the same effect. The stored value is replaced once, at the end, with exclusive access. So calling it again, or in two
    /// processes at once, has no further effect.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to migrate; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: Whether anything was stored.
    /// - Throws: The same errors as ``load(from:forKey:)`` and ``save(to:withKey:)``. The stored value is unchanged then.
    @discardableResult
    public static func migrate(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> Bool {
        let target = access(key, in: store ?? ownStore)
        return try DefaultsError.wrapping(target.context) {
            try target.store.withExclusiveAccess {
                guard let stored = try StoredSettings.find(Self.self, in: target.store, forKey: key),
                    !stored.form.isCurrent || stored.access.key != target.key || stored.hasRemovedProperties
                else { return false }
                stored.reportFillingIn()
                try stored.value.save(to: target.store, withKey: key)
                return true
            }
        }
    }

    /// The stored values that could not be used and were replaced.
    ///
    /// A write quarantines the value that it replaces if that can't be decoded, has parts that the type can't use, is not
    /// `Data`, or was stored by a newer version of the app. So does ``move(from:sourceKey:to:forKey:removingOriginal:)`` with
    /// what it could not use. Each distinct value is quarantined once; the oldest and the newest two of a key are kept. They
    /// are stored under `"<key>.quarantine"`, as an array of dictionaries. If they can't be stored there, the write fails and
    /// replaces nothing.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The values, newest first.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/typeMismatch`` when something else is stored under
    ///   that key.
    public static func quarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> [QuarantinedValue] {
        try access(key, in: store ?? ownStore).quarantine.values()
    }

    /// Stores the newest quarantined value again that can be read now.
    ///
    /// A later release may read what an earlier one could not: because an error in it was mended, or because the user went back to an
    /// older version of the app for a while. A value counts if all of it can be used; it may be migrated or filled in. It is
    /// stored as it was, and taken out of the quarantine. The value that it replaces is quarantined in its place, so nothing is
    /// lost, and calling it again exchanges the two.
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
    /// - Returns: The value that was stored again; nil when none of the quarantined values can be read, or there is none.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch`` when
    ///   something else is stored under the key of the quarantine, or one of the store's. Nothing is changed then.
    @discardableResult
    public static func restoreQuarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> QuarantinedValue? {
        let access = access(key, in: store ?? ownStore)
        return try access.quarantine.restore {
            let replaced = access.values.ownValue
            return (replaced, replaced.flatMap(access.recordedVersion))
        } where: { value, version in
            guard case .data(let data) = value else { return false }
            let form = try? access.read(data, ofVersion: version ?? access.recordedVersion(of: value)).form
            return form?.report.unusable.isEmpty ?? false
        }
    }

    /// Removes the stored values that could not be used and were replaced.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch`` when
    ///   something else is stored under the key of the quarantine, or one of the store's.
    public static func removeQuarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) {
        try access(key, in: store ?? ownStore).quarantine.removeAll()
    }
}

internal import Foundation

extension DefaultStorable {
    /// The stored value, with a report on what is not as stored in it.
    ///
    /// Does what ``load(from:forKey:)`` does, but returns what was filled in instead of reporting it to
    /// ``DefaultsDiagnostics``.
    ///
    /// ```swift
    /// if let (settings, report) = try VisualSettings.loadWithReport(), !report.isEmpty {
    ///     print("New in this version:", report.filledIn, "Not usable any more:", report.unusable)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to read; nil, the default, for all keys that ``load(from:forKey:)`` looks at.
    /// - Returns: The value and the report, which is empty when the value is just what is stored; nil when nothing is.
    /// - Throws: ``DefaultsError`` as ``load(from:forKey:)`` does; what is stored is left as it is.
    public static func loadWithReport(
        from store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> (value: Self, report: LoadReport)? {
        guard let stored = try findStored(in: store ?? ownStore, forKey: key) else {
            return nil
        }
        return (stored.value, stored.reading.report ?? LoadReport())
    }

    /// Stores the value in the type's current form, if what is stored has another one.
    ///
    /// That is so when it was migrated, filled in, renamed, or found under one of the ``previousIdentifiers``. Nothing needs
    /// this call: reading gives the same value without it, and the next write has the same effect. What is stored is
    /// replaced once, at the end, under exclusive access; so calling it again, or in two processes at once, changes nothing
    /// more.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to migrate; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: Whether anything was stored.
    /// - Throws: ``DefaultsError`` as ``load(from:forKey:)`` and ``save(to:withKey:)`` do; what was stored is as it was then.
    @discardableResult
    public static func migrate(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> Bool {
        let store = store ?? ownStore
        do {
            return try store.withExclusiveAccess {
                guard let stored = try findStored(in: store, forKey: key) else {
                    return false
                }
                if stored.reading.isCurrent, stored.key == key ?? defaultIdentifier {
                    return false
                }
                stored.reportFillingIn()
                try stored.value.save(to: store, withKey: key)
                return true
            }
        } catch {
            throw .wrapping(error, key: key ?? defaultIdentifier, type: Self.self, store: store.storeDescription)
        }
    }

    /// The stored values that could not be used and were replaced.
    ///
    /// The write that replaces a value quarantines it when it can't be decoded, has parts that are of no use to the type, is
    /// not `Data`, or was stored by a newer version of the app: each distinct content once, the newest three of a key. They
    /// are stored under `"<key>.quarantine"`, as an array of dictionaries. When they can't be stored there, the write fails
    /// and replaces nothing.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The values, the newest first.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/typeMismatch`` when something else is stored in their
    ///   place.
    public static func quarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> [QuarantinedValue] {
        try KeyAccess(key ?? defaultIdentifier, in: store ?? ownStore).quarantine(of: Self.self).values()
    }

    /// Removes the stored values that could not be used and were replaced.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch`` when
    ///   something else is stored in their place, or one of the store's.
    public static func removeQuarantined(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) {
        try KeyAccess(key ?? defaultIdentifier, in: store ?? ownStore).quarantine(of: Self.self).removeAll()
    }
}

internal import Foundation

extension DefaultStorable {
    /// The stored value, with a report on what is not as stored in it.
    ///
    /// Does what ``load(forKey:)`` does, but tells its caller instead of ``DefaultsDiagnostics`` what was completed.
    ///
    /// ```swift
    /// if let (settings, report) = try VisualSettings.loadWithReport(), !report.isEmpty {
    ///     print("New in this version:", report.completed, "Not usable any more:", report.unusable)
    /// }
    /// ```
    ///
    /// - Parameter key: The key to read; nil, the default, for all keys that ``load(forKey:)`` looks at.
    /// - Returns: The value and the report, which is empty when the value is just what is stored; nil when nothing is.
    /// - Throws: ``DefaultsError`` as ``load(forKey:)`` does; what is stored is left as it is.
    public static func loadWithReport(
        forKey key: String? = nil
    ) throws(DefaultsError) -> (value: Self, report: LoadReport)? {
        guard let stored = try findStored(forKey: key) else {
            return nil
        }
        return (stored.value, stored.reading.report ?? LoadReport())
    }

    /// Stores the value in the type's current form, if what is stored has another one.
    ///
    /// That is so when it was migrated, completed, renamed, or found under one of the ``previousIdentifiers``. Nothing needs
    /// this call: reading gives the same value without it, and the next write has the same effect. What is stored is
    /// replaced once, at the end, under exclusive access; so calling it again, or in two processes at once, changes nothing
    /// more.
    ///
    /// - Parameter key: The key to migrate; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: Whether anything was stored.
    /// - Throws: ``DefaultsError`` as ``load(forKey:)`` and ``save(withKey:)`` do; what was stored is as it was then.
    @discardableResult
    public static func migrate(forKey key: String? = nil) throws(DefaultsError) -> Bool {
        let store = store
        do {
            return try store.withExclusiveAccess {
                guard let stored = try findStored(forKey: key) else {
                    return false
                }
                if stored.reading.isCurrent, stored.key == key ?? defaultIdentifier {
                    return false
                }
                stored.reportCompletion()
                try stored.value.save(withKey: key)
                return true
            }
        } catch {
            throw .wrapping(error, key: key ?? defaultIdentifier, type: Self.self, store: store.storeDescription)
        }
    }

    /// The stored values that could not be used and were replaced.
    ///
    /// What can't be decoded, holds something that is of no use to the type, is no `Data`, or was stored by a newer version
    /// of the app is kept here by the write that replaces it: each distinct content once, the newest three of a key. They
    /// stand in the store under `"<key>.quarantine"`, as an array of dictionaries. When they can't be stored there, the
    /// write fails and replaces nothing.
    ///
    /// - Parameter key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The values, the newest first.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/typeMismatch`` when something else stands in their
    ///   place.
    public static func quarantined(forKey key: String? = nil) throws(DefaultsError) -> [QuarantinedValue] {
        try store.quarantinedValues(forKey: key ?? defaultIdentifier, type: Self.self)
    }

    /// Removes the stored values that could not be used and were replaced.
    ///
    /// - Parameter key: The key that they were stored under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch`` when
    ///   something else stands in their place, or one of the store's.
    public static func removeQuarantined(forKey key: String? = nil) throws(DefaultsError) {
        try store.removeQuarantinedValues(forKey: key ?? defaultIdentifier, type: Self.self)
    }
}

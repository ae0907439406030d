internal import Foundation
internal import Synchronization

/// A settings value as it was found in a store.
struct StoredSettings<Settings: DefaultStorable> {
    let reading: Reading<Settings>
    let data: Data
    /// The key that the value stands under.
    let key: String
    let store: any DefaultsStore

    var value: Settings { reading.value }

    /// Tells ``DefaultsDiagnostics`` of a value that was completed, once for each content.
    func reportCompletion() {
        guard let report = reading.report, !report.isEmpty else {
            return
        }
        let error = DefaultsError.completed(report, key: key, type: Settings.self, store: store.storeDescription)
        DefaultsDiagnostics.report(report, error: error, content: ContentDigest(data).bits)
    }

    /// Spares the next write looking at the bytes again.
    func noteAsKnown() {
        if reading.isCurrent {
            KnownType.of(Settings.self).contents.note(data, forKey: key)
        }
    }
}

/// That a value can't be had by decoding the stored bytes and nothing else.
struct NoPlainValue: Error {}

extension DefaultStorable {
    /// Where version 3 of the older library of this name kept a value: it described the metatype, not the type.
    private static var legacyIdentifier: String { "\(KnownType.of(Self.self).plainName).Type" }

    /// The keys that a value may stand under when a call names none, the current one first.
    static var identifiers: [String] { [defaultIdentifier] + previousIdentifiers + [legacyIdentifier] }

    /// The stored value, if it can be had by decoding the stored bytes and nothing else: what most reads are.
    ///
    /// - Parameter key: The key to read; nil for the type's identifier.
    /// - Returns: The value.
    /// - Throws: When ``findStored(forKey:)`` has to look for it.
    static func plainValue(forKey key: String?) throws(NoPlainValue) -> Self {
        guard schemaVersion == 0, renamedProperties.isEmpty else {
            throw NoPlainValue()
        }
        let store = store
        let known = KnownType.reference(to: Self.self)
        if key == nil, !known._withUnsafeGuaranteedRef({ $0.isRegistered.load(ordering: .relaxed) }) {
            IdentifierRegistry.note(Self.self, in: store)
        }
        let key = key ?? defaultIdentifier
        guard let data = store.data(forKey: key) else {
            known._withUnsafeGuaranteedRef { $0.contents.forget(key) }
            throw NoPlainValue()
        }
        do {
            return try known._withUnsafeGuaranteedRef { known in
                try known.contents.value(of: data, forKey: key) {
                    try defaultCoder.decodeTopLevel(Self.self, from: data)
                }
            }
        } catch {
            throw NoPlainValue()
        }
    }

    /// Finds the stored value.
    ///
    /// - Parameter key: The key to read; nil for all the keys that the type may have been stored under.
    /// - Returns: The value, nil when there is none.
    /// - Throws: As `load(forKey:)` does.
    static func findStored(forKey key: String?) throws(DefaultsError) -> StoredSettings<Self>? {
        let store = store
        if let key {
            return try read(key, in: store)
        }
        IdentifierRegistry.note(Self.self, in: store)
        if let stored = try read(defaultIdentifier, in: store) {
            return stored
        }
        for identifier in identifiers.dropFirst() {
            if let stored = try read(identifier, in: store) {
                return stored
            }
        }
        return nil
    }

    /// The stored value, nil when there is none, for reads that ``plainValue(forKey:)`` was not enough for.
    static func foundValue(forKey key: String?) throws(DefaultsError) -> Self? {
        guard let stored = try findStored(forKey: key) else {
            return nil
        }
        stored.reportCompletion()
        return stored.value
    }

    /// The stored value or ``defaultValue``, for forgiving reads that ``plainValue(forKey:)`` was not enough for.
    @inline(never)
    static func readFurther(forKey key: String?) -> Self? {
        do {
            if let value = try foundValue(forKey: key) {
                return value
            }
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
        }
        return defaultValue
    }

    /// The stored value, nil when there is none, for an update that will replace it.
    static func loadForUpdate(forKey key: String?) throws(DefaultsError) -> Self? {
        do throws(NoPlainValue) {
            return try plainValue(forKey: key)
        } catch {}
        guard let stored = try findStored(forKey: key) else {
            return nil
        }
        stored.reportCompletion()
        stored.noteAsKnown()
        return stored.value
    }

    private static func read(_ key: String, in store: some DefaultsStore) throws(DefaultsError) -> StoredSettings<Self>?
    {
        _ = try StoreKey(key)
        guard let data = try store.storedBytes(forKey: key, type: Self.self) else {
            return nil
        }
        let reading = Result { () throws(DefaultsError) in try read(data, forKey: key, in: store) }
        if schemaVersion > 0, store.data(forKey: key) != data {
            // Written meanwhile: the version that was found may be that of other bytes.
            do {
                return try store.withExclusiveAccess {
                    try store.storedBytes(forKey: key, type: Self.self).map { data in
                        let reading = try read(data, forKey: key, in: store)
                        return StoredSettings(reading: reading, data: data, key: key, store: store)
                    }
                }
            } catch {
                throw .wrapping(error, key: key, type: Self.self, store: store.storeDescription)
            }
        }
        return StoredSettings(reading: try reading.get(), data: data, key: key, store: store)
    }
}

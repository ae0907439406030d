internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A settings value that was found in a store.
struct StoredSettings<Settings: DefaultStorable> {
    let value: Settings
    let form: StoredForm
    let data: Data
    /// Their recorded version; nil when there is none.
    let version: SchemaVersion?
    /// The key that the value is stored under.
    let key: String
    let store: any DefaultsStore

    private var context: ErrorContext { ErrorContext(key, Settings.self, in: store) }

    /// The reason why replacing the stored value would lose data; nil when all of it can be used.
    var loss: DefaultsError? {
        guard !form.report.unusable.isEmpty else { return nil }
        return .filledIn(form.report, context)
    }

    /// Reports filled-in values to ``DefaultsDiagnostics``, once for each reason.
    func reportFillingIn() {
        DefaultsDiagnostics.report(form.report, context)
    }
}

/// Thrown when a value can't be read by only decoding the stored bytes.
struct FastPathUnavailable: Error {}

extension DefaultStorable {
    /// The keys that a value may be stored under when a call specifies none, the current one first.
    ///
    /// The last is the key that version 3 of the older library of this name used. It described the metatype instead of the
    /// type.
    static var identifiers: [String] {
        [defaultIdentifier] + previousIdentifiers + ["\(TypeInfo.of(Self.self).pointee.plainName).Type"]
    }

    /// Whether decoded values can be cached and shared.
    static var remembersDecodedValues: Bool { defaultCoder.isBuiltIn }

    /// The stored value, if it can be read by only decoding the stored bytes, as most values can.
    ///
    /// - Throws: ``FastPathUnavailable`` when ``findStored(in:forKey:)`` has to find it. An optional result would double the
    ///   cost of a read, because the runtime has to look up the metadata of the optional in unspecialized generic code.
    static func fastPathValue(
        in store: any DefaultsStore,
        forKey key: String?
    ) throws(FastPathUnavailable) -> Self {
        guard remembersDecodedValues else { throw FastPathUnavailable() }
        let identifier = key ?? defaultIdentifier
        guard case .data(let data) = store.storedValue(forKey: identifier) else {
            DecodedValueCache.shared.remove(identifier, of: Self.self)
            throw FastPathUnavailable()
        }
        do {
            guard schemaVersion == 0 else {
                return try DecodedValueCache.shared.value(of: data, forKey: identifier) { record in
                    store.storedValue(forKey: record.key) == record.value
                }
            }
            return try DecodedValueCache.shared.value(
                of: data,
                forKey: identifier,
                isLasting: { _ in true }
            ) {
                if key == nil {
                    IdentifierRegistry.note(Self.self, in: store)
                }
                guard Renaming(renamedProperties, in: data) == nil else { throw FastPathUnavailable() }
                return try defaultCoder.decodeTopLevel(Self.self, from: data)
            }
        } catch {
            throw FastPathUnavailable()
        }
    }

    /// The stored value or nil, for reads for which ``fastPathValue(in:forKey:)`` throws.
    static func loadSlowPath(from store: any DefaultsStore, forKey key: String?) throws(DefaultsError) -> Self? {
        guard let stored = try findStored(in: store, forKey: key) else { return nil }
        stored.reportFillingIn()
        // From the next read on, it is found like a value that is decoded as it is.
        if stored.key == key ?? defaultIdentifier {
            share(stored)
        }
        return stored.value
    }

    /// The stored value or ``defaultValue``, for non-throwing reads for which ``fastPathValue(in:forKey:)`` throws.
    static func readSlowPath(from store: any DefaultsStore, forKey key: String?) -> Self? {
        usableSlowPath(from: store, forKey: key) ?? defaultValue
    }

    /// The stored value or a given one; errors are reported.
    static func read(from store: any DefaultsStore, forKey key: String?, default initial: Self) -> Self {
        do throws(FastPathUnavailable) {
            return try fastPathValue(in: store, forKey: key)
        } catch {
            return usableSlowPath(from: store, forKey: key) ?? initial
        }
    }

    /// The stored value; nil when there is none or it can't be read, which is reported.
    private static func usableSlowPath(from store: any DefaultsStore, forKey key: String?) -> Self? {
        do {
            return try loadSlowPath(from: store, forKey: key)
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
            return nil
        }
    }

    /// Finds the stored value.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - key: The key to read; nil for all the keys that the type may have been stored under.
    /// - Returns: The value; nil when there is none.
    /// - Throws: The same errors as `load(from:forKey:)`.
    static func findStored(
        in store: any DefaultsStore,
        forKey key: String?
    ) throws(DefaultsError) -> StoredSettings<Self>? {
        if key == nil {
            IdentifierRegistry.note(Self.self, in: store)
        }
        // A value that can't be read does not hide one that an older version of the app stored under an older name.
        var unreadable: DefaultsError?
        for key in key.map({ [$0] }) ?? identifiers {
            do {
                guard let stored = try readStored(key, in: store) else { continue }
                // So the write at the end of an update need not decode these bytes.
                if stored.form.isCurrent, remembersDecodedValues {
                    DecodedValueCache.shared.insert(stored.data, of: Self.self, forKey: key)
                }
                if let unreadable {
                    DefaultsDiagnostics.report(.readFailed, unreadable)
                }
                return stored
            } catch {
                guard error.code == .undecodable || error.code == .typeMismatch else { throw error }
                unreadable = unreadable ?? error
            }
        }
        if let unreadable {
            throw unreadable
        }
        return nil
    }

    private static func readStored(
        _ key: String,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> StoredSettings<Self>? {
        guard let data = try KeyAccess(key, in: store).storedBytes(type: Self.self) else { return nil }
        let stored = Result { () throws(DefaultsError) in try read(data, forKey: key, in: store) }
        guard schemaVersion > 0, store.storedValue(forKey: key) != .data(data) else {
            return try stored.get()
        }
        // The value was written in the meantime, so the recorded version may belong to other bytes.
        return try DefaultsError.wrapping(ErrorContext(key, Self.self, in: store)) {
            try store.withExclusiveAccess {
                try KeyAccess(key, in: store).storedBytes(type: Self.self).map { data in
                    try read(data, forKey: key, in: store)
                }
            }
        }
    }
}

internal import DefaultJournal
internal import Foundation

/// A settings value that was found in a store.
struct StoredSettings<Settings: DefaultStorable> {
    let reading: Reading<Settings>
    let data: Data
    /// The key that the value is stored under.
    let key: String
    let store: any DefaultsStore

    var value: Settings { reading.value }

    /// The reason why replacing the stored value would lose data; nil when all of it can be used.
    var loss: DefaultsError? { reading.loss == 0 ? nil : difference }

    /// Reports filled-in values to ``DefaultsDiagnostics``, once for each reason.
    func reportFillingIn() {
        guard let report = reading.report, let difference else {
            return
        }
        DefaultsDiagnostics.report(report, error: difference)
    }

    /// How the value differs from the stored one; nil when it doesn't.
    private var difference: DefaultsError? {
        guard let report = reading.report, !report.isEmpty else {
            return nil
        }
        return .filledIn(report, key: key, type: Settings.self, store: store.storeDescription)
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
        guard remembersDecodedValues else {
            throw FastPathUnavailable()
        }
        let identifier = key ?? defaultIdentifier
        guard case .data(let data) = store.storedValue(forKey: identifier) else {
            DecodedValueCache.shared.remove(identifier, of: Self.self)
            throw FastPathUnavailable()
        }
        do {
            guard schemaVersion == 0 else {
                return try DecodedValueCache.shared.value(of: data, forKey: identifier) { record in
                    guard case .string(let text)? = store.storedValue(forKey: record.key) else {
                        return false
                    }
                    return text == record.text
                }
            }
            return try DecodedValueCache.shared.value(
                of: data,
                forKey: identifier,
                isLasting: { $0 is DecodingError || $0 is FastPathUnavailable }
            ) {
                if key == nil {
                    IdentifierRegistry.note(Self.self, in: store)
                }
                guard Renaming(renamedProperties, in: data) == nil else {
                    throw FastPathUnavailable()
                }
                return try defaultCoder.decodeTopLevel(Self.self, from: data)
            }
        } catch {
            throw FastPathUnavailable()
        }
    }

    /// The stored value or nil, for reads for which ``fastPathValue(in:forKey:)`` throws.
    static func loadSlowPath(from store: any DefaultsStore, forKey key: String?) throws(DefaultsError) -> Self? {
        guard let stored = try findStored(in: store, forKey: key) else {
            return nil
        }
        stored.reportFillingIn()
        // From the next read on, it is found like a value that is decoded as it is.
        if stored.key == key ?? defaultIdentifier {
            share(stored)
        }
        return stored.value
    }

    /// Lets the next reads find a value without looking for it, if they may share it.
    private static func share(_ stored: StoredSettings<Self>) {
        let (key, data, cache) = (stored.key, stored.data, DecodedValueCache.shared)
        guard schemaVersion > 0 else {
            if let reading = cache.sharedValue(Reading<Self>.self, of: data, forKey: key) {
                cache.share(reading.value, of: data, forKey: key)
            }
            return
        }
        // The record may have changed since, but the value depends only on the bytes and the version that it gives them.
        let recordKey = CompanionKey.version(of: key)
        guard case .string(let text)? = stored.store.storedValue(forKey: recordKey),
            let version = SchemaRecord(text: text)?.version(of: data),
            let reading = cache.sharedValue(Reading<Self>.self, of: data, forKey: rememberedKey(key, version))
        else {
            return
        }
        cache.share(reading.value, of: data, forKey: key, while: .init(key: recordKey, text: text))
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
                guard let stored = try readStored(key, in: store) else {
                    continue
                }
                // So the write at the end of an update need not decode these bytes.
                if stored.reading.isCurrent, remembersDecodedValues {
                    DecodedValueCache.shared.insert(stored.data, of: Self.self, forKey: key)
                }
                if let unreadable {
                    DefaultsDiagnostics.report(.readFailed, unreadable)
                }
                return stored
            } catch {
                guard error.code == .undecodable || error.code == .typeMismatch else {
                    throw error
                }
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
        guard let data = try KeyAccess(key, in: store).storedBytes(type: Self.self) else {
            return nil
        }
        let reading = Result { () throws(DefaultsError) in try read(data, forKey: key, in: store) }
        guard schemaVersion > 0, store.storedValue(forKey: key) != .data(data) else {
            return StoredSettings(reading: try reading.get(), data: data, key: key, store: store)
        }
        // The value was written in the meantime, so the recorded version may belong to other bytes.
        do {
            return try store.withExclusiveAccess {
                try KeyAccess(key, in: store).storedBytes(type: Self.self).map { data in
                    let reading = try read(data, forKey: key, in: store)
                    return StoredSettings(reading: reading, data: data, key: key, store: store)
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: Self.self, store: store.storeDescription)
        }
    }
}

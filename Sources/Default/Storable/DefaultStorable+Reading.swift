#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How some bytes of a settings type are read, or why they can't be; remembered, so that this is worked out once.
private struct Remembered {
    let form: Result<StoredForm, any Error>
    /// Whether the value was loaded.
    var isLoaded = false
    /// Whether reads may share the value; nil before that had to be known.
    var isShareable: Bool?
}

extension DefaultStorable {
    /// Decodes stored bytes of any version of the type.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key they are stored under.
    ///   - store: The store they are stored in.
    ///   - coder: The coder; nil for the type's own, and for each predecessor its own.
    /// - Returns: The value, with a report.
    /// - Throws: `undecodable`, `newerVersion`, `migrationFailed`.
    static func read(
        _ data: Data,
        forKey key: String,
        in store: any DefaultsStore,
        coder: DefaultsCoder? = nil
    ) throws(DefaultsError) -> StoredSettings<Self> {
        let version = try recordedVersion(of: data, forKey: key, in: store)
        do {
            let (value, form) = try read(data, ofVersion: version, forKey: key, in: store, coder: coder)
            return StoredSettings(value: value, form: form, data: data, version: version, key: key, store: store)
        } catch {
            let context = ErrorContext(key, Self.self, in: store)
            let failure: DefaultsError =
                switch error {
                case let newer as NewerVersion:
                    .newerVersion(newer.version, own: schemaVersion, context)
                case let error as MigrationFailure:
                    .migrationFailed(error.underlyingError, from: error.typeName, context)
                default:
                    .undecodable(error, byteCount: data.count, context)
                }
            throw failure.about(.data(data))
        }
    }

    /// Decodes bytes of a known version, or bytes without a recorded version; as they were decoded before, if they were.
    static func read(
        _ data: Data,
        ofVersion version: SchemaVersion?,
        forKey key: String,
        in store: any DefaultsStore,
        coder: DefaultsCoder? = nil
    ) throws -> (value: Self, form: StoredForm) {
        let cache = DecodedValueCache.shared
        let rememberedKey = rememberedKey(key, version)
        if coder == nil, let known: Remembered = cache.sharedValue(of: data, as: Self.self, forKey: rememberedKey) {
            let form = try known.form.get()
            // What an initializer rejected for a reason of its own it may accept now.
            if form.cause != .bytes, let exact = try? form.type.read(data, coder: nil, fillingIn: false) {
                exact.form.requireForCurrent(version?.number ?? 0 >= schemaVersion)
                return (try typed(exact.value), exact.form)
            }
            return (try typed(form.value(of: data)), form)
        }
        let bytes = StoredBytes(data: data, version: version, types: StoredType.chain(of: Self.self), coder: coder)
        let remembers = coder == nil && bytes.types.allSatisfy(\.coder.isBuiltIn)
        do {
            let (found, form) = try bytes.read()
            let value: Self = try typed(found)
            // What is decoded as it is needs no more than ``fastPathValue(in:forKey:)``, without a version.
            if remembers, form.cause != .mixed, schemaVersion > 0 || !form.isCurrent {
                cache.share(Remembered(form: .success(form)), of: data, as: Self.self, forKey: rememberedKey)
            }
            return (value, form)
        } catch {
            if remembers, error is DecodingError {
                cache.share(Remembered(form: .failure(error)), of: data, as: Self.self, forKey: rememberedKey)
            }
            throw error
        }
    }

    private static func rememberedKey(_ key: String, _ version: SchemaVersion?) -> String {
        // No key contains NUL, so this is not one under which a value is cached.
        "\(key)\0\(version?.text ?? "")"
    }

    /// Lets the next reads share a value that was loaded a second time, if no caller can tell.
    static func share(_ stored: StoredSettings<Self>) {
        guard stored.form.cause == .bytes else { return }
        let (data, key, cache) = (stored.data, stored.key, DecodedValueCache.shared)
        // The record may have changed since, but the value depends only on the bytes and the version that it gives them.
        let recordKey = CompanionKey.version(of: key)
        let record = stored.store.storedValue(forKey: recordKey)
        let version: SchemaVersion? =
            if case .string(let text)? = record { SchemaRecord(text: text)?.version(of: data) } else { nil }
        let rememberedKey = rememberedKey(key, version)
        guard version == stored.version,
            var known: Remembered = cache.sharedValue(of: data, as: Self.self, forKey: rememberedKey)
        else { return }
        // Other bytes may have taken the place of the shared value since.
        if known.isShareable == nil {
            if known.isLoaded {
                let again = (try? stored.form.value(of: data)) as? Self
                known.isShareable = again.map { ValueSemantics.areInterchangeable(stored.value, $0) } ?? false
            }
            known.isLoaded = true
            cache.share(known, of: data, as: Self.self, forKey: rememberedKey)
        }
        guard known.isShareable == true else { return }
        if schemaVersion == 0 {
            cache.share(stored.value, of: data, forKey: key)
        } else {
            cache.share(stored.value, of: data, forKey: key, while: .init(key: recordKey, value: record))
        }
    }

    /// The recorded version of some bytes; nil when there is none.
    static func recordedVersion(
        of data: Data,
        forKey key: String,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> SchemaVersion? {
        do {
            return try SchemaRecord.stored(beside: key, of: Self.self, in: store)?.version(of: data)
        } catch  where schemaVersion == 0 {
            // A type without a version ignores any value stored under the record's key.
            return nil
        }
    }

    /// The recorded version of a stored value that is quarantined; nil when there is none, or it can't be known.
    static func recordedVersion(
        of value: PropertyListValue,
        forKey key: String,
        in store: any DefaultsStore
    ) -> SchemaVersion? {
        guard case .data(let data) = value else { return nil }
        return (try? recordedVersion(of: data, forKey: key, in: store)) ?? nil
    }
}

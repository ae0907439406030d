internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
    /// - Throws: ``FastPathUnavailable`` when ``StoredSettings/find(_:in:forKey:)`` has to find it. An optional result would double the
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
        try StoredSettings.load(Self.self, from: store, forKey: key) as? Self
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
}

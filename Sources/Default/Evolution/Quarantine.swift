#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps the values of a key that could not be used and were replaced, as an array of dictionaries under a companion
/// key, newest first.
///
/// The oldest value is kept as well as the newest ones. It is often the user's own, from before a fault that replaces
/// one unusable value with another.
///
/// It uses only the names of types, so that settings types and typed keys can share it.
struct Quarantine {
    /// The key that the values were stored under.
    let key: String
    /// The type that they could not be used as.
    let type: Any.Type
    let store: any DefaultsStore

    /// The maximum total size, in bytes, of the values other than the newest, of which the oldest is considered first.
    static let byteLimit = 4 << 20

    private var context: ErrorContext { ErrorContext(key, type, in: store) }
    private var quarantineKey: String { CompanionKey.quarantine(of: key) }

    /// Adds a value that is about to be replaced, unless it is quarantined already; the oldest and the newest two are
    /// kept.
    ///
    /// Call it before the value is replaced, in the same transaction. When this throws, the value must not be replaced.
    ///
    /// - Parameters:
    ///   - value: The stored value.
    ///   - version: Its recorded version; nil for none.
    /// - Throws: ``DefaultsError/Code/quarantineFailed``.
    func add(_ value: PropertyListValue, version: SchemaVersion? = nil) throws(DefaultsError) {
        do {
            let present = try values()
            guard !contains(value, in: present) else { return }
            var kept = [new(value, version)]
            var byteCount = 0
            // The oldest first: where the two don't fit into the limit, it is the one to keep.
            for index in [present.count - 1, 0].prefix(present.count) {
                byteCount += present[index].value.binaryForm.count
                if byteCount <= Self.byteLimit {
                    kept.insert(present[index], at: 1)
                }
            }
            try replace(with: kept)
            let dropped = present.count + 1 - kept.count
            if dropped > 0 {
                let error = DefaultsError.quarantineFull(dropped: dropped, under: quarantineKey, context)
                DefaultsDiagnostics.report(.init(kind: .quarantineFull, error: error))
            }
        } catch {
            throw .quarantineFailed(error, context)
        }
    }

    /// A value that was stored again.
    struct Restored {
        let value: QuarantinedValue
        /// Why only a part of it can be used; nil if all of it can.
        let loss: DefaultsError?
    }

    /// Stores the newest value again that can be used, with its version, and quarantines the value that it replaces.
    ///
    /// - Parameters:
    ///   - replacedVersion: The version of the value that is replaced; called with exclusive access.
    ///   - use: Why a value with a version can only be used in part; nil if all of it can be used. It throws the reason
    ///     why it can't be used at all.
    /// - Returns: The value, and why only a part of it can be used; of those, the newest if none can be used as a
    ///   whole. nil when there is none.
    /// - Throws: The reason why the newest value can't be used, if none can; `invalidKey`, `typeMismatch` when
    ///   something else is stored under a companion key, or errors of the store.
    func restore(
        version replacedVersion: (PropertyListValue) -> SchemaVersion? = { _ in nil },
        by use: (PropertyListValue, SchemaVersion?) throws(DefaultsError) -> DefaultsError?
    ) throws(DefaultsError) -> Restored? {
        _ = try StoreKey(key)
        return try DefaultsError.wrapping(context) {
            try store.updateStoredValue(forKey: key) { stored in
                var values = try values()
                guard let usable = try usable(of: values, by: use) else { return nil }
                let restored = values.remove(at: usable.index)
                if let replaced = stored, !contains(replaced, in: values + [restored]) {
                    values.insert(new(replaced, replacedVersion(replaced)), at: 0)
                }
                try store.transaction {
                    try replace(with: values)
                    if let version = restored.schemaVersion, let data = restored.data {
                        try SchemaRecord.store(version, of: data, beside: key, of: type, in: store)
                    }
                    try store.setStoredValue(restored.value, forKey: key)
                }
                stored = restored.value
                return Restored(value: restored, loss: usable.loss)
            }
        }
    }

    /// One of some values, and why only a part of it can be used; nil if all of it can.
    private struct UsableValue {
        let index: Int
        let loss: DefaultsError?
    }

    /// The newest value that can be used as a whole, otherwise the newest that can be used in part; nil when there is
    /// none.
    private func usable(
        of values: [QuarantinedValue],
        by use: (PropertyListValue, SchemaVersion?) throws(DefaultsError) -> DefaultsError?
    ) throws(DefaultsError) -> UsableValue? {
        var partly: UsableValue?
        var reason: DefaultsError?
        for (index, value) in values.enumerated() {
            do throws(DefaultsError) {
                guard let loss = try use(value.value, value.schemaVersion) else {
                    return UsableValue(index: index, loss: nil)
                }
                partly = partly ?? UsableValue(index: index, loss: loss)
            } catch {
                reason = reason ?? error
            }
        }
        if partly == nil, let reason { throw reason }
        return partly
    }

    private func contains(_ value: PropertyListValue, in values: [QuarantinedValue]) -> Bool {
        values.contains { $0.value.isSame(as: value) }
    }

    private func new(_ value: PropertyListValue, _ version: SchemaVersion?) -> QuarantinedValue {
        QuarantinedValue(date: Date(), typeName: "\(type)", value: value, version: version?.text)
    }

    private func replace(with values: [QuarantinedValue]) throws {
        try store.setStoredValue(values.isEmpty ? nil : .array(values.map(\.entry)), forKey: quarantineKey)
    }

    /// The values, newest first.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored under the quarantine's key.
    func values() throws(DefaultsError) -> [QuarantinedValue] {
        guard let stored = store.ownValue(forKey: quarantineKey) else { return [] }
        guard case .array(let entries) = stored, case let values = entries.compactMap({ QuarantinedValue($0) }),
            values.count == entries.count
        else {
            throw .companionKeyOccupied(purpose: "quarantined values", ErrorContext(quarantineKey, type, in: store))
        }
        return values
    }

    /// Removes the values.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored under the quarantine's key,
    ///   `invalidKey`, or errors of the store.
    func removeAll() throws(DefaultsError) {
        _ = try StoreKey(key)
        try DefaultsError.wrapping(context) {
            try store.withExclusiveAccess {
                if try !values().isEmpty {
                    try store.setStoredValue(nil, forKey: quarantineKey)
                }
            }
        }
    }

    /// Reports a quarantined value, after it was replaced; once for each reason if only a part of it can't be used.
    func report(because loss: DefaultsError) {
        let error = DefaultsError.quarantined(loss, under: quarantineKey, context)
        if loss.code == .filledIn {
            // Of two releases that alternate, each replaces a part of what the other has stored, at each write.
            DefaultsDiagnostics.reportOnce(.quarantined, error)
        } else {
            DefaultsDiagnostics.report(.quarantined, error)
        }
    }
}

/// A stored value that could not be used and was kept when it was replaced.
///
/// You get them from ``DefaultStorable/quarantined(in:forKey:)`` and ``Defaults/quarantined(_:)-swift.method``.
public struct QuarantinedValue: Equatable, Sendable {
    /// When it was replaced.
    public let date: Date
    /// The name of the type that it could not be used as.
    public let typeName: String

    /// The value as it was stored.
    public let value: PropertyListValue

    /// The recorded version of the bytes; nil when there was none.
    var version: String?

    var schemaVersion: SchemaVersion? { version.flatMap { SchemaVersion(text: $0) } }

    /// The bytes as they were stored; nil when what was stored is not `Data`.
    public var data: Data? {
        if case .data(let data) = value { data } else { nil }
    }
}

// The stored form: a dictionary that the platform's tools can display.
extension QuarantinedValue {
    init?(_ entry: PropertyListValue) {
        guard case .dictionary(let fields) = entry,
            case .date(let date)? = fields["date"], case .string(let typeName)? = fields["type"],
            let value = fields["value"]
        else { return nil }
        self.init(date: date, typeName: typeName, value: value)
        if case .string(let version)? = fields["version"] {
            self.version = version
        }
    }

    var entry: PropertyListValue {
        var fields: [String: PropertyListValue] = [:]
        fields["date"] = .date(date)
        fields["type"] = .string(typeName)
        fields["value"] = value
        fields["version"] = version.map { .string($0) }
        return .dictionary(fields)
    }
}

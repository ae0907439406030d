#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The schema version stored beside a value, such as "2 c3ab8ff13720e8ad".
///
/// It consists of the version, and the digest of the bytes that have it. In "3/2 c3ab8ff13720e8ad", version 2 of the type can
/// read and write the bytes as well.
///
/// The digest shows whether the bytes were written together with the version, or by a program that records no versions (an
/// older release of the app, or another program). A record also covers the bytes that are about to be replaced, because on a
/// store without transactions the process may end between the two writes.
struct SchemaRecord {
    struct Entry: Equatable {
        let version: SchemaVersion
        let digest: ContentDigest
    }

    /// The entries, newest first; at most two.
    private(set) var entries: [Entry]

    init(version: SchemaVersion, data: Data, replacing previous: SchemaRecord?) {
        let entry = Entry(version: version, digest: ContentDigest(data))
        entries = [entry] + (previous?.entries.prefix(1).filter { $0 != entry } ?? [])
    }

    init?(text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 2 || words.count == 4 else { return nil }
        entries = []
        for index in stride(from: 0, to: words.count, by: 2) {
            guard let version = SchemaVersion(text: words[index]), words[index + 1].utf8.count == 16,
                let bits = UInt64(digits: words[index + 1], radix: 16)
            else { return nil }
            entries.append(Entry(version: version, digest: ContentDigest(bits: bits)))
        }
    }

    var text: String { entries.map { "\($0.version.text) \($0.digest.text)" }.joined(separator: " ") }

    /// The version of some bytes; nil when it isn't known.
    func version(of data: Data) -> SchemaVersion? {
        let digest = ContentDigest(data)
        return entries.first { $0.digest == digest }?.version
    }
}

/// The version of some stored bytes.
struct SchemaVersion: Equatable {
    let number: Int
    /// The oldest version whose code can read and write them.
    let readableSince: Int

    init(_ number: Int, readableSince: Int? = nil) {
        self.number = number
        self.readableSince = min(readableSince ?? number, number)
    }

    init?(text: String) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { text in
            Int64(digits: String(text)).flatMap { Int(exactly: $0) }
        }
        guard (1...2).contains(numbers.count), let number = numbers[0], let readableSince = numbers.last ?? nil else {
            return nil
        }
        self.init(number, readableSince: readableSince)
    }

    var text: String { readableSince == number ? "\(number)" : "\(number)/\(readableSince)" }
}

extension SchemaRecord {
    /// The record for a key; nil when there is none.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored under the record's key.
    static func stored(
        beside key: String,
        of type: Any.Type,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> SchemaRecord? {
        let versionKey = CompanionKey.version(of: key)
        guard let stored = store.storedValue(forKey: versionKey) else { return nil }
        guard case .string(let text) = stored, let record = SchemaRecord(text: text) else {
            throw .companionKeyOccupied(purpose: "the schema version", ErrorContext(versionKey, type, in: store))
        }
        return record
    }

    /// Stores the version of the bytes that are about to be stored under a key; call it in the same transaction.
    static func store(
        _ version: SchemaVersion,
        of data: Data,
        beside key: String,
        of type: Any.Type,
        in store: any DefaultsStore
    ) throws {
        let record = SchemaRecord(version: version, data: data, replacing: try stored(beside: key, of: type, in: store))
        try store.setStoredValue(.string(record.text), forKey: CompanionKey.version(of: key))
    }
}

/// The keys under which the library stores additional information about a value, derived from the value's key.
enum CompanionKey {
    /// The key for quarantined values.
    static func quarantine(of key: String) -> String { name(key, suffix: ".quarantine") }

    /// The key for the schema version.
    static func version(of key: String) -> String { name(key, suffix: ".schemaVersion") }

    /// The key that records that a value was moved here.
    static func moved(of key: String) -> String { name(key, suffix: ".moved") }

    private static func name(_ key: String, suffix: String) -> String {
        let room = StoreKey.maximumByteCount - suffix.utf8.count
        guard key.utf8.count > room else { return key + suffix }
        // The result must not exceed the maximum length of a key, so the end of a very long key is replaced by its digest.
        let ending = "~\(ContentDigest(Data(utf8Of: key)).text)\(suffix)"
        var length = StoreKey.maximumByteCount - ending.utf8.count
        while true {
            // Nil within a character.
            if let beginning = String(key.utf8.prefix(length)) { return beginning + ending }
            length -= 1
        }
    }
}

/// Keeps the values of a key that could not be used and were replaced, as an array of dictionaries under a companion key,
/// newest first.
///
/// The oldest value is kept as well as the newest ones. It is often the user's own, from before a fault that replaces one
/// unusable value with another.
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

    /// Adds a value that is about to be replaced, unless it is quarantined already; the oldest and the newest two are kept.
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
            for index in [present.count - 1, 0].prefix(present.count) {
                byteCount += present[index].value.binaryForm.count
                if byteCount <= Self.byteLimit {
                    kept.insert(present[index], at: 1)
                }
            }
            try replace(with: kept)
        } catch {
            throw .quarantineFailed(error, context)
        }
    }

    /// Stores the newest value again that can be used, with its version, and quarantines the value that it replaces.
    ///
    /// - Parameters:
    ///   - replacedVersion: The version of the value that is replaced; called with exclusive access.
    ///   - isUsable: Whether a value with a version can be used.
    /// - Returns: The value; nil when none can be used.
    /// - Throws: `invalidKey`, `typeMismatch` when something else is stored under a companion key, or errors of the store.
    func restore(
        version replacedVersion: (PropertyListValue) -> SchemaVersion? = { _ in nil },
        where isUsable: (PropertyListValue, SchemaVersion?) -> Bool
    ) throws(DefaultsError) -> QuarantinedValue? {
        _ = try StoreKey(key)
        func version(_ value: QuarantinedValue) -> SchemaVersion? {
            value.version.flatMap { SchemaVersion(text: $0) }
        }
        return try DefaultsError.wrapping(context) {
            try store.updateStoredValue(forKey: key) { stored in
                var values = try values()
                guard let index = values.firstIndex(where: { isUsable($0.value, version($0)) }) else { return nil }
                let restored = values.remove(at: index)
                if let replaced = stored, !contains(replaced, in: values + [restored]) {
                    values.insert(new(replaced, replacedVersion(replaced)), at: 0)
                }
                try store.transaction {
                    try replace(with: values)
                    if let version = version(restored), let data = restored.data {
                        try SchemaRecord.store(version, of: data, beside: key, of: type, in: store)
                    }
                    try store.setStoredValue(restored.value, forKey: key)
                }
                stored = restored.value
                return restored
            }
        }
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
        guard let stored = store.storedValue(forKey: quarantineKey) else { return [] }
        guard case .array(let entries) = stored, case let values = entries.compactMap({ QuarantinedValue($0) }),
            values.count == entries.count
        else {
            throw .companionKeyOccupied(purpose: "quarantined values", ErrorContext(quarantineKey, type, in: store))
        }
        return values
    }

    /// Removes the values.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored under the quarantine's key, `invalidKey`,
    ///   or errors of the store.
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

    /// Reports a quarantined value, after it was replaced.
    func report(because loss: DefaultsError) {
        let error = DefaultsError.quarantined(loss, under: quarantineKey, context)
        DefaultsDiagnostics.report(.init(kind: .quarantined, error: error))
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

    /// The value as a property-list object.
    public var object: Any { value.object }

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

/// Identifies contents without storing them: the 64-bit FNV-1a hash, which is the same in every process and version.
struct ContentDigest: Equatable, Sendable {
    let bits: UInt64

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ContentDigest {
    // Compiled once, instead of in each of its callers.
    @inline(never)
    init(_ data: Data) {
        var bits: UInt64 = 0xCBF2_9CE4_8422_2325
        data.withUnsafeBytes { bytes in
            for byte in bytes {
                bits = (bits ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        self.init(bits: bits)
    }
}

extension DefaultsError {
    /// The same error about a stored value, which is reported once for each value.
    func about(_ value: PropertyListValue) -> DefaultsError {
        let data = if case .data(let data) = value { data } else { value.binaryForm }
        return about(ContentDigest(data).bits)
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The schema version stored beside a value, such as "2 c3ab8ff13720e8ad".
///
/// It consists of the version, and the digest of the bytes that have it. In "3/2 c3ab8ff13720e8ad", version 2 of the
/// type can read and write the bytes as well.
///
/// The digest shows whether the bytes were written together with the version, or by a program that records no versions
/// (an older release of the app, or another program). A record also covers the bytes that are about to be replaced,
/// because on a store without transactions the process may end between the two writes.
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
                let bits = UInt64(words[index + 1], radix: 16)
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
            Int(text)
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
        guard let stored = store.ownValue(forKey: versionKey) else { return nil }
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

internal import Foundation

/// What is stored beside a value about the version of its type: "2 c3ab8ff13720e8ad", the version and the digest of the
/// bytes that have it.
///
/// The digest distinguishes bytes of that version from those of a program that records no versions: an older release of the
/// app, or another program. A record also covers the bytes that are about to be replaced, because a store without
/// transactions may be left between the two writes.
struct SchemaRecord: Equatable {
    struct Entry: Equatable {
        let version: Int
        let digest: ContentDigest
    }

    /// The newest first; two at most.
    private(set) var entries: [Entry]

    init(version: Int, data: Data, replacing previous: SchemaRecord?) {
        let entry = Entry(version: version, digest: ContentDigest(data))
        entries = [entry] + (previous?.entries.prefix(1).filter { $0 != entry } ?? [])
    }

    init?(text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2 || words.count == 4 else {
            return nil
        }
        entries = []
        for index in stride(from: 0, to: words.count, by: 2) {
            guard let version = Int(words[index]), words[index + 1].utf8.count == 16,
                let bits = UInt64(words[index + 1], radix: 16)
            else {
                return nil
            }
            entries.append(Entry(version: version, digest: ContentDigest(bits: bits)))
        }
    }

    var text: String {
        entries.map { "\($0.version) \($0.digest.text)" }.joined(separator: " ")
    }

    /// The version that bytes were written by, nil when that isn't known.
    func version(of data: Data) -> Int? {
        let digest = ContentDigest(data)
        return entries.first { $0.digest == digest }?.version
    }
}

extension SchemaRecord {
    /// What is recorded about the value under a key, nil when nothing is.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored in its place.
    static func stored(
        beside key: String,
        of type: Any.Type,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> SchemaRecord? {
        let place = CompanionKey.version(of: key)
        guard let stored = store.storedValue(forKey: place) else {
            return nil
        }
        guard case .string(let text) = stored, let record = SchemaRecord(text: text) else {
            let store = store.storeDescription
            throw .companionKeyOccupied(key: place, purpose: "the schema version", type: type, store: store)
        }
        return record
    }
}

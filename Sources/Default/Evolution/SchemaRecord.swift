internal import Foundation

/// What stands beside a value about the version of its type: "2 c3ab8ff13720e8ad", the version and the digest of the
/// bytes that it holds for.
///
/// The digest tells bytes of that version from those that someone wrote who keeps no versions: an older release of the
/// app, or another program. A record also holds for the bytes that are about to be replaced, because a store without
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

extension DefaultsStore {
    /// What is recorded about the value under a key, nil when nothing is.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else stands there.
    func schemaRecord(forKey key: String, type: Any.Type) throws(DefaultsError) -> SchemaRecord? {
        let place = SiblingKey.version(of: key)
        guard let object = object(forKey: place) else {
            return nil
        }
        guard let text = object as? String, let record = SchemaRecord(text: text) else {
            throw .siblingOccupied(key: place, purpose: "the schema version", type: type, store: storeDescription)
        }
        return record
    }
}

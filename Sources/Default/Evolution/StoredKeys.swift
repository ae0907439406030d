/// Finds out under which keys the properties with some coding keys are stored.
///
/// They differ when the coder converts keys ("themeName" is stored as "theme_name"). The conversion can be any
/// function, and the encoder's need not be the reverse of the decoder's ("avatarURL" is written as "avatar_url", which
/// is read as "avatarUrl"). So each is asked.
final class StoredKeys {
    private let coder: DefaultsCoder
    private let format: StoredTree.Format
    /// The decoder's coding keys, by the paths of the stored keys.
    private var decoded: [StoredTree.Path: String] = [:]
    /// The encoder's keys, by the paths of the coding keys.
    private var encoded: [StoredTree.Path: String] = [:]

    init(coder: DefaultsCoder, format: StoredTree.Format) { (self.coder, self.format) = (coder, format) }

    private var mayConvert: Bool { format == .json && !coder.isBuiltIn }

    /// The key under which the decoder finds a property.
    ///
    /// - Parameters:
    ///   - name: The coding key.
    ///   - fields: The fields of its container.
    ///   - path: The path of its container.
    /// - Returns: The stored key; nil when there is none.
    func storedKey(for name: String, among fields: [String: StoredTree], below path: StoredTree.Path) -> String? {
        if fields[name] != nil { return name }
        guard mayConvert else { return nil }
        return fields.keys.sorted().first { decodedKey(for: $0, below: path) == name }
    }

    /// The key that the encoder writes for a coding key.
    ///
    /// - Parameters:
    ///   - name: The coding key.
    ///   - names: The coding keys that lead to its container.
    /// - Returns: The key.
    func encodedKey(for name: String, below names: [String]) -> String {
        guard mayConvert else { return name }
        let path = names.appending(name)
        if let known = encoded[path] { return known }
        var tree = (try? coder.encode(NestedKeys(names: path[...]))).flatMap { StoredTree.parse($0)?.tree }
        var key = name
        while let (outer, inner) = tree?.fields?.first {
            (key, tree) = (outer, inner)
        }
        encoded[path] = key
        return key
    }

    /// A key that isn't stored yet, under which the decoder will find a property.
    func newKey(for name: String, encoded: String, below path: StoredTree.Path) -> String {
        guard mayConvert else { return name }
        return [encoded, name].first { decodedKey(for: $0, below: path) == name } ?? encoded
    }

    /// The coding key that the decoder converts a stored key to; the stored key itself when the decoder fails.
    private func decodedKey(for key: String, below path: StoredTree.Path) -> String {
        let path = path.appending(key)
        if let known = decoded[path] { return known }
        var probe = StoredTree.json([UInt8(ascii: "0")])
        for key in path.reversed() {
            // An element of an array is in no object, and conversions don't depend on it.
            probe = key.hasPrefix("[") ? .array([probe]) : .object([key: probe])
        }
        let name = probe.data(in: format).flatMap { try? coder.decode(InnermostKey.self, from: $0).name } ?? key
        decoded[path] = name
        return name
    }
}

/// The innermost key of containers that have one part each.
private struct InnermostKey: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
        if var elements = try? decoder.unkeyedContainer() {
            self = try elements.decode(InnermostKey.self)
            return
        }
        let container = try decoder.container(keyedBy: PathKey.self)
        guard let key = container.allKeys.first else { throw UnexpectedValue() }
        name = (try? container.decode(InnermostKey.self, forKey: key).name) ?? key.stringValue
    }
}

/// Objects in each other that have one key each.
private struct NestedKeys: Encodable {
    let names: ArraySlice<String>

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        guard let name = names.first else { return }
        let key = Int(name).map { PathKey(intValue: $0) } ?? PathKey(stringValue: name)
        if names.count == 1 {
            try container.encode(0, forKey: key)
        } else {
            try container.encode(NestedKeys(names: names.dropFirst()), forKey: key)
        }
    }
}

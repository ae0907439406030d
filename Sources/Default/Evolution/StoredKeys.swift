internal import Foundation

/// Finds the stored keys for the coding keys that a decoder reports.
///
/// They differ when the coder converts keys ("themeName" is stored as "theme_name"). The conversion can be any function, so
/// the decoder is used to convert each stored key.
struct StoredKeys {
    let coder: DefaultsCoder
    let format: StoredTree.Format

    /// The stored path for a coding path, up to the first array: arrays are replaced as a whole.
    func resolve(_ codingPath: [any CodingKey], in trees: [StoredTree]) -> StoredTree.Path {
        var path: StoredTree.Path = []
        for step in codingPath {
            let candidates = trees.compactMap { $0[path]?.fields }.flatMap(\.keys)
            guard !candidates.isEmpty || trees.first?[path]?.fields != nil else {
                break
            }
            path.append(storedKey(for: step.stringValue, among: candidates, below: path))
        }
        return path
    }

    private func storedKey(for name: String, among candidates: [String], below path: StoredTree.Path) -> String {
        if format != .json || candidates.contains(name) {
            return name
        }
        return candidates.sorted().first { decodedKey(for: $0, below: path) == name } ?? name
    }

    /// The coding key that the decoder converts a stored key to.
    private func decodedKey(for key: String, below path: StoredTree.Path) -> String? {
        let probe = (path + [key]).reversed().reduce(StoredTree.json([UInt8(ascii: "0")])) { .object([$1: $0]) }
        return probe.data(in: format).flatMap { try? coder.decode(InnermostKey.self, from: $0).name }
    }
}

/// The innermost key of objects that have one entry each.
private struct InnermostKey: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
        var container = try decoder.container(keyedBy: PathKey.self)
        var name = ""
        while let key = container.allKeys.first {
            name = key.stringValue
            guard let inner = try? container.nestedContainer(keyedBy: PathKey.self, forKey: key) else {
                break
            }
            container = inner
        }
        self.name = name
    }
}

internal import Foundation

/// Finds the keys that stand in stored bytes for those that a decoder names.
///
/// They differ when the coder converts keys ("themeName" is stored as "theme_name"). How it does so can be any function;
/// so the decoder itself is asked what it makes of each stored key.
struct StoredKeys {
    let coder: DefaultsCoder
    let format: StoredTree.Format

    /// The stored path for a coding path, up to the first array on the way: arrays are replaced whole.
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

    /// What the decoder makes of a key at a place.
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

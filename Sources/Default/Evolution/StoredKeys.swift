#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Finds the stored keys for the coding keys that a decoder reports.
///
/// They differ when the coder converts keys ("themeName" is stored as "theme_name"). The conversion can be any function, so
/// the decoder is used to convert each stored key.
final class StoredKeys {
    let coder: DefaultsCoder
    let format: StoredTree.Format
    /// The coding keys that were found so far, by the paths of the stored keys.
    private var found: [StoredTree.Path: String?] = [:]

    init(coder: DefaultsCoder, format: StoredTree.Format) {
        self.coder = coder
        self.format = format
    }

    /// The stored key for a coding key.
    ///
    /// - Parameters:
    ///   - name: The coding key.
    ///   - fields: The fields of its container.
    ///   - path: The path of its container.
    /// - Returns: The stored key; nil when there is none.
    func storedKey(for name: String, among fields: [String: StoredTree], below path: StoredTree.Path) -> String? {
        if fields.keys.contains(name) {
            return name
        }
        guard format == .json, !coder.isBuiltIn else { return nil }
        return Array(fields.keys).inOrder().first { decodedKey(for: $0, below: path) == name }
    }

    /// The coding key that the decoder converts a stored key to.
    private func decodedKey(for key: String, below path: StoredTree.Path) -> String? {
        if let known = found[path + [key]] {
            return known
        }
        let probe = (path + [key]).reversed().reduce(StoredTree.json([UInt8(ascii: "0")])) { .object([$1: $0]) }
        let name = probe.data(in: format).flatMap { try? coder.decode(InnermostKey.self, from: $0).name }
        found[path + [key]] = .some(name)
        return name
    }
}

/// The innermost key of objects that have one entry each.
private struct InnermostKey: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PathKey.self)
        guard let key = container.allKeys.first else { throw UnexpectedValue() }
        name = (try? container.decode(InnermostKey.self, forKey: key).name) ?? key.stringValue
    }
}

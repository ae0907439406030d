internal import Foundation

/// Renames stored properties.
enum Renaming {
    /// Renames properties in stored bytes.
    ///
    /// - Parameters:
    ///   - names: The new names by the old ones, with dots between the keys of nested properties.
    ///   - data: The bytes.
    /// - Returns: The bytes with the new names; nil when no property has an old name.
    static func apply(_ names: [String: String], to data: Data) -> Data? {
        guard names.keys.contains(where: { mayContain($0, in: data) }),
            case (var tree, let format)? = StoredTree.parse(data)
        else {
            return nil
        }
        var isChanged = false
        for (old, new) in names.sorted(by: { $0.key < $1.key }) {
            let oldPath = old.split(separator: ".").map(String.init)
            let newPath = new.split(separator: ".").map(String.init)
            guard !oldPath.isEmpty, !newPath.isEmpty, let value = tree[oldPath], tree[newPath] == nil else {
                continue
            }
            var renamed = tree
            renamed[oldPath] = nil
            renamed.makeContainers(for: newPath)
            renamed[newPath] = value
            // If another value blocks the new path, the property keeps its old name.
            if renamed[newPath] == value {
                tree = renamed
                isChanged = true
            }
        }
        return isChanged ? tree.data(in: format) : nil
    }

    /// Whether bytes may contain a key; this search avoids parsing bytes in which nothing has to be renamed.
    private static func mayContain(_ path: String, in data: Data) -> Bool {
        let key = path.utf8.lastIndex(of: UInt8(ascii: ".")).map { path[$0...].dropFirst() } ?? path[...]
        guard key.utf8.allSatisfy({ $0 < 0x80 }) else {
            return true
        }
        var contiguous = key
        return contiguous.withUTF8 { key in
            data.withUnsafeBytes { bytes in
                guard let first = key.first, let keyStart = key.baseAddress else {
                    return false
                }
                var rest = bytes[...]
                while rest.count >= key.count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    let found = memchr(start, Int32(first), rest.count - key.count + 1)
                {
                    if memcmp(found, keyStart, key.count) == 0 {
                        return true
                    }
                    rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
                }
                return false
            }
        }
    }
}

extension StoredTree {
    /// Creates the missing keyed containers along a path.
    fileprivate mutating func makeContainers(for path: Path) {
        for count in 1..<max(path.count, 1) where self[path.prefix(count)] == nil {
            self[path.prefix(count)] = .object([:])
        }
    }
}

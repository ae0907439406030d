internal import Foundation

/// What stored bytes have and a type doesn't know, which the type's next write keeps.
struct UnknownFields {
    /// The unknown fields of this container.
    var fields: [String: StoredTree] = [:]
    /// Those of the containers in it that the type knows.
    var parts: [String: UnknownFields] = [:]

    var isEmpty: Bool { fields.isEmpty && parts.isEmpty }

    /// The paths of the fields.
    var paths: [StoredTree.Path] {
        fields.keys.map { [$0] } + parts.flatMap { key, part in part.paths.map { [key] + $0 } }
    }

    /// Removes fields.
    ///
    /// - Parameter path: The path of a field, or of a container.
    mutating func remove(_ path: some Collection<String>) {
        guard let key = path.first else {
            return
        }
        let rest = path.dropFirst()
        if rest.isEmpty {
            fields[key] = nil
            parts[key] = nil
        } else if var part = parts[key] {
            part.remove(rest)
            parts[key] = part.isEmpty ? nil : part
        } else {
            // An unknown container of which a part is to be removed.
            fields[key]?[rest] = nil
        }
    }

    /// Adds the fields to the bytes of a value.
    ///
    /// - Returns: The bytes; nil when the value has all fields, or nothing can be added to its bytes.
    func added(to data: Data) -> Data? {
        guard case (var tree, let format)? = StoredTree.parse(data), add(to: &tree) else {
            return nil
        }
        return tree.data(in: format)
    }

    /// Adds the fields that a tree lacks, in containers that it has: one that is missing was set to nil.
    private func add(to tree: inout StoredTree) -> Bool {
        guard var present = tree.fields else {
            return false
        }
        var isChanged = false
        for (key, field) in fields where present[key] == nil {
            present[key] = field
            isChanged = true
        }
        for (key, part) in parts {
            if var container = present[key], part.add(to: &container) {
                present[key] = container
                isChanged = true
            }
        }
        tree = .object(present)
        return isChanged
    }
}

extension UnknownFields {
    /// Finds the fields that a type doesn't know; nil when there are none, or the bytes can't be decoded as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: The type that they are decoded as.
    ///   - coder: Their coder.
    init?<Value: Decodable>(in data: Data, besides type: Value.Type, coder: DefaultsCoder) {
        guard let (tree, format) = StoredTree.parse(data), tree.fields != nil,
            let known = KnownKeys.recorded(type, from: data, coder: coder),
            let unknown = known.unknownFields(of: tree, keys: StoredKeys(coder: coder, format: format))
        else {
            return nil
        }
        self = unknown
    }

    /// The fields of a predecessor's bytes that a type doesn't know either, and that can be added to its bytes.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - data: The bytes of a value of it.
    ///   - coder: Their coder.
    /// - Returns: The fields; nil when there are none.
    func unknown<Value: Decodable>(to type: Value.Type, besides data: Data, coder: DefaultsCoder) -> UnknownFields? {
        guard case (var tree, let format)? = StoredTree.parse(data), add(to: &tree), tree.data(in: format) != nil,
            let known = KnownKeys.recorded(type, from: data, coder: coder)
        else {
            return nil
        }
        return known.unknownFields(of: tree, keys: StoredKeys(coder: coder, format: format))
    }
}

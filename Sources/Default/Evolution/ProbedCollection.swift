internal import Foundation

/// A collection whose elements are decoded one by one by a ``Probe``.
///
/// An element that can't be used is removed where neither order nor count can have a meaning: in sets and dictionaries. In
/// arrays, it is removed if its type has a default value of its own. Other arrays are used as a whole or not at all.
protocol ProbedCollection: Decodable {
    /// Decodes the elements, and records those that have to be changed or removed.
    ///
    /// - Throws: The error of an element, when the collection can't do without it.
    static func decodeElements(
        from decoder: any Decoder,
        fallback: Probe.Fallback?,
        at path: StoredTree.Path,
        by probe: Probe
    ) throws -> Self

    /// The types of the elements; for dictionaries, those of key and value or, if names are the keys, of the value.
    static var partTypes: [any Decodable.Type] { get }

    /// Whether it is coded with names as keys.
    static var isKeyedByNames: Bool { get }
}

extension ProbedCollection {
    static var isKeyedByNames: Bool { false }
}

extension Array: ProbedCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }

    static func decodeElements(
        from decoder: any Decoder,
        fallback: Probe.Fallback?,
        at path: StoredTree.Path,
        by probe: Probe
    ) throws -> [Element] {
        try probe.withDefault(of: Element.self) { initial in
            guard initial != nil || Element.self is any ProbedCollection.Type else {
                return try decoder.singleValueContainer().decode(Self.self)
            }
            var elements: [Element] = []
            try probe.decodeElements(of: Element.self, from: decoder, fallback: initial, at: path) { result, path in
                do {
                    elements.append(try result.get())
                } catch {
                    guard initial != nil else {
                        throw error
                    }
                    probe.replace(path, by: nil, because: error)
                }
            }
            return elements
        }
    }
}

extension Set: ProbedCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }

    static func decodeElements(
        from decoder: any Decoder,
        fallback: Probe.Fallback?,
        at path: StoredTree.Path,
        by probe: Probe
    ) throws -> Set {
        try probe.withDefault(of: Element.self) { initial in
            var elements: Set = []
            try probe.decodeElements(of: Element.self, from: decoder, fallback: initial, at: path) { result, path in
                do {
                    elements.insert(try result.get())
                } catch {
                    probe.replace(path, by: nil, because: error)
                }
            }
            return elements
        }
    }
}

extension Dictionary: ProbedCollection where Key: Decodable, Value: Decodable {
    static var partTypes: [any Decodable.Type] {
        isKeyedByNames ? [Value.self] : [Key.self, Value.self]
    }
    static var isKeyedByNames: Bool { DictionaryKey.isCodingKey(Key.self) }

    static func decodeElements(
        from decoder: any Decoder,
        fallback: Probe.Fallback?,
        at path: StoredTree.Path,
        by probe: Probe
    ) throws -> [Key: Value] {
        try probe.withDefault(of: Value.self) { initial in
            if isKeyedByNames {
                return try decodeEntries(from: decoder, default: initial, fallback: fallback, at: path, by: probe)
            }
            return try decodePairs(from: decoder, default: initial, at: path, by: probe)
        }
    }

    /// Decodes a dictionary with names as keys.
    private static func decodeEntries(
        from decoder: any Decoder,
        default initial: Probe.Fallback?,
        fallback: Probe.Fallback?,
        at path: StoredTree.Path,
        by probe: Probe
    ) throws -> [Key: Value] {
        let container = try decoder.container(keyedBy: PathKey.self)
        let defaults = try? fallback?.decoder.container(keyedBy: PathKey.self)
        var entries: [Key: Value] = [:]
        for name in container.allKeys {
            // An entry that the default has too is filled in and replaced like a property.
            let replacement = fallback.flatMap { probe.part(name.stringValue, of: $0.tree, at: path) }
            let path = path + [name.stringValue]
            do {
                guard let key = DictionaryKey.make(Key.self, from: name) else {
                    throw UnexpectedValue()
                }
                let part = try container.superDecoder(forKey: name)
                let own = Probe.Fallback(
                    decoder: try? defaults?.superDecoder(forKey: name),
                    tree: replacement?.tree
                )
                entries[key] = try probe.decode(Value.self, from: part, fallback: own ?? initial, at: path)
            } catch {
                if let key = DictionaryKey.make(Key.self, from: name), replacement != nil {
                    entries[key] = try? defaults?.decode(Value.self, forKey: name)
                }
                probe.replace(path, by: replacement, because: error)
            }
        }
        return entries
    }

    /// Decodes a dictionary with other keys, which is coded as an array of keys and values in turn.
    private static func decodePairs(
        from decoder: any Decoder,
        default initial: Probe.Fallback?,
        at path: StoredTree.Path,
        by probe: Probe
    ) throws -> [Key: Value] {
        var entries: [Key: Value] = [:]
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let places = (0...1).map { path + ["\(container.currentIndex + $0)"] }
            let parts = (try container.superDecoder(), try container.superDecoder())
            do {
                let key = try probe.decode(Key.self, from: parts.0, fallback: nil, at: places[0])
                // Two keys may be equal once they are filled in.
                guard entries[key] == nil else {
                    throw UnexpectedValue()
                }
                entries[key] = try probe.decode(Value.self, from: parts.1, fallback: initial, at: places[1])
            } catch {
                for place in places {
                    probe.replace(place, by: nil, because: error)
                }
            }
        }
        return entries
    }
}

extension Probe {
    /// Decodes the elements of an unkeyed container.
    fileprivate func decodeElements<Element: Decodable>(
        of type: Element.Type,
        from decoder: any Decoder,
        fallback: Fallback?,
        at path: StoredTree.Path,
        _ body: (Result<Element, any Error>, StoredTree.Path) throws -> Void
    ) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let path = path + ["\(container.currentIndex)"]
            let part = try container.superDecoder()
            try body(Result { try decode(type, from: part, fallback: fallback, at: path) }, path)
        }
    }
}

/// Keys of dictionaries that are coded as names.
private enum DictionaryKey {
    static func isCodingKey(_ type: Any.Type) -> Bool {
        if #available(macOS 12.3, iOS 15.4, tvOS 15.4, watchOS 8.5, visionOS 1, *),
            type is any CodingKeyRepresentable.Type
        {
            return true
        }
        return type == String.self || type == Int.self
    }

    static func make<Key>(_ type: Key.Type, from name: PathKey) -> Key? {
        if let key = (name.stringValue as? Key) ?? (Int(name.stringValue) as? Key) {
            return key
        }
        if #available(macOS 12.3, iOS 15.4, tvOS 15.4, watchOS 8.5, visionOS 1, *),
            let type = type as? any CodingKeyRepresentable.Type
        {
            return type.init(codingKey: name) as? Key
        }
        return nil
    }
}

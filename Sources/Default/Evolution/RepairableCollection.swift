/// A collection whose elements are decoded one by one by a ``FaultFinder``.
///
/// An element that can't be used is removed where neither order nor count can have a meaning: in sets and dictionaries. In
/// arrays, it is removed if its type has a default value of its own. Other arrays are used as a whole or not at all.
protocol RepairableCollection: Decodable {
    /// Decodes the elements, and records those that have to be changed or removed.
    ///
    /// - Returns: A value of this type.
    /// - Throws: The error of an element, when the collection can't do without it.
    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable

    /// The types of the elements; for dictionaries, those of key and value.
    static var partTypes: [any Decodable.Type] { get }

    /// Whether it is coded as an array of keys and values in turn.
    static var isCodedInPairs: Bool { get }
}

extension RepairableCollection {
    static var isCodedInPairs: Bool { false }
}

extension Array: RepairableCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Element.self) { initial in
            guard initial != nil || Element.self is any RepairableCollection.Type else {
                return try part.decoder.singleValueContainer().decode(Self.self)
            }
            return try finder.elements(of: part, default: initial, removing: initial != nil) as Self
        }
    }
}

extension Set: RepairableCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Element.self) { initial in
            Set(try finder.elements(of: part, default: initial, removing: true))
        }
    }
}

extension FaultFinder {
    /// The elements of an unkeyed container, without those that can't be used if they are to be removed.
    fileprivate func elements<Element: Decodable>(
        of part: Part,
        default initial: Fallback?,
        removing removesUnusable: Bool
    ) throws -> [Element] {
        var container = try part.decoder.unkeyedContainer()
        var elements: [Element] = []
        while !container.isAtEnd {
            let path = part.path + ["\(container.currentIndex)"]
            let element = Part(decoder: try container.superDecoder(), fallback: initial, path: path)
            do {
                elements.append(try decode(Element.self, of: element))
            } catch {
                guard removesUnusable else { throw error }
                replace(path, by: nil, because: error)
            }
        }
        return elements
    }
}

extension Dictionary: RepairableCollection where Key: Decodable, Value: Decodable {
    static var partTypes: [any Decodable.Type] { [Key.self, Value.self] }
    static var isCodedInPairs: Bool { !DictionaryKey.isCodingKey(Key.self) }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Value.self) { initial in
            try isCodedInPairs
                ? pairs(of: part, default: initial, by: finder) : entries(of: part, default: initial, by: finder)
        }
    }

    private static func entries(
        of part: FaultFinder.Part,
        default initial: FaultFinder.Fallback?,
        by finder: FaultFinder
    ) throws -> [Key: Value] {
        let container = try part.decoder.container(keyedBy: PathKey.self)
        let defaults = try? part.fallback?.decoder.container(keyedBy: PathKey.self)
        var entries: [Key: Value] = [:]
        for name in container.allKeys {
            // An entry that the default has too is filled in and replaced like a property.
            let replacement = finder.part(name.stringValue, of: part.fallback?.tree, at: part.path)
            let path = part.path + [name.stringValue]
            let key = DictionaryKey.make(Key.self, from: name)
            do {
                guard let key else { throw UnexpectedValue() }
                let decoder = try container.superDecoder(forKey: name)
                let inner = try? defaults?.superDecoder(forKey: name)
                let own = FaultFinder.Fallback(decoder: inner, tree: replacement?.tree)
                let entry = FaultFinder.Part(decoder: decoder, fallback: own ?? initial, path: path)
                entries[key] = try finder.decode(Value.self, of: entry)
            } catch {
                if let key, replacement != nil {
                    entries[key] = try? defaults?.decode(Value.self, forKey: name)
                }
                finder.replace(path, by: replacement, because: error)
            }
        }
        return entries
    }

    private static func pairs(
        of part: FaultFinder.Part,
        default initial: FaultFinder.Fallback?,
        by finder: FaultFinder
    ) throws -> [Key: Value] {
        var entries: [Key: Value] = [:]
        var container = try part.decoder.unkeyedContainer()
        while !container.isAtEnd {
            let places = (0...1).map { part.path + ["\(container.currentIndex + $0)"] }
            let parts = (try container.superDecoder(), try container.superDecoder())
            do {
                let key = try finder.decode(Key.self, of: .init(decoder: parts.0, fallback: nil, path: places[0]))
                // Two keys may be equal once they are filled in.
                guard entries[key] == nil else { throw UnexpectedValue() }
                let value = FaultFinder.Part(decoder: parts.1, fallback: initial, path: places[1])
                entries[key] = try finder.decode(Value.self, of: value)
            } catch {
                for place in places {
                    finder.replace(place, by: nil, because: error)
                }
            }
        }
        return entries
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

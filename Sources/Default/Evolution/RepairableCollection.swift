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
            let elements = try finder.elements(of: part, as: Element.self, default: initial, removing: initial != nil)
            return try elements.map { try typed($0) as Element }
        }
    }
}

extension Set: RepairableCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Element.self) { initial in
            let elements = try finder.elements(of: part, as: Element.self, default: initial, removing: true)
            return Set(try elements.map { try typed($0) as Element })
        }
    }
}

extension Dictionary: RepairableCollection where Key: Decodable, Value: Decodable {
    static var partTypes: [any Decodable.Type] { [Key.self, Value.self] }
    static var isCodedInPairs: Bool { !DictionaryKey.isCodingKey(Key.self) }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Value.self) { initial in
            var entries: [Key: Value] = [:]
            if isCodedInPairs {
                // Two keys may be equal once they are filled in.
                try finder.pairs(of: part, as: (Key.self, Value.self), default: initial) { key in
                    entries[try typed(key)] == nil
                } add: { key, value in
                    entries[try typed(key)] = try typed(value) as Value
                }
            } else {
                try finder.entries(of: part, as: (Key.self, Value.self), default: initial) { key, value in
                    entries[try typed(key)] = try typed(value) as Value
                }
            }
            return entries
        }
    }
}

// Not generic, so that it is compiled once.
extension FaultFinder {
    /// The elements of an unkeyed container, without those that can't be used if they are to be removed.
    fileprivate func elements(
        of part: Part,
        as type: any Decodable.Type,
        default initial: Fallback?,
        removing removesUnusable: Bool
    ) throws -> [any Decodable] {
        var container = try part.decoder.unkeyedContainer()
        var elements: [any Decodable] = []
        while !container.isAtEnd {
            let path = part.path + ["\(container.currentIndex)"]
            let element = Part(decoder: try container.superDecoder(), fallback: initial, path: path)
            do {
                elements.append(try decode(type, of: element))
            } catch {
                guard removesUnusable else { throw error }
                replace(path, by: nil, because: error)
            }
        }
        return elements
    }

    /// The entries of a dictionary that is coded as a keyed container.
    fileprivate func entries(
        of part: Part,
        as types: (key: any Decodable.Type, value: any Decodable.Type),
        default initial: Fallback?,
        add: (_ key: any Decodable, _ value: any Decodable) throws -> Void
    ) throws {
        let container = try part.decoder.container(keyedBy: PathKey.self)
        let defaults = try? part.fallback?.decoder.container(keyedBy: PathKey.self)
        for name in container.allKeys {
            // An entry that the default has too is filled in and replaced like a property.
            let replacement = self.part(name.stringValue, of: part.fallback?.tree, at: part.path)
            let path = part.path + [name.stringValue]
            let key = DictionaryKey.make(types.key, from: name)
            do {
                guard let key else { throw UnexpectedValue() }
                let decoder = try container.superDecoder(forKey: name)
                let inner = try? defaults?.superDecoder(forKey: name)
                let own = Fallback(decoder: inner, tree: replacement?.tree)
                let entry = Part(decoder: decoder, fallback: own ?? initial, path: path)
                try add(key, decode(types.value, of: entry))
            } catch {
                if let key, replacement != nil, let value = try? defaults?.decode(types.value, forKey: name) {
                    try add(key, value)
                }
                replace(path, by: replacement, because: error)
            }
        }
    }

    /// The entries of a dictionary that is coded as keys and values in turn.
    fileprivate func pairs(
        of part: Part,
        as types: (key: any Decodable.Type, value: any Decodable.Type),
        default initial: Fallback?,
        isNew: (any Decodable) throws -> Bool,
        add: (_ key: any Decodable, _ value: any Decodable) throws -> Void
    ) throws {
        var container = try part.decoder.unkeyedContainer()
        while !container.isAtEnd {
            let places = (0...1).map { part.path + ["\(container.currentIndex + $0)"] }
            let parts = (try container.superDecoder(), try container.superDecoder())
            do {
                let key = try decode(types.key, of: Part(decoder: parts.0, fallback: nil, path: places[0]))
                guard try isNew(key) else { throw UnexpectedValue() }
                try add(key, decode(types.value, of: Part(decoder: parts.1, fallback: initial, path: places[1])))
            } catch {
                for place in places {
                    replace(place, by: nil, because: error)
                }
            }
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

    static func make(_ type: any Decodable.Type, from name: PathKey) -> (any Decodable)? {
        if type == String.self {
            return name.stringValue
        }
        if type == Int.self {
            return Int64(digits: name.stringValue).flatMap { Int(exactly: $0) }
        }
        if #available(macOS 12.3, iOS 15.4, tvOS 15.4, watchOS 8.5, visionOS 1, *),
            let type = type as? any CodingKeyRepresentable.Type
        {
            return type.init(codingKey: name) as? any Decodable
        }
        return nil
    }
}

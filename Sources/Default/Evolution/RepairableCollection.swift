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
            var elements: [Element] = []
            try finder.decodeElements(of: part, as: partTypes, default: initial, removing: initial != nil) {
                elements.append(try typed($0[0]))
            }
            return elements
        }
    }
}

extension Set: RepairableCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Element.self) { initial in
            var elements: Set<Element> = []
            try finder.decodeElements(of: part, as: partTypes, default: initial, removing: true) {
                elements.insert(try typed($0[0]))
            }
            return elements
        }
    }
}

extension Dictionary: RepairableCollection where Key: Decodable, Value: Decodable {
    static var partTypes: [any Decodable.Type] { [Key.self, Value.self] }
    static var isCodedInPairs: Bool { !DictionaryKey.isCodingKey(Key.self) }

    static func repaired(_ part: FaultFinder.Part, by finder: FaultFinder) throws -> any Decodable {
        try finder.withDefault(of: Value.self) { initial in
            var entries: [Key: Value] = [:]
            func add(_ entry: [any Decodable]) throws {
                let key: Key = try typed(entry[0])
                // Two keys may be equal once they are filled in.
                guard !isCodedInPairs || entries[key] == nil else { throw UnexpectedValue() }
                entries[key] = try typed(entry[1]) as Value
            }
            if isCodedInPairs {
                try finder.decodeElements(of: part, as: partTypes, default: initial, removing: true, add)
            } else {
                try finder.decodeEntries(of: part, as: partTypes, default: initial, add)
            }
            return entries
        }
    }
}

// Not generic, so that it is compiled once.
extension FaultFinder {
    /// Decodes the elements of an unkeyed container, except for those that can't be used if they are to be removed.
    ///
    /// - Parameters:
    ///   - part: The container.
    ///   - types: The type of each element, or the types of a dictionary's keys and values, which are coded in turn.
    ///   - initial: What elements are filled in from; for a dictionary, its values.
    ///   - removesUnusable: Whether to remove elements that can't be used.
    ///   - add: Adds an element, or a key and its value.
    /// - Throws: The error of an element that isn't removed.
    fileprivate func decodeElements(
        of part: Part,
        as types: [any Decodable.Type],
        default initial: Fallback?,
        removing removesUnusable: Bool,
        _ add: ([any Decodable]) throws -> Void
    ) throws {
        var container = try part.decoder.unkeyedContainer()
        while !container.isAtEnd {
            var parts: [Part] = []
            while parts.count < types.count {
                let fallback = parts.count == types.count - 1 ? initial : nil
                let path = part.path.appending("\(container.currentIndex)")
                parts.append(Part(decoder: try container.superDecoder(), fallback: fallback, path: path))
            }
            do {
                var values: [any Decodable] = []
                for part in parts {
                    values.append(try decode(types[values.count], of: part))
                }
                try add(values)
            } catch {
                guard removesUnusable else { throw error }
                for part in parts {
                    replace(part.path, by: nil, because: error)
                }
            }
        }
    }

    /// Decodes the entries of a dictionary that is coded as a keyed container.
    fileprivate func decodeEntries(
        of part: Part,
        as types: [any Decodable.Type],
        default initial: Fallback?,
        _ add: ([any Decodable]) throws -> Void
    ) throws {
        let container = try part.decoder.container(keyedBy: PathKey.self)
        let defaults = try? part.fallback?.decoder.container(keyedBy: PathKey.self)
        for name in container.allKeys {
            // An entry that the default has too is filled in and replaced like a property.
            let replacement = self.part(name.stringValue, of: part.fallback?.tree, at: part.path)
            let path = part.path.appending(name.stringValue)
            let key = DictionaryKey.make(types[0], from: name)
            do {
                guard let key else { throw UnexpectedValue() }
                let decoder = try container.superDecoder(forKey: name)
                let inner = try? defaults?.superDecoder(forKey: name)
                let own = Fallback(decoder: inner, tree: replacement?.tree)
                let entry = Part(decoder: decoder, fallback: own ?? initial, path: path)
                try add([key, decode(types[1], of: entry)])
            } catch {
                if let key, replacement != nil, let value = try? defaults?.decode(types[1], forKey: name) {
                    try add([key, value])
                }
                replace(path, by: replacement, because: error)
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

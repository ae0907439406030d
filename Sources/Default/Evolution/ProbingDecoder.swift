/// A decoder that replaces the parts that can't be used; see ``Probe``.
struct ProbingDecoder: Decoder {
    let base: any Decoder
    let level: ProbedLevel
    let fallback: Probe.Fallback?
    let path: StoredTree.Path

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(
            ProbingContainer(
                base: try base.container(keyedBy: type),
                defaults: try? fallback?.decoder.container(keyedBy: type),
                level: level,
                tree: fallback?.tree,
                path: path
            )
        )
    }

    // What is in it has no names, so it is used as a whole or not at all. Arrays and sets are probed by their own type.
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try base.unkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ProbingValue(base: try base.singleValueContainer(), decoder: self)
    }
}

extension ProbingDecoder {
    /// Decodes the parts of a value that can't be decoded as a whole.
    ///
    /// The default value may be of another type than the one that is tried, so a type's own comes first.
    fileprivate func decodeParts(
        _ type: any Decodable.Type,
        because error: any Error,
        isTrial: Bool
    ) throws -> any Decodable {
        let fallback = isTrial && type is any DefaultProviding.Type ? nil : fallback
        return try level.probe.decodeParts(type, from: base, fallback: fallback, at: path, because: error)
    }
}

/// The container of a value that wraps another one.
private struct ProbingValue: SingleValueDecodingWrapper {
    let base: any SingleValueDecodingContainer
    let decoder: ProbingDecoder

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try typed(decodePart(type))
    }

    private func decodePart(_ type: any Decodable.Type) throws -> any Decodable {
        try decoder.level.part(
            type,
            at: .init(path: decoder.path, isWhole: true),
            exactly: { try base.decode(type) },
            fillingIn: ValueSemantics.isLeaf(type)
                ? nil
                : { try decoder.decodeParts(type, because: $0, isTrial: $1) }
        )
    }
}

/// A keyed container, beside that of the default value.
private struct ProbingContainer<Key: CodingKey>: KeyedDecodingWrapper {
    let base: KeyedDecodingContainer<Key>
    let defaults: KeyedDecodingContainer<Key>?
    let level: ProbedLevel
    /// The default value.
    let tree: StoredTree?
    let path: StoredTree.Path

    var codingPath: [any CodingKey] { base.codingPath }

    var allKeys: [Key] {
        let stored = base.allKeys
        let names = Set(stored.map(\.stringValue))
        let added = defaults?.allKeys.filter { !names.contains($0.stringValue) && isReplaced($0) } ?? []
        return stored.filter { !isReplaced($0) || defaults?.contains($0) ?? false } + added
    }

    func contains(_ key: Key) -> Bool {
        level.takeBackGuess(at: path + [key.stringValue])
        return source(of: key)?.contains(key) ?? false
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try attempt(key) {
            try $0.decodeNil(forKey: key)
        } else: {
            try base.decodeNil(forKey: key)
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try typed(decodeAny(type, forKey: key))
    }

    private func decodeAny(_ type: any Decodable.Type, forKey key: Key) throws -> any Decodable {
        do {
            return try attempt(key, as: type) {
                try $0.decode(type, forKey: key)
            } else: {
                try level.isOpened(path + [key.stringValue])
                    ? type.init(from: part(key)) : decodePart(type, forKey: key)
            }
        } catch {
            if level.isImpatient {
                removeOthers(thatAreNo: type)
            }
            throw error
        }
    }

    private func decodePart(_ type: any Decodable.Type, forKey key: Key) throws -> any Decodable {
        try level.part(
            type,
            at: place(key),
            exactly: { try base.decode(type, forKey: key) },
            fillingIn: ValueSemantics.isLeaf(type) || !base.contains(key)
                ? nil
                : { try part(key).decodeParts(type, because: $0, isTrial: $1) }
        )
    }

    /// Removes the parts that can't be decoded as a type, of those that the initializer has not got to.
    ///
    /// An initializer that goes through all keys gets no further than the first part that it can't use and that the default
    /// doesn't have. It would have to be called once for each.
    private func removeOthers(thatAreNo type: any Decodable.Type) {
        for key in base.allKeys where replacement(key.stringValue) == nil && !level.isKnown(place(key)) {
            do {
                _ = try decodePart(type, forKey: key)
            } catch {
                level.guess(.init(place: place(key), error: error, replacement: nil, isReplaceable: true), from: type)
            }
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try attempt(key) {
            try $0.nestedContainer(keyedBy: type, forKey: key)
        } else: {
            KeyedDecodingContainer(
                ProbingContainer<NestedKey>(
                    base: try base.nestedContainer(keyedBy: type, forKey: key),
                    defaults: try? defaults?.nestedContainer(keyedBy: type, forKey: key),
                    level: level,
                    tree: defaultTree(key),
                    path: path + [key.stringValue]
                )
            )
        }
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try attempt(key) {
            try $0.nestedUnkeyedContainer(forKey: key)
        } else: {
            try base.nestedUnkeyedContainer(forKey: key)
        }
    }

    func superDecoder() throws -> any Decoder {
        let name = "super"
        guard !level.isReplaced(path + [name]) else {
            return try (defaults ?? base).superDecoder()
        }
        return ProbingDecoder(
            base: try base.superDecoder(),
            level: level,
            fallback: .init(decoder: try? defaults?.superDecoder(), tree: defaultTree(name)),
            path: path + [name]
        )
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try attempt(key) {
            try $0.superDecoder(forKey: key)
        } else: {
            try part(key)
        }
    }

    // MARK: Parts

    private func place(_ key: Key) -> ProbedLevel.Place {
        .init(path: path + [key.stringValue], isWhole: false)
    }

    private func isReplaced(_ key: Key) -> Bool {
        level.isReplaced(path + [key.stringValue])
    }

    /// The container that a key's value comes from.
    private func source(of key: Key) -> KeyedDecodingContainer<Key>? {
        isReplaced(key) ? defaults : base
    }

    private func defaultTree(_ key: Key) -> StoredTree? {
        defaultTree(key.stringValue)
    }

    private func defaultTree(_ name: String) -> StoredTree? {
        replacement(name)?.tree
    }

    private func replacement(_ name: String) -> TreeEdits.Replacement? {
        tree.flatMap { level.probe.part(name, of: $0, at: path) }
    }

    /// The decoder of a part, which replaces parts of that part.
    private func part(_ key: Key) throws -> ProbingDecoder {
        ProbingDecoder(
            base: try base.superDecoder(forKey: key),
            level: level,
            fallback: .init(decoder: try? defaults?.superDecoder(forKey: key), tree: defaultTree(key)),
            path: path + [key.stringValue]
        )
    }

    /// Gets a part from the default value if it is replaced, otherwise from the stored one, and records it if it fails.
    private func attempt<Part>(
        _ key: Key,
        as type: Any.Type = Part.self,
        fromDefault: (KeyedDecodingContainer<Key>) throws -> Part,
        else fromStored: () throws -> Part
    ) throws -> Part {
        func partOfDefault() throws -> Part {
            guard let defaults else {
                throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "It was removed."))
            }
            return try fromDefault(defaults)
        }
        level.takeBackGuess(at: path + [key.stringValue], unlessFrom: type)
        guard !isReplaced(key) else {
            return try partOfDefault()
        }
        do {
            return try fromStored()
        } catch {
            let replacement = self.replacement(key.stringValue)
            let isReplacedNow = level.note(
                .init(
                    place: place(key),
                    error: error,
                    replacement: replacement,
                    isReplaceable: replacement != nil || base.contains(key)
                )
            )
            guard isReplacedNow else {
                throw error
            }
            return try partOfDefault()
        }
    }
}

/// One value whose parts are decoded one by one, because it can't be decoded as it is; see ``FaultFinder``.
///
/// The value's initializer is called again after each part that it needs and that can't be used, with that part filled in or,
/// if that isn't possible, replaced. So it gets every error once, and can handle it. After four errors it gets no more that
/// can be avoided, so that the number of calls is limited.
///
/// If it rejects parts each of which can be decoded, one of them is replaced, where that is enough. Otherwise the value can't
/// be used as a whole. It can't be known which of several types a part was meant as, so such a part is not filled in.
final class RepairedValue {
    /// A part that can't be used, and whether there is anything to replace or to remove.
    fileprivate typealias Fault = (part: RepairedPart, error: any Error, isReplaceable: Bool)

    fileprivate let finder: FaultFinder
    private let type: any Decodable.Type
    private let part: FaultFinder.Part

    /// The parts that are replaced, in order.
    private var replaced: [RepairedPart] = []
    /// The last part that failed during the current call.
    fileprivate var fault: Fault?
    private var calls = 0

    /// The number of calls after which parts are replaced without the initializer getting their errors.
    private static let callsWithErrors = 4
    private static let maximumCalls = 64

    init(_ type: any Decodable.Type, _ part: FaultFinder.Part, finder: FaultFinder) {
        (self.type, self.part, self.finder) = (type, part, finder)
    }

    func decode() throws -> any Decodable {
        let whole = RepairedPart(of: self, at: part.path, fallback: part.fallback)
        // The parts refer to this object.
        defer { (replaced, fault) = ([], nil) }
        do {
            return try callRepairing(whole)
        } catch {
            guard let fallback = part.fallback, let stored = try? part.decoder.container(keyedBy: PathKey.self)
            else { throw error }
            // What is missing first: to fill it in loses nothing.
            let names = stored.allKeys.map(\.stringValue).inOrder()
            let missing = fallback.container.allKeys.map(\.stringValue).inOrder()
            let known = replaced.count
            for name in missing.filter({ !names.contains($0) }) + names.reversed()
            where !whole.part(name).isReplaced {
                while replaced.count > known {
                    replaced.removeLast().rejection = nil
                }
                replace(whole.part(name), because: error)
                if calls < Self.maximumCalls, let value = try? callRepairing(whole) { return value }
            }
            throw error
        }
    }

    /// Calls the initializer, and again after each part that can be repaired.
    private func callRepairing(_ whole: RepairedPart) throws -> any Decodable {
        while true {
            calls += 1
            fault = nil
            do {
                let value = try type.init(from: ForwardingDecoder(base: part.decoder, hooks: whole))
                // A case's values belong together.
                if let error = replaced.first?.rejection, Mirror(reflecting: value).displayStyle == .enum {
                    throw error
                }
                for part in replaced {
                    finder.replace(part.path, by: part.replacement, because: part.rejection ?? UnexpectedValue())
                }
                return value
            } catch {
                guard calls < Self.maximumCalls, let fault, repair(fault) else { throw fault?.error ?? error }
            }
        }
    }

    /// Lets the next call get a part filled in or, if that was tried, replaced.
    private func repair(_ fault: Fault) -> Bool {
        if !fault.part.isFilledIn, fault.part.candidateCount == 1 {
            fault.part.isFilledIn = true
            return true
        }
        guard fault.isReplaceable, !fault.part.isReplaced else { return false }
        replace(fault.part, because: fault.error)
        return true
    }

    fileprivate func replace(_ part: RepairedPart, because error: any Error) {
        part.rejection = error
        replaced.append(part)
    }

    fileprivate var isLenient: Bool { calls > Self.callsWithErrors }
}

/// A part of a value, or the whole value, and what is known of it from earlier calls of the initializer.
///
/// The initializer gets parts of the default value in place of those that can't be used.
private final class RepairedPart: DecodingHooks {
    let path: StoredTree.Path
    /// What takes its place; nil when it is removed.
    let replacement: TreeEdits.Replacement?
    /// Why it is replaced; nil while it isn't.
    var rejection: (any Error)?
    var isFilledIn = false
    /// The number of types that it could be filled in as.
    private(set) var candidateCount = 0

    private let value: RepairedValue
    private let fallback: FaultFinder.Fallback?
    private var outcomes: [(type: any Decodable.Type, result: Result<any Decodable, any Error>)] = []
    private var parts: [String: RepairedPart] = [:]
    /// Elements are decoded by their container's type, or not replaced.
    private var isUnkeyed = false

    init(
        of value: RepairedValue,
        at path: StoredTree.Path,
        fallback: FaultFinder.Fallback?,
        replacement: TreeEdits.Replacement? = nil
    ) {
        (self.value, self.path, self.fallback, self.replacement) = (value, path, fallback, replacement)
    }

    var isReplaced: Bool { rejection != nil }

    func part(_ name: String) -> RepairedPart {
        if let part = parts[name] { return part }
        let replacement = value.finder.part(name, of: fallback?.tree, at: path)
        let inner = fallback?.part(name, replacement)
        let part = RepairedPart(of: value, at: path.appending(name), fallback: inner, replacement: replacement)
        parts[name] = part
        return part
    }

    // MARK: What the initializer gets

    override func opened(isKeyed: Bool) { isUnkeyed = !isKeyed }

    override func names(among stored: [String]) -> [String]? {
        let replaced = Array(parts.keys).inOrder().filter { parts[$0]?.isReplaced == true }
        guard !replaced.isEmpty else { return nil }
        let added = replaced.filter { parts[$0]?.replacement != nil }
        return stored.filter { !replaced.contains($0) } + added
    }

    override func contains(_ stored: Part) -> Bool {
        guard let part = parts[stored.name ?? ""], part.isReplaced else { return stored.isStored() }
        return part.replacement != nil
    }

    override func substitute(for stored: Part, because error: (any Error)?) throws -> (any Decoder)? {
        let name = stored.name ?? ""
        let part = part(name)
        let isReplaced = part.isReplaced || error.map { note(part, $0, isStored: stored.isStored) } ?? false
        return isReplaced ? try defaultPart(name) : nil
    }

    override func inside(_ name: String) -> DecodingHooks { part(name) }

    override func decode(_ type: any Decodable.Type, _ stored: Part) throws -> any Decodable {
        let part = stored.name.map { self.part($0) } ?? self
        if part === self || !part.isReplaced {
            do {
                return try part.decodeOnce(type, stored)
            } catch {
                guard note(part, error, isStored: stored.isStored) else { throw error }
            }
        }
        return try defaultPart(stored.name ?? "").singleValueContainer().decode(type)
    }

    /// Decodes this part, once for all calls.
    ///
    /// - Throws: The error of the first attempt to decode it.
    private func decodeOnce(_ type: any Decodable.Type, _ stored: Part) throws -> any Decodable {
        let index = outcomes.firstIndex { $0.type == type } ?? outcomes.endIndex
        let isFillable = !ValueSemantics.isLeaf(type) && stored.isStored()
        if index == outcomes.endIndex {
            outcomes.append((type, Result { try stored.decode(type) }))
            if case .failure = outcomes[index].result, isFillable {
                candidateCount += 1
            }
        }
        guard case .failure(let error) = outcomes[index].result else { return try outcomes[index].result.get() }
        let finder = value.finder
        guard isFilledIn || value.isLenient, candidateCount == 1, isFillable,
            let decoder = try? stored.decoder(),
            case let part = FaultFinder.Part(decoder: decoder, fallback: fallback, path: path),
            let value = try? finder.attempt({ try finder.decodeParts(of: part, as: type, because: error) })
        else { throw error }
        outcomes[index].result = .success(value)
        return value
    }

    /// Records that a part can't be used.
    ///
    /// - Returns: Whether it is replaced at once.
    private func note(_ part: RepairedPart, _ error: any Error, isStored: () -> Bool) -> Bool {
        // The whole value is replaced by what it is a part of.
        let isPart = part !== self
        let isReplaceable = isPart && !isUnkeyed && (part.replacement != nil || isStored())
        value.fault = (part, error, isReplaceable)
        guard isPart, value.isLenient, part.replacement != nil else { return false }
        value.replace(part, because: error)
        return true
    }

    private func defaultPart(_ name: String) throws -> any Decoder {
        let key = PathKey(stringValue: name)
        guard let fallback, fallback.container.contains(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "It was removed."))
        }
        return try fallback.container.superDecoder(forKey: key)
    }
}

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
        for name in container.allKeys {
            // An entry that the default has too is filled in and replaced like a property.
            let replacement = self.part(name.stringValue, of: part.fallback?.tree, at: part.path)
            let path = part.path.appending(name.stringValue)
            let key = DictionaryKey.make(types[0], from: name)
            do {
                guard let key else { throw UnexpectedValue() }
                let decoder = try container.superDecoder(forKey: name)
                let own = part.fallback?.part(name.stringValue, replacement)
                let entry = Part(decoder: decoder, fallback: own ?? initial, path: path)
                try add([key, decode(types[1], of: entry)])
            } catch {
                let value = try? part.fallback?.container.decode(types[1], forKey: name)
                if let key, let value, replacement != nil {
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
        if type == String.self { return name.stringValue }
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

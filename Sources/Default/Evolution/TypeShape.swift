internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The requests of a type to a decoder: the names of its properties, and the types of those that have parts.
///
/// It is found out by decoding the type's default value.
final class TypeShape: DecodingHooks {
    /// The type; nil for a container that is decoded without one.
    let type: (any Decodable.Type)?
    private(set) var isKeyed = false
    /// The coding keys that are asked for.
    private(set) var names: Set<String> = []
    /// By name, also of optional properties that the default value doesn't have.
    private(set) var parts: [String: TypeShape] = [:]

    private init(_ type: (any Decodable.Type)?) { self.type = type }

    private static let known = PerProcess { Locked<[ObjectIdentifier: TypeShape?]>([:]) }

    /// The shape of a type; nil without a default value that can be encoded and decoded.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - coder: The coder.
    ///   - initial: A value to decode if the type has no default value of its own.
    /// - Returns: The shape.
    static func of(
        _ type: any Decodable.Type,
        coder: DefaultsCoder,
        default initial: (any Encodable)? = nil
    ) -> TypeShape? {
        // The built-in coders are asked for the same names, while a custom one may convert them.
        guard coder.isBuiltIn, let provider = type as? any DefaultProviding.Type else {
            return make(type, coder: coder, default: initial)
        }
        let id = ObjectIdentifier(type)
        if let shape = known.current.withLock({ $0[id] }) { return shape }
        let shape = make(provider, coder: coder, default: initial)
        known.current.withLock { $0[id] = .some(shape) }
        return shape
    }

    private static func make(
        _ type: any Decodable.Type,
        coder: DefaultsCoder,
        default initial: (any Encodable)?
    ) -> TypeShape? {
        guard let value = ownDefault(of: type) ?? initial,
            let data = try? coder.encodeTopLevel(value)
        else { return nil }
        let shape = TypeShape(type)
        let decoded = try? coder.withDecoder(for: data) { try shape.decode(type, from: $0) }
        return decoded == nil ? nil : shape
    }

    private func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        if ValueSemantics.isLeaf(type) || type is any StoredCollection.Type {
            return try decoder.singleValueContainer().decode(type)
        }
        return try type.init(from: ForwardingDecoder(base: decoder, hooks: self))
    }

    // MARK: Recording

    override func opened(isKeyed: Bool) { self.isKeyed = self.isKeyed || isKeyed }

    override func contains(_ part: Part) -> Bool {
        if let name = part.name { names.insert(name) }
        return part.isStored()
    }

    override func substitute(for part: Part, because error: (any Error)?) throws -> (any Decoder)? {
        _ = contains(part)
        return nil
    }

    override func inside(_ name: String) -> DecodingHooks { part(name, nil) }

    override func expects(_ type: any Decodable.Type, _ part: Part) {
        guard let name = part.name else { return }
        names.insert(name)
        if !ValueSemantics.isLeaf(nonOptional(type)) { _ = self.part(name, type) }
    }

    override func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable {
        expects(type, part)
        guard part.isStored() else { return try part.decode(type) }
        let shape = part.name == nil ? self : part.name.flatMap { parts[$0] }
        return try shape?.decode(type, from: part.decoder()) ?? part.decode(type)
    }

    private func part(_ name: String, _ type: (any Decodable.Type)?) -> TypeShape {
        if let part = parts[name] { return part }
        let part = TypeShape(type)
        parts[name] = part
        return part
    }
}

extension TypeShape {
    private static let knownProviders = PerProcess { Locked<[ObjectIdentifier: [any DefaultProviding.Type]]>([:]) }

    /// The types that may state names for what is in a type's values: itself, and the types of properties, of elements,
    /// and of what is in those.
    ///
    /// They are looked up in the default values, with no coder.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - initial: A value of it, if it has no default value of its own.
    /// - Returns: The types that have default values; found out once for each type.
    static func providers(
        in type: any Decodable.Type,
        default initial: @autoclosure () -> Any?
    ) -> [any DefaultProviding.Type] {
        let id = ObjectIdentifier(type)
        if let known = knownProviders.current.withLock({ $0[id] }) { return known }
        var found: [any DefaultProviding.Type] = []
        var visited: Set<ObjectIdentifier> = []
        func add(_ type: Any.Type) {
            guard let type = (type as? any Decodable.Type).map(nonOptional), !ValueSemantics.isLeaf(type) else {
                return
            }
            if let collection = type as? any StoredCollection.Type { return collection.partTypes.forEach(add) }
            guard let provider = type as? any DefaultProviding.Type, !found.contains(where: { $0 == type }) else {
                return
            }
            found.append(provider)
            ownDefault(of: type).map { addParts(of: Mirror(reflecting: $0)) }
        }
        func addParts(of mirror: Mirror) {
            // Objects may refer to each other in a circle.
            if mirror.displayStyle == .class, !visited.insert(ObjectIdentifier(mirror.subjectType)).inserted { return }
            for (_, part) in mirror.children where !ValueSemantics.isLeaf(Swift.type(of: part)) {
                add(Swift.type(of: part))
                let parts = Mirror(reflecting: part)
                // What has its own default is added with it, and of a collection the types of the elements are enough.
                // The values of an enum's case are in a tuple.
                if part is any Decodable || parts.displayStyle == .tuple, !(part is any DefaultProviding),
                    !(part is any StoredCollection)
                {
                    addParts(of: parts)
                }
            }
            mirror.superclassMirror.map(addParts(of:))
        }
        add(type)
        let value = found.isEmpty ? initial() : nil
        value.map { addParts(of: Mirror(reflecting: $0)) }
        // Another key of the type may have a default value.
        if value != nil || !found.isEmpty { knownProviders.current.withLock { $0[id] = found } }
        return found
    }
}

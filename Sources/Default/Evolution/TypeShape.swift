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
    static func of(_ type: any Decodable.Type, coder: DefaultsCoder) -> TypeShape? {
        // The built-in coders are asked for the same names, while a custom one may convert them.
        guard coder.isBuiltIn else { return make(type, coder: coder) }
        let id = ObjectIdentifier(type)
        if let shape = known.current.withLock({ $0[id] }) { return shape }
        let shape = make(type, coder: coder)
        known.current.withLock { $0[id] = .some(shape) }
        return shape
    }

    private static func make(_ type: any Decodable.Type, coder: DefaultsCoder) -> TypeShape? {
        func encoded<Provider: DefaultProviding>(_ type: Provider.Type) -> Data? {
            type.defaultValue.flatMap { try? coder.encodeTopLevel($0) }
        }
        guard let provider = type as? any DefaultProviding.Type, let data = encoded(provider) else { return nil }
        let shape = TypeShape(type)
        let value = try? coder.withDecoder(for: data) { try shape.decode(type, from: $0) }
        return value == nil ? nil : shape
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
    private static let knownTypes = PerProcess { Locked<[ObjectIdentifier: [any Decodable.Type]]>([:]) }

    /// The types of what is in a type's values: of properties, of elements, and of what is in those.
    ///
    /// They are looked up in the default values, with no coder.
    static func types(in type: any Decodable.Type) -> [any Decodable.Type] {
        let id = ObjectIdentifier(type)
        if let types = knownTypes.current.withLock({ $0[id] }) { return types }
        var types: [any Decodable.Type] = []
        func add(_ part: Any.Type) {
            guard let part = (part as? any Decodable.Type).map(nonOptional), !ValueSemantics.isLeaf(part) else {
                return
            }
            if let collection = part as? any StoredCollection.Type {
                return collection.partTypes.forEach(add)
            }
            guard part != type, !types.contains(where: { $0 == part }) else { return }
            types.append(part)
            addParts(of: part)
        }
        func addParts(of type: any Decodable.Type) {
            func value<Provider: DefaultProviding>(of type: Provider.Type) -> Any? { type.defaultValue }
            guard let provider = type as? any DefaultProviding.Type, let value = value(of: provider) else { return }
            addParts(of: Mirror(reflecting: value))
        }
        func addParts(of mirror: Mirror) {
            for (_, part) in mirror.children {
                let type = Swift.type(of: part)
                add(type)
                // A struct without its own default.
                let isStruct = mirror.displayStyle != .collection && !(part is any DefaultProviding)
                if isStruct, !ValueSemantics.isLeaf(type) {
                    addParts(of: Mirror(reflecting: part))
                }
            }
            mirror.superclassMirror.map(addParts(of:))
        }
        addParts(of: type)
        knownTypes.current.withLock { $0[id] = types }
        return types
    }
}

internal import DefaultJournal

extension KnownKeys {
    private static let shapes = PerProcess { Locked<[ObjectIdentifier: KnownKeys?]>([:]) }

    /// The shape of a type: the names of its properties, and the types of those that have parts.
    ///
    /// It is found out by decoding the type's default value.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - coder: The coder.
    ///   - initial: A value to decode if the type has no default value of its own.
    /// - Returns: The shape; nil without a default value that can be encoded and decoded.
    static func shape(
        of type: any Decodable.Type,
        coder: DefaultsCoder,
        default initial: (any Encodable)? = nil
    ) -> KnownKeys? {
        // The built-in coders are asked for the same names, while a custom one may convert them.
        let isRemembered = coder.isBuiltIn && type is any DefaultProviding.Type
        let id = ObjectIdentifier(type)
        if isRemembered, let shape = shapes.current.withLock({ $0[id] }) { return shape }
        let data = (ownDefault(of: type) ?? initial).flatMap { try? coder.encodeTopLevel($0) }
        let shape = data.flatMap { recorded(type, from: $0, coder: coder, for: .shape) }
        if isRemembered { shapes.current.withLock { $0[id] = .some(shape) } }
        return shape
    }
}

extension KnownKeys {
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

/// Which call failed when a value was decoded.
struct DecodingFault {
    /// The coding keys, or indexes, that lead from the value to the innermost one whose decoding failed.
    let names: [String]
    /// The types of the values on that way, those of the whole value first.
    ///
    /// A value that is coded as another one has several, the outermost first; a container that is decoded without a
    /// type has none.
    let types: [[any Decodable.Type]]
    let error: any Error
    /// The coding keys by which the error names what couldn't be decoded, from the value on; empty if it names nothing.
    let codingPath: [any CodingKey]

    /// - Parameters:
    ///   - names: The coding keys, or indexes, that lead to the innermost value.
    ///   - types: The types on that way.
    ///   - error: Its error.
    ///   - depth: The number of coding keys in the error that lead to the value.
    init(names: [String], types: [[any Decodable.Type]], error: any Error, depth: Int) {
        (self.names, self.types, self.error) = (names, types, error)
        type = types[names.count].last
        codingPath = Array((DefaultsError.codingPath(of: error) ?? []).dropFirst(depth))
    }

    /// The fault of a collection that can't do without an element.
    init(of collection: DecodingFault, because element: ElementFault) {
        names = collection.names
        types = collection.types
        error = element.fault.error
        type = element.fault.type
        // The error of the collection distinguishes names from indexes.
        let isNamed = collection.codingPath.count >= names.count
        let path: [any CodingKey] =
            isNamed ? Array(collection.codingPath.prefix(names.count)) : names.map { PathKey(stringValue: $0) }
        codingPath = path + [PathKey(intValue: element.index)] + element.fault.codingPath
    }

    /// The type of the innermost value whose decoding failed; nil if it isn't known.
    let type: (any Decodable.Type)?
    /// Whether the error is of an initializer's own, which may depend on more than the bytes.
    var isOwnError: Bool { !(error is DecodingError || error is UnexpectedValue) }

    /// Whether an object's initializer, such as that of an enum with cases for keys, doesn't accept its keys as a
    /// whole.
    var isOfKeys: Bool {
        guard case DecodingError.typeMismatch(let type, _) = error, let own = self.type else { return false }
        return type == own && !ValueSemantics.isLeaf(own)
    }

}

/// Decodes a value, and finds out which call of an initializer on the way failed.
///
/// Where an error comes from is known from the call that threw it, so it may be of any type and have any path.
/// Collections are decoded as they are: to look into them is a matter of ``StoredElements``, and Foundation's decoder
/// has its own rules for the keys of dictionaries.
final class DecodingTrace {
    /// The innermost value that failed, in the last call of the outermost initializer that failed.
    private var innermost: TracedValue?

    /// Why a decoder's value can't be decoded; nil when it can.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - decoder: The decoder.
    ///   - depth: The number of coding keys in errors that lead to the value.
    /// - Returns: The fault.
    static func fault(of type: any Decodable.Type, from decoder: any Decoder, depth: Int) -> DecodingFault? {
        let trace = DecodingTrace()
        let whole = TracedValue(trace, in: nil, name: nil, type: type)
        do {
            _ = try whole.decode(type, from: decoder)
            return nil
        } catch {
            return (trace.innermost ?? whole).fault(error, depth: depth)
        }
    }

    /// Notes that a value failed, unless that is because one in it did.
    fileprivate func noteFailure(of value: TracedValue) {
        var known = innermost
        while let inner = known {
            if inner === value { return }
            known = inner.container
        }
        innermost = value
    }

    /// Forgets the failures that an initializer has handled.
    fileprivate func forgetFailures() { innermost = nil }
}

/// A value that is being decoded.
private final class TracedValue: DecodingHooks {
    let container: TracedValue?
    private let trace: DecodingTrace
    private let name: String?
    private let type: (any Decodable.Type)?

    init(_ trace: DecodingTrace, in container: TracedValue?, name: String?, type: (any Decodable.Type)?) {
        (self.trace, self.container, self.name, self.type) = (trace, container, name, type)
    }

    /// The fault with this as the innermost value.
    func fault(_ error: any Error, depth: Int) -> DecodingFault {
        var names: [String] = []
        var types: [[any Decodable.Type]] = []
        // A single-value container has a value in the same place.
        var typesHere: [any Decodable.Type] = []
        var next: TracedValue? = self
        while let value = next {
            if let type = value.type { typesHere.insert(type, at: 0) }
            if let name = value.name {
                names.append(name)
                types.append(typesHere)
                typesHere = []
            }
            next = value.container
        }
        types.append(typesHere)
        return DecodingFault(names: names.reversed(), types: types.reversed(), error: error, depth: depth)
    }

    private static func isDecodedAsWhole(_ type: any Decodable.Type) -> Bool {
        ValueSemantics.isLeaf(type) || type is any StoredCollection.Type
    }

    func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        if Self.isDecodedAsWhole(type) { return try decoder.singleValueContainer().decode(type) }
        return try type.init(from: ForwardingDecoder(base: decoder, hooks: self))
    }

    override func inside(_ name: String) -> DecodingHooks { TracedValue(trace, in: self, name: name, type: nil) }

    override func substitute(for part: Part, because error: (any Error)?) throws -> (any Decoder)? {
        if error != nil {
            trace.noteFailure(of: TracedValue(trace, in: self, name: part.name, type: nil))
        }
        return nil
    }

    override func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable {
        trace.forgetFailures()
        let value = TracedValue(trace, in: self, name: part.name, type: type)
        do {
            guard part.isStored(), !Self.isDecodedAsWhole(type) else { return try part.decode(type) }
            return try value.decode(type, from: part.decoder())
        } catch {
            trace.noteFailure(of: value)
            throw error
        }
    }
}

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
    /// The keys by which the error names what couldn't be decoded, from the value on, indexes in brackets; empty if it
    /// names nothing.
    let path: [String]

    /// - Parameters:
    ///   - names: The coding keys, or indexes, that lead to the innermost value.
    ///   - types: The types on that way.
    ///   - error: Its error.
    ///   - depth: The number of coding keys in the error that lead to the value.
    init(names: [String], types: [[any Decodable.Type]], error: any Error, depth: Int) {
        (self.names, self.types, self.error) = (names, types, error)
        type = types[names.count].last
        path = LoadReport.keys(of: (DefaultsError.codingPath(of: error) ?? []).dropFirst(depth))
    }

    /// The fault of a collection that can't do without an element.
    init(of collection: DecodingFault, because element: DecodingFault, at index: Int) {
        (names, types) = (collection.names, collection.types)
        (error, type) = (element.error, element.type)
        // The error of the collection distinguishes names from indexes.
        let start = collection.path.prefix(names.count)
        path = (start.count == names.count ? Array(start) : names) + [StoredTree.key(of: index)] + element.path
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
final class DecodingTrace: DecodingHooks {
    /// What the values of one decoding share.
    private final class Failure {
        /// The innermost value that failed, in the last call of the outermost initializer that failed.
        var innermost: DecodingTrace?
    }

    /// Where this value is, and of which types it and those around it are; see ``DecodingFault``.
    private let names: [String]
    private let types: [[any Decodable.Type]]
    private let failure: Failure

    private init(_ names: [String], _ types: [[any Decodable.Type]], _ failure: Failure) {
        (self.names, self.types, self.failure) = (names, types, failure)
    }

    /// Why a decoder's value can't be decoded; nil when it can.
    static func fault(of type: any Decodable.Type, from decoder: any Decoder, depth: Int) -> DecodingFault? {
        let whole = DecodingTrace([], [[type]], Failure())
        do {
            _ = try whole.decode(type, from: decoder)
            return nil
        } catch {
            let value = whole.failure.innermost ?? whole
            return DecodingFault(names: value.names, types: value.types, error: error, depth: depth)
        }
    }

    /// A value in this one; without a name, one in the same place.
    private func value(_ name: String?, _ type: (any Decodable.Type)? = nil) -> DecodingTrace {
        var (names, types) = (names, types)
        if let name {
            names.append(name)
            types.append([])
        }
        if let type { types[names.count].append(type) }
        return DecodingTrace(names, types, failure)
    }

    private static func isDecodedAsWhole(_ type: any Decodable.Type) -> Bool {
        ValueSemantics.isLeaf(type) || type is any StoredCollection.Type
    }

    private func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        if Self.isDecodedAsWhole(type) { return try decoder.singleValueContainer().decode(type) }
        return try type.init(from: ForwardingDecoder(base: decoder, hooks: self))
    }

    override func inside(_ name: String) -> DecodingHooks { value(name) }

    override func failed(_ name: String) { failure.innermost = value(name) }

    override func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable {
        // What an initializer has handled is forgotten, so what is noted after this call is in the value.
        failure.innermost = nil
        let value = value(part.name, type)
        do {
            guard part.isStored(), !Self.isDecodedAsWhole(type) else { return try part.decode(type) }
            return try value.decode(type, from: part.decoder())
        } catch {
            failure.innermost = failure.innermost ?? value
            throw error
        }
    }
}

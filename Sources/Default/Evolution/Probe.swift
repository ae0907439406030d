internal import Foundation

/// Finds out in one pass which parts of stored bytes a type can't use.
///
/// The type is decoded by a decoder that goes on after an error, with the part of a default value that is in the same place.
/// Where an error comes from is known from the call that threw it, so it may be of any type and have any path. Only the
/// findings are used: the value itself is decoded again, from bytes that were changed accordingly.
///
/// A part is tried as it is first, so an initializer that handles errors itself gets them.
final class Probe {
    /// What has to be changed before the type can be decoded.
    private(set) var edits = TreeEdits()
    /// Whether a part is filled in as one of several types.
    private(set) var isTrial = false
    /// Whether the findings depend on nothing but the bytes, as far as the errors show.
    private(set) var isRepeatable = true

    private let coder: DefaultsCoder
    private let keys: StoredKeys

    /// Deeper values are used as a whole or not at all.
    private static let maximumDepth = 128

    init(coder: DefaultsCoder, format: StoredTree.Format) {
        self.coder = coder
        keys = StoredKeys(coder: coder, format: format)
    }

    /// A default value, or the part of it that is in the same place as a stored part.
    struct Fallback {
        let decoder: any Decoder
        let tree: StoredTree

        /// Fails for anything but a keyed container, which has no parts to take.
        init?(decoder: (any Decoder)?, tree: StoredTree?) {
            guard let decoder, let tree, tree.fields != nil else {
                return nil
            }
            self.decoder = decoder
            self.tree = tree
        }
    }

    /// Decodes stored bytes as far as possible.
    ///
    /// - Returns: Whether a value could be made of them, with ``edits``.
    func run<Value: Codable>(_ type: Value.Type, on data: Data, fallback: Value?) -> Bool {
        var isUsable = false
        let run = { (fallback: Fallback?) in
            self.coder.withDecoder(for: data) { decoder in
                isUsable = (try? self.decodeParts(Value.self, from: decoder, fallback: fallback, at: [])) != nil
            }
        }
        if let fallback {
            withFallback(fallback, run)
        } else {
            run(nil)
        }
        return isUsable
    }

    /// Decodes a value; if that fails, its parts.
    ///
    /// - Throws: The error of the first part that can't be replaced.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        from decoder: any Decoder,
        fallback: Fallback?,
        at path: StoredTree.Path
    ) throws -> Value {
        do {
            return try decoder.singleValueContainer().decode(Value.self)
        } catch {
            return try typed(decodeParts(type, from: decoder, fallback: fallback, at: path, because: error))
        }
    }

    /// Decodes the parts of a value that can't be decoded as a whole.
    ///
    /// From here on the type is erased: code that is generic to the bottom would be compiled for each integer type.
    func decodeParts(
        _ type: any Decodable.Type,
        from decoder: any Decoder,
        fallback: Fallback?,
        at path: StoredTree.Path,
        because reason: (any Error)? = nil
    ) throws -> any Decodable {
        if let reason, path.count > Self.maximumDepth || ValueSemantics.isLeaf(type) {
            throw reason
        }
        if let collection = type as? any ProbedCollection.Type {
            return try collection.decodeElements(from: decoder, fallback: fallback, at: path, by: self)
        }
        guard fallback == nil, let provider = type as? any DefaultProviding.Type else {
            return try ProbedLevel(self, fallback: fallback, path: path).decode(type, from: decoder)
        }
        return try withDefault(of: provider) { fallback in
            try ProbedLevel(self, fallback: fallback, path: path).decode(type, from: decoder)
        }
    }

    /// Records that a part has to be replaced by the default's, or removed where the default has none.
    func replace(_ path: StoredTree.Path, by replacement: TreeEdits.Replacement?, because error: any Error) {
        // An error of an initializer's own may come from elsewhere, such as a key that is not available yet.
        isRepeatable = isRepeatable && (error is DecodingError || error is UnexpectedValue)
        let reason = DecodingFault(error).reason(at: path.count)
        edits.insert(.init(replacement: replacement, reason: reason), at: path[...])
    }

    /// Collects the findings of an attempt, which count only if its outcome is used.
    ///
    /// - Parameters:
    ///   - isTrial: Whether it is one of several. In it, there are no others, since their number could grow with each level.
    ///   - attempt: The attempt.
    /// - Returns: The outcome and the findings.
    func collectingEdits<Part>(
        isTrial: Bool,
        _ attempt: () throws -> Part
    ) rethrows -> (part: Part, edits: TreeEdits) {
        let others = (edits, self.isTrial)
        (edits, self.isTrial) = (TreeEdits(), self.isTrial || isTrial)
        defer { (edits, self.isTrial) = others }
        return (try attempt(), edits)
    }

    func insert(_ findings: TreeEdits) {
        edits.insert(findings)
    }

    /// The part of a default value under a coding key.
    func part(_ key: String, of tree: StoredTree, at path: StoredTree.Path) -> TreeEdits.Replacement? {
        guard let fields = tree.fields else {
            return nil
        }
        let name = keys.storedKey(for: key, among: fields.keys, below: path)
        return fields[name].map { .init(name: name, tree: $0) }
    }

    /// Calls a body with the default value of a type or, for an optional, of the type in it; nil when it has none.
    func withDefault<Result>(of type: Any.Type, _ body: (Fallback?) throws -> Result) throws -> Result {
        let type = (type as? any ProbedOptional.Type)?.wrapped ?? type
        guard let type = type as? any DefaultProviding.Type else {
            return try body(nil)
        }
        return try withDefault(of: type, body)
    }

    private func withDefault<Provider: DefaultProviding, Result>(
        of type: Provider.Type,
        _ body: (Fallback?) throws -> Result
    ) throws -> Result {
        guard let value = Provider.defaultValue else {
            return try body(nil)
        }
        return try withoutActuallyEscaping(body) { body in
            var result: Swift.Result<Result, any Error>?
            withFallback(value) { fallback in
                result = Swift.Result { try body(fallback) }
            }
            guard let result else {
                throw CocoaError(.coderInvalidValue)
            }
            return try result.get()
        }
    }

    /// Calls a body once, with a value as it is encoded, or with nil when it can't be.
    private func withFallback<Value: Codable>(_ value: Value, _ body: @escaping (Fallback?) -> Void) {
        let data: Data
        do {
            data = try coder.encodeTopLevel(value)
        } catch {
            DefaultsDiagnostics.reportDefault(of: Value.self, .defaultNotEncodable(error, type: Value.self))
            return body(nil)
        }
        guard let (tree, format) = StoredTree.parse(data), format == keys.format else {
            return body(nil)
        }
        coder.withDecoder(for: data) { body(Fallback(decoder: $0, tree: tree)) }
    }
}

private protocol ProbedOptional {
    static var wrapped: Any.Type { get }
}

extension Optional: ProbedOptional {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Finds out in one pass which parts of stored bytes a type can't use.
///
/// Where an error comes from is known from the call that threw it, so it may be of any type and have any path. Only the
/// findings are used: the value itself is decoded again, from bytes that were changed accordingly.
///
/// A part is tried as it is first, so an initializer that handles errors itself gets them.
final class FaultFinder {
    /// What has to be changed before the type can be decoded.
    private(set) var edits = TreeEdits()
    private(set) var faultCount = 0
    /// The number of faults with an error of an initializer's own, which may depend on more than the bytes.
    private(set) var ownErrorCount = 0

    private let coder: DefaultsCoder
    private let keys: StoredKeys

    /// Deeper values are used as a whole or not at all.
    private static let maximumDepth = 128

    init(coder: DefaultsCoder, keys: StoredKeys) {
        (self.coder, self.keys) = (coder, keys)
    }

    /// A stored value, and what it is filled in from.
    final class Part {
        let decoder: any Decoder
        let fallback: Fallback?
        let path: StoredTree.Path

        init(decoder: any Decoder, fallback: Fallback?, path: StoredTree.Path) {
            (self.decoder, self.fallback, self.path) = (decoder, fallback, path)
        }
    }

    /// A default value, or the part of it that is in the same place as a stored part.
    final class Fallback {
        let decoder: any Decoder
        let tree: StoredTree

        /// Fails for anything but a keyed container, which has no parts to take.
        init?(decoder: (any Decoder)?, tree: StoredTree?) {
            guard let decoder, let tree, tree.fields != nil else { return nil }
            (self.decoder, self.tree) = (decoder, tree)
        }
    }

    /// Decodes stored bytes as far as possible.
    ///
    /// - Returns: Whether a value could be made of them, with ``edits``.
    func run(_ type: any Decodable.Type, on data: Data, default value: (any Encodable)?) -> Bool {
        let value = try? withFallback(value) { fallback in
            try coder.withDecoder(for: data) { decoder in
                try decodeParts(of: Part(decoder: decoder, fallback: fallback, path: []), as: type)
            }
        }
        return value != nil
    }

    /// Decodes a value; if that fails, its parts.
    ///
    /// - Throws: The error of the first part that can't be replaced.
    func decode(_ type: any Decodable.Type, of part: Part) throws -> any Decodable {
        do {
            return try part.decoder.singleValueContainer().decode(type)
        } catch {
            return try decodeParts(of: part, as: type, because: error)
        }
    }

    /// Decodes the parts of a value that can't be decoded as a whole.
    func decodeParts(
        of part: Part,
        as type: any Decodable.Type,
        because reason: (any Error)? = nil
    ) throws -> any Decodable {
        if let reason, part.path.count > Self.maximumDepth || ValueSemantics.isLeaf(type) {
            throw reason
        }
        if let collection = type as? any RepairableCollection.Type {
            return try collection.repaired(part, by: self)
        }
        func repaired(_ fallback: Fallback?) throws -> any Decodable {
            let part = Part(decoder: part.decoder, fallback: fallback, path: part.path)
            return try RepairedValue(type, part, finder: self).decode()
        }
        return try part.fallback == nil ? withDefault(of: type, repaired) : repaired(part.fallback)
    }

    /// Records that a part has to be replaced by the default's, or removed where the default has none.
    func replace(_ path: StoredTree.Path, by replacement: TreeEdits.Replacement?, because error: any Error) {
        faultCount += 1
        ownErrorCount += error is DecodingError || error is UnexpectedValue ? 0 : 1
        let reason = DecodingFault.reason(error, at: path.count)
        edits.insert((replacement, reason), at: path[...])
    }

    /// Forgets what was found if an attempt fails.
    func attempt(_ body: () throws -> any Decodable) throws -> any Decodable {
        let others = edits
        edits = TreeEdits()
        defer { edits = others }
        let value = try body()
        others.insert(edits)
        return value
    }

    /// The part of a default value under a coding key.
    func part(_ key: String, of tree: StoredTree?, at path: StoredTree.Path) -> TreeEdits.Replacement? {
        guard let fields = tree?.fields, let name = keys.storedKey(for: key, among: fields, below: path) else {
            return nil
        }
        return fields[name].map { (name, $0) }
    }

    /// Calls a body with the default value of a type or, for an optional, of the type in it; nil when it has none.
    func withDefault(
        of type: any Decodable.Type,
        _ body: (Fallback?) throws -> any Decodable
    ) throws -> any Decodable {
        let type = (type as? any OptionalType.Type)?.wrappedType ?? type
        func value<Provider: DefaultProviding>(of type: Provider.Type) -> (any Encodable)? { type.defaultValue }
        let value = (type as? any DefaultProviding.Type).flatMap { value(of: $0) }
        return try withFallback(value, body)
    }

    /// Calls a body with a value as it is encoded, or with nil when there is none or it can't be.
    private func withFallback(
        _ value: (any Encodable)?,
        _ body: (Fallback?) throws -> any Decodable
    ) throws -> any Decodable {
        guard let value else { return try body(nil) }
        let data: Data
        do {
            data = try coder.encodeTopLevel(value)
        } catch {
            let type = type(of: value)
            DefaultsDiagnostics.reportDefault(of: type, .defaultNotEncodable(error, type: type))
            return try body(nil)
        }
        guard let (tree, format) = StoredTree.parse(data), format == keys.format else { return try body(nil) }
        return try coder.withDecoder(for: data) { try body(Fallback(decoder: $0, tree: tree)) }
    }
}

/// Why a value can't be used, for reports.
enum DecodingFault {
    /// The reason for a value at fault, or for a container of it.
    ///
    /// - Parameters:
    ///   - error: The error of decoding it.
    ///   - depth: The number of keys that lead to the container.
    /// - Returns: A clause without stored values.
    static func reason(_ error: any Error, at depth: Int) -> String {
        let (path, reason): ([any CodingKey], String) =
            switch error {
            case DecodingError.keyNotFound(let key, let context):
                (context.codingPath + [key], "is missing")
            case DecodingError.valueNotFound(let type, let context):
                (context.codingPath, "is null, where a value of type \(type) is needed")
            case DecodingError.typeMismatch(let type, let context):
                (context.codingPath, "is not of type \(type)")
            case DecodingError.dataCorrupted(let context):
                (context.codingPath, "is malformed")
            default:
                ([], "was rejected with \(type(of: error))")
            }
        let inner = path.dropFirst(depth).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return inner.isEmpty
            ? reason : "can't be used because \(LoadReport.path(inner).debugDescription) in it \(reason)"
    }
}

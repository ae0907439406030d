#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// The way of old bytes to a value:
//
// 1. They are found under the type's identifier, or under an earlier one (`findStored`, in the folder Storable).
// 2. The version recorded beside them, if there is one for exactly these bytes, says which type they are of: the settings type
//    or one of its predecessors. Otherwise the types are tried (`SchemaRecord`; `StoredType` and `StoredBytes`, in Storable).
// 3. Properties with old names get the new ones (`Renaming`, on a `StoredTree`).
// 4. They are decoded as the type. If that works, all is done but for 8.
// 5. They are decoded part by part. What can't be used or is missing becomes an edit: replaced by the part of the default value
//    in the same place, or removed (`FaultFinder`; `RepairedValue` and `RepairableCollection` for one value each).
// 6. The edits are applied (`TreeEdits`), and the bytes are decoded once more; that value counts (`Completion`).
// 7. What was changed, and the bytes after the changes, are remembered, so that 2 to 6 happen once (`StoredForm`, in Storable).
// 8. A predecessor's value is migrated, from type to type.
//
// A write keeps what the type doesn't ask for (`KnownKeys`, `UnknownFields`), and quarantines the bytes if something else would be
// lost (`Quarantine`).

/// Fills in stored bytes that can't be decoded from a default value, so that every usable field is kept.
///
/// Only what a ``FaultFinder`` finds is taken from the default, or removed where the default has none. If all of the default's
/// fields were merged with the stored ones, entries that were deleted from a dictionary would come back, optional properties
/// that were set to nil would get a value, and one object could contain two cases of an enum.
final class Completion {
    /// The bytes that the value was decoded from.
    let bytes: Data
    /// How the value differs from the stored one.
    let report: LoadReport
    /// The number of stored values that the type doesn't know, and that are kept and not reported.
    let unknownCount: Int
    /// Whether values are stored, but none of them could be used.
    let usesNothing: Bool
    /// What the outcome depends on.
    let cause: Cause

    enum Cause {
        /// The bytes, and nothing else.
        case bytes
        /// Errors of the initializers' own, which may not be thrown the next time.
        case ownErrors
        /// Both.
        case mixed
    }

    private init(bytes: Data, report: LoadReport, unknownCount: Int, usesNothing: Bool, cause: Cause) {
        (self.bytes, self.report, self.unknownCount, self.usesNothing, self.cause) =
            (bytes, report, unknownCount, usesNothing, cause)
    }

    /// The number of times that the bytes are searched; once is enough for initializers that depend on nothing else.
    private static let maximumRounds = 3

    /// Fills in stored bytes.
    ///
    /// - Parameters:
    ///   - type: The type that they can't be decoded as.
    ///   - data: The bytes.
    ///   - fallback: The default value; nil for none.
    ///   - coder: The coder for both.
    ///   - keepsUnknownFields: Whether a write keeps the fields that the type doesn't know.
    /// - Returns: The value, and how it was made; nil when the bytes are not well-formed, or have no usable value.
    static func run(
        _ type: any Decodable.Type,
        on data: Data,
        default fallback: (any Encodable)?,
        coder: DefaultsCoder,
        keepsUnknownFields: Bool = false
    ) -> (value: any Decodable, completion: Completion)? {
        guard let (stored, format) = StoredTree.parse(data) else { return nil }
        let keys = StoredKeys(coder: coder, format: format)
        let outcome = TreeEdits()
        var (tree, bytes) = (stored, data)
        var (faults, ownErrors) = (0, 0)
        for _ in 0..<maximumRounds {
            let finder = FaultFinder(coder: coder, keys: keys)
            guard finder.run(type, on: bytes, default: fallback), !finder.edits.isEmpty,
                let edited = finder.edits.apply(to: tree, keys: keys, outcome: outcome),
                let data = edited.data(in: format)
            else { return nil }
            (tree, bytes) = (edited, data)
            (faults, ownErrors) = (faults + finder.faultCount, ownErrors + finder.ownErrorCount)
            guard let value = try? coder.decodeTopLevel(anyOf: type, from: data) else { continue }
            let unknown = UnknownFields(in: data, parsed: (edited, format), unknownTo: type, coder: coder)
            let isUsed = stored.fields?.contains { name, field in
                !field.mayBeNull && outcome.reason(forKey: name) == nil && unknown?.fields[name] == nil
            }
            let unknownPaths = (unknown?.paths ?? []).filter { !outcome.contains($0) }
            for path in unknownPaths where !keepsUnknownFields {
                outcome.insert((nil, LoadReport.UnusableValue.isUnknown), at: path)
            }
            let completion = Completion(
                bytes: data,
                report: outcome.report,
                unknownCount: keepsUnknownFields ? unknownPaths.count : 0,
                usesNothing: isUsed == false && stored.fields?.isEmpty == false,
                cause: ownErrors == 0 ? .bytes : ownErrors == faults ? .ownErrors : .mixed
            )
            return (value, completion)
        }
        return nil
    }
}

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

    init(coder: DefaultsCoder, keys: StoredKeys) { (self.coder, self.keys) = (coder, keys) }

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
        let container: KeyedDecodingContainer<PathKey>
        let tree: StoredTree

        /// Fails for anything but a keyed container, which has no parts to take.
        init?(decoder: any Decoder, tree: StoredTree) {
            guard tree.fields != nil, let container = try? decoder.container(keyedBy: PathKey.self) else { return nil }
            (self.container, self.tree) = (container, tree)
        }

        /// What a part is filled in from.
        func part(_ key: String, _ replacement: TreeEdits.Replacement?) -> Fallback? {
            let key = PathKey(stringValue: key)
            guard let tree = replacement?.tree, let decoder = try? container.superDecoder(forKey: key)
            else { return nil }
            return Fallback(decoder: decoder, tree: tree)
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
    @inline(never)
    func decode(_ type: any Decodable.Type, of part: Part) throws -> any Decodable {
        do {
            return try part.decoder.singleValueContainer().decode(type)
        } catch {
            return try decodeParts(of: part, as: type, because: error)
        }
    }

    /// Decodes the parts of a value that can't be decoded as a whole.
    @inline(never)
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
        let reason = reason(of: error, at: path.count)
        edits.insert((replacement, reason), at: path)
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
    @inline(never)
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

    /// Why a value, or a part of it, can't be used.
    ///
    /// - Parameters:
    ///   - error: The error of decoding it.
    ///   - depth: The number of keys that lead to the value.
    /// - Returns: A clause without stored values.
    private func reason(of error: any Error, at depth: Int) -> String {
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
        let inner = Array(path.dropFirst(depth))
        return inner.isEmpty
            ? reason : "can't be used because \(LoadReport.path(inner).debugDescription) in it \(reason)"
    }
}

/// Changes to a tree of stored values, by path; a change of a value takes precedence over changes of its parts.
final class TreeEdits {
    /// What takes a value's place, nil when it is removed; and why, as a clause without stored values, nil when the value was
    /// missing.
    typealias Change = (replacement: Replacement?, reason: String?)

    /// A value, and the key under which it is stored.
    typealias Replacement = (name: String, tree: StoredTree)

    private var change: Change?
    /// By coding key, or by index.
    private var parts: [String: TreeEdits] = [:]

    var isEmpty: Bool { change == nil && parts.isEmpty }

    /// Adds a change, unless there is one at this path.
    func insert(_ change: Change, at path: StoredTree.Path) {
        var edits = self
        for key in path {
            let part = edits.parts[key] ?? TreeEdits()
            edits.parts[key] = part
            edits = part
        }
        edits.change = edits.change ?? change
    }

    /// Adds changes, except where there are some.
    func insert(_ others: TreeEdits) {
        change = change ?? others.change
        for (key, part) in others.parts {
            if let own = parts[key] {
                own.insert(part)
            } else {
                parts[key] = part
            }
        }
    }

    /// Why the value under a key can't be used; nil when it can be, or was missing.
    func reason(forKey key: String) -> String? { parts[key]?.change?.reason }

    /// Whether there is a change of a value, or of a container of it.
    func contains(_ path: StoredTree.Path) -> Bool {
        var edits: TreeEdits? = self
        for key in path where edits?.change == nil {
            edits = edits?.parts[key]
        }
        return edits?.change != nil
    }

    /// The changes, for the program.
    var report: LoadReport {
        var (filledIn, unusable): ([String], [LoadReport.UnusableValue]) = ([], [])
        collect(at: [], &filledIn, &unusable)
        return LoadReport(filledIn: filledIn, unusable: unusable)
    }

    private func collect(
        at path: StoredTree.Path,
        _ filledIn: inout [String],
        _ unusable: inout [LoadReport.UnusableValue]
    ) {
        if let reason = change?.reason {
            unusable.append(.init(path: LoadReport.path(path), reason: reason))
        } else if change != nil {
            filledIn.append(LoadReport.path(path))
        }
        for (key, part) in parts {
            part.collect(at: path.appending(key), &filledIn, &unusable)
        }
    }

    /// Changes a tree.
    ///
    /// - Parameters:
    ///   - tree: The tree; nil for a value that is missing.
    ///   - keys: Finds the stored keys for coding keys.
    ///   - path: The path of the tree.
    ///   - outcome: Receives what was changed.
    /// - Returns: The tree with the changes; nil when it was removed.
    func apply(
        to tree: StoredTree?,
        keys: StoredKeys,
        at path: StoredTree.Path = [],
        outcome: TreeEdits
    ) -> StoredTree? {
        if let change {
            // A stored null carries no information that could be lost.
            outcome.insert((nil, tree?.mayBeNull ?? true ? nil : change.reason), at: path)
            return change.replacement?.tree
        }
        switch tree {
        case .object(var fields)?:
            for (key, part) in parts {
                let added = part.change?.replacement?.name
                // To look for a key that the coder converts, the decoder has to be called.
                let name = added == key ? key : keys.storedKey(for: key, among: fields, below: path) ?? added ?? key
                fields[name] = part.apply(to: fields[name], keys: keys, at: path.appending(name), outcome: outcome)
            }
            return .object(fields)
        case .array(let elements)?:
            var changed: [StoredTree] = []
            for (index, element) in elements.enumerated() {
                guard let part = parts["\(index)"] else {
                    changed.append(element)
                    continue
                }
                let path = path.appending(StoredTree.key(of: index))
                if let edited = part.apply(to: element, keys: keys, at: path, outcome: outcome) {
                    changed.append(edited)
                }
            }
            return .array(changed)
        default:
            return tree
        }
    }
}

/// Finds the stored keys for the coding keys that a decoder reports.
///
/// They differ when the coder converts keys ("themeName" is stored as "theme_name"). The conversion can be any function, so
/// the decoder is used to convert each stored key.
final class StoredKeys {
    let coder: DefaultsCoder
    let format: StoredTree.Format
    /// The coding keys that were found so far, by the paths of the stored keys.
    private var found: [String: String] = [:]

    init(coder: DefaultsCoder, format: StoredTree.Format) { (self.coder, self.format) = (coder, format) }

    /// The stored key for a coding key.
    ///
    /// - Parameters:
    ///   - name: The coding key.
    ///   - fields: The fields of its container.
    ///   - path: The path of its container.
    /// - Returns: The stored key; nil when there is none.
    func storedKey(for name: String, among fields: [String: StoredTree], below path: StoredTree.Path) -> String? {
        if fields.keys.contains(name) { return name }
        guard format == .json, !coder.isBuiltIn else { return nil }
        return Array(fields.keys).inOrder().first { decodedKey(for: $0, below: path) == name }
    }

    /// The coding key that the decoder converts a stored key to; the stored key itself when the decoder fails.
    private func decodedKey(for key: String, below path: StoredTree.Path) -> String {
        let path = path.appending(key)
        let id = path.joined(separator: "\0")
        if let known = found[id] { return known }
        var probe = StoredTree.json([UInt8(ascii: "0")])
        for key in path.reversed() {
            probe = .object([key: probe])
        }
        let name = probe.data(in: format).flatMap { try? coder.decode(InnermostKey.self, from: $0).name } ?? key
        found[id] = name
        return name
    }
}

/// The innermost key of objects that have one entry each.
private struct InnermostKey: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PathKey.self)
        guard let key = container.allKeys.first else { throw UnexpectedValue() }
        name = (try? container.decode(InnermostKey.self, forKey: key).name) ?? key.stringValue
    }
}

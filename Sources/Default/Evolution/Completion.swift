internal import Foundation

/// Lays stored bytes that can't be decoded over a default value, so that what can be kept is kept.
///
/// Only what the decoder complains about is taken from the default: were all of the default's fields put below the stored
/// ones at once, entries that were deleted from a dictionary would come back, optional properties that were set to nil
/// would get a value, and two cases of an enum would meet in one object. The decoder is asked again after each change,
/// and each path is changed once at most, so the work is bounded by the number of fields.
struct Completion<Value> {
    private let decode: (Data) throws -> Value
    private let encode: (Value) throws -> Data
    private let keys: StoredKeys

    private let stored: StoredTree
    private let fallback: StoredTree
    private let format: StoredTree.Format

    /// The stored tree with what has been changed in it so far.
    private var tree: StoredTree
    /// Why each changed path was changed.
    private var faults: [StoredTree.Path: String] = [:]

    private var attempts = 0

    /// How often the decoder is asked; bytes for which that is not enough count as those of something else.
    static var maximumAttempts: Int { 1_000 }

    /// Fails when the bytes, or those of the default, are no tree.
    ///
    /// - Parameters:
    ///   - stored: The bytes that can't be decoded.
    ///   - fallback: The default value.
    ///   - coder: What decodes and encodes.
    init?(stored: Data, fallback: Value, coder: DefaultsCoder) where Value: Codable {
        guard let (tree, format) = StoredTree.parse(stored), tree.fields != nil,
            let fallbackData = try? coder.encodeTopLevel(fallback),
            let (fallbackTree, fallbackFormat) = StoredTree.parse(fallbackData), format == fallbackFormat,
            (try? coder.decodeTopLevel(AnyContent.self, from: stored)) != nil
        else {
            return nil
        }
        self.stored = tree
        self.tree = tree
        self.fallback = fallbackTree
        self.format = format
        decode = { try coder.decodeTopLevel(Value.self, from: $0) }
        encode = { try coder.encodeTopLevel($0) }
        keys = StoredKeys(coder: coder, format: format)
    }

    /// Completes the stored bytes.
    ///
    /// - Returns: The value and what is not as stored in it; nil when the stored fields can't be used in any combination.
    mutating func run() -> (value: Value, report: LoadReport)? {
        while let data = tree.data(in: format), attempts < Self.maximumAttempts {
            do {
                attempts += 1
                let value = try decode(data)
                return (value, report(on: value))
            } catch {
                let fault = DecodingFault(error)
                let path = keys.resolve(fault.path, in: [tree, fallback])
                let isWithin = fault.namesContainer && path.count == fault.path.count && tree[path]?.fields != nil
                guard isWithin && searchFields(of: path, because: fault) || repair(at: path, because: fault) else {
                    return nil
                }
            }
        }
        return nil
    }

    /// Takes the value at a path from the default; where it has none, drops the stored one, which may be optional; where
    /// there is neither, or that has been done before, does the same one level up.
    ///
    /// - Returns: Whether anything was changed.
    private mutating func repair(at path: StoredTree.Path, because fault: DecodingFault) -> Bool {
        // What was wrong with it at first says more than what came of dropping it.
        let reason = faults[path] ?? fault.reason
        var place = path
        while !place.isEmpty {
            let replacement = fallback[place]
            let isContained = tree[place.dropLast()]?.fields != nil
            if faults[place] == nil, isContained, replacement != nil || tree[place] != nil {
                tree[place] = replacement
                faults[place] = fault.reason(reason, below: place.count)
                return true
            }
            place.removeLast()
        }
        return false
    }

    /// Finds the fields that the value can't be decoded with, by laying one after the other over the default's.
    ///
    /// For errors that name a keyed container and not what is wrong in it: those of initializers that check several
    /// properties, of Foundation's ISO 8601 strategy, and of its numbers out of range, which name no place at all.
    ///
    /// - Returns: Whether anything was changed.
    private mutating func searchFields(of path: StoredTree.Path, because fault: DecodingFault) -> Bool {
        var overlaid = fallback
        guard fallback[path]?.fields != nil, canDecode(overlaid) else {
            return false
        }
        let refused = refusedFields(of: path, whenLaidOver: &overlaid)
        if !refused.isEmpty {
            return refused.map { repair(at: $0, because: DecodingFault(path: $0, reason: fault.reason)) }.contains(true)
        }
        // Nothing that is stored is in the way, so something is missing.
        guard let container = overlaid[path], let own = tree[path] else {
            return false
        }
        let missing = container.paths(missingIn: own).map { path + $0 }.filter { faults[$0] == nil }
        for path in missing {
            tree[path] = overlaid[path]
            faults[path] = fault.reason
        }
        return !missing.isEmpty
    }

    private mutating func refusedFields(
        of path: StoredTree.Path,
        whenLaidOver overlaid: inout StoredTree
    ) -> [StoredTree.Path] {
        var refused: [StoredTree.Path] = []
        for key in (tree[path]?.fields ?? [:]).keys.sorted() {
            let field = path + [key]
            let before = overlaid[field]
            overlaid[field] = tree[field]
            if canDecode(overlaid) {
                continue
            }
            overlaid[field] = before
            if tree[field]?.fields != nil, fallback[field]?.fields != nil {
                refused += refusedFields(of: field, whenLaidOver: &overlaid)
            } else {
                refused.append(field)
            }
        }
        return refused
    }

    private mutating func canDecode(_ tree: StoredTree) -> Bool {
        attempts += 1
        guard attempts < Self.maximumAttempts, let data = tree.data(in: format) else {
            return false
        }
        return (try? decode(data)) != nil
    }

    private func report(on value: Value) -> LoadReport {
        let outermost = faults.filter { path, _ in
            !path.indices.dropFirst().contains { faults[Array(path[..<$0])] != nil }
        }
        // A stored null is nothing that could be lost.
        let filledIn = outermost.keys.filter { stored[$0]?.isNull ?? true }
        var unusable = outermost.filter { !filledIn.contains($0.key) }
        for path in unknownPaths(in: value) {
            unusable[path] = "is no property of the type"
        }
        return LoadReport(
            filledIn: filledIn.map { $0.joined(separator: ".") }.sorted(),
            unusable: unusable.map { .init(path: $0.key.joined(separator: "."), reason: $0.value) }
                .sorted { $0.path < $1.path }
        )
    }

    /// The stored values that the type has no property for, as far as they aren't in changed parts.
    private func unknownPaths(in value: Value) -> [StoredTree.Path] {
        guard let data = try? encode(value), let (outcome, _) = StoredTree.parse(data) else {
            return []
        }
        return tree.paths(missingIn: outcome).filter { path in
            stored[path].map { !$0.isNull } ?? false && !path.indices.contains { faults[Array(path[...$0])] != nil }
        }
    }
}

/// What a decoder complained about.
private struct DecodingFault {
    let path: [any CodingKey]
    let reason: String
    /// Whether the path may be that of the container in which something is wrong.
    var namesContainer = false

    init(path: StoredTree.Path, reason: String) {
        self.path = path.map { PathKey(stringValue: $0) }
        self.reason = reason
    }

    init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            path = context.codingPath + [key]
            reason = "is missing"
        case DecodingError.valueNotFound(let type, let context):
            path = context.codingPath
            reason = "is null, where \(type) is needed"
        case DecodingError.typeMismatch(let type, let context):
            path = context.codingPath
            reason = "is not of type \(type)"
        case DecodingError.dataCorrupted(let context):
            path = context.codingPath
            reason = "is malformed"
            namesContainer = true
        default:
            path = []
            reason = "is refused with a \(Swift.type(of: error))"
            namesContainer = true
        }
    }

    /// What is wrong with the value that has the faulty one in it.
    func reason(_ reason: String, below depth: Int) -> String {
        let inner = path.dropFirst(depth).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return inner.isEmpty
            ? reason : "can't be used, since \(inner.joined(separator: ".").debugDescription) in it \(reason)"
    }
}

/// Any key on the way to a value.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

/// Decodes from whatever a decoder takes at all.
private struct AnyContent: Decodable {
    init(from decoder: any Decoder) {}
}

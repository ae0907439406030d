internal import Foundation

/// Fills in stored bytes that can't be decoded from a default value, so that every usable field is kept.
///
/// Only the fields that the decoder rejects are taken from the default. If all of the default's fields were merged with the
/// stored ones at once, entries that were deleted from a dictionary would come back, optional properties that were set to
/// nil would get a value, and one object could contain two cases of an enum. Decoding is tried again after each change, and
/// each path is changed at most once, so the work is bounded by the number of fields.
struct Completion<Value> {
    private let decode: (Data) throws -> Value
    private let encode: (Value) throws -> Data
    private let keys: StoredKeys

    private let stored: StoredTree
    private let fallback: StoredTree
    private let format: StoredTree.Format

    /// The stored tree with all changes so far.
    private var tree: StoredTree
    /// Why each changed path was changed.
    private var faults: [StoredTree.Path: String] = [:]

    private var attempts = 0

    /// The maximum number of decoding attempts; bytes that need more count as undecodable.
    static var maximumAttempts: Int { 1_000 }

    /// Fails when the bytes, or those of the default, can't be parsed as a tree.
    ///
    /// - Parameters:
    ///   - stored: The bytes that can't be decoded.
    ///   - fallback: The default value.
    ///   - coder: The coder for both.
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

    /// Fills in the stored bytes.
    ///
    /// - Returns: The value, and a report of how it differs from the stored one; nil when the stored fields can't be used in
    ///   any combination.
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

    /// Replaces the value at a path with the default's.
    ///
    /// If the default has none, removes the stored value, which may be optional. If there is neither, or the path was
    /// changed before, does the same one level up.
    ///
    /// - Returns: Whether anything was changed.
    private mutating func repair(at path: StoredTree.Path, because fault: DecodingFault) -> Bool {
        // The first error says more than the one that follows from removing the value.
        let reason = faults[path] ?? fault.reason
        var ancestor = path
        while !ancestor.isEmpty {
            let replacement = fallback[ancestor]
            let isContained = tree[ancestor.dropLast()]?.fields != nil
            if faults[ancestor] == nil, isContained, replacement != nil || tree[ancestor] != nil {
                tree[ancestor] = replacement
                faults[ancestor] = fault.reason(reason, below: ancestor.count)
                return true
            }
            ancestor.removeLast()
        }
        return false
    }

    /// Finds the fields that prevent decoding, by merging the stored fields into the default one at a time.
    ///
    /// For errors that name a keyed container, but not the field at fault: those of initializers that check several
    /// properties, of Foundation's ISO 8601 strategy, and of its out-of-range numbers, which have no path at all.
    ///
    /// - Returns: Whether anything was changed.
    private mutating func searchFields(of path: StoredTree.Path, because fault: DecodingFault) -> Bool {
        var merged = fallback
        guard fallback[path]?.fields != nil, canDecode(merged) else {
            return false
        }
        let rejected = rejectedFields(of: path, whenMergedInto: &merged)
        if !rejected.isEmpty {
            let repairs = rejected.map { repair(at: $0, because: DecodingFault(path: $0, reason: fault.reason)) }
            return repairs.contains(true)
        }
        // No stored field is at fault, so something is missing.
        guard let container = merged[path], let own = tree[path] else {
            return false
        }
        let missing = container.paths(missingIn: own).map { path + $0 }.filter { faults[$0] == nil }
        for path in missing {
            tree[path] = merged[path]
            faults[path] = fault.reason
        }
        return !missing.isEmpty
    }

    private mutating func rejectedFields(
        of path: StoredTree.Path,
        whenMergedInto merged: inout StoredTree
    ) -> [StoredTree.Path] {
        var rejected: [StoredTree.Path] = []
        for key in (tree[path]?.fields ?? [:]).keys.sorted() {
            let field = path + [key]
            let before = merged[field]
            merged[field] = tree[field]
            if canDecode(merged) {
                continue
            }
            merged[field] = before
            if tree[field]?.fields != nil, fallback[field]?.fields != nil {
                rejected += rejectedFields(of: field, whenMergedInto: &merged)
            } else {
                rejected.append(field)
            }
        }
        return rejected
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
        // A stored null carries no information that could be lost.
        let filledIn = outermost.keys.filter { stored[$0]?.isNull ?? true }
        var unusable = outermost.filter { !filledIn.contains($0.key) }
        for path in unknownPaths(in: value) {
            unusable[path] = "is not a property of the type"
        }
        return LoadReport(
            filledIn: filledIn.map { $0.joined(separator: ".") }.sorted(),
            unusable: unusable.map { .init(path: $0.key.joined(separator: "."), reason: $0.value) }
                .sorted { $0.path < $1.path }
        )
    }

    /// The paths of stored values that the type has no property for, outside of changed parts.
    private func unknownPaths(in value: Value) -> [StoredTree.Path] {
        guard let data = try? encode(value), let (outcome, _) = StoredTree.parse(data) else {
            return []
        }
        return tree.paths(missingIn: outcome).filter { path in
            stored[path].map { !$0.isNull } ?? false && !path.indices.contains { faults[Array(path[...$0])] != nil }
        }
    }
}

/// The location and reason of a decoding error.
private struct DecodingFault {
    let path: [any CodingKey]
    let reason: String
    /// Whether the path may be that of the container of the value at fault.
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
            reason = "is null, where a value of type \(type) is needed"
        case DecodingError.typeMismatch(let type, let context):
            path = context.codingPath
            reason = "is not of type \(type)"
        case DecodingError.dataCorrupted(let context):
            path = context.codingPath
            reason = "is malformed"
            namesContainer = true
        default:
            path = []
            reason = "was rejected with \(Swift.type(of: error))"
            namesContainer = true
        }
    }

    /// The reason for a container of the value at fault.
    func reason(_ reason: String, below depth: Int) -> String {
        let inner = path.dropFirst(depth).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return inner.isEmpty
            ? reason : "can't be used because \(inner.joined(separator: ".").debugDescription) in it \(reason)"
    }
}

/// A coding key with any name or index.
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

/// Decodes from any bytes that the decoder can parse.
private struct AnyContent: Decodable {
    init(from decoder: any Decoder) {}
}

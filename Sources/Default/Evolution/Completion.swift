internal import Foundation

/// Fills in stored bytes that can't be decoded from a default value, so that every usable field is kept.
///
/// Only what a ``Probe`` finds at fault is taken from the default, or removed where the default has none. If all of the
/// default's fields were merged with the stored ones, entries that were deleted from a dictionary would come back, optional
/// properties that were set to nil would get a value, and one object could contain two cases of an enum.
enum Completion {
    /// The number of times that the bytes are probed; once is enough for initializers that depend on nothing else.
    private static let maximumRounds = 3

    /// Fills in stored bytes.
    ///
    /// - Parameters:
    ///   - type: The type that they can't be decoded as.
    ///   - data: The bytes.
    ///   - fallback: The default value; nil for none.
    ///   - coder: The coder for both.
    ///   - keepsUnknownFields: Whether a write keeps the fields that the type doesn't know.
    /// - Returns: The value, and a report of how it differs from the stored one; nil when the bytes are not well-formed, or
    ///   have no usable value.
    static func run<Value: Codable>(
        _ type: Value.Type,
        on data: Data,
        default fallback: Value?,
        coder: DefaultsCoder,
        keepsUnknownFields: Bool = false
    ) -> Reading<Value>? {
        guard let (stored, format) = StoredTree.parse(data), stored.isContainer,
            (try? coder.decodeTopLevel(AnyContent.self, from: data)) != nil
        else {
            return nil
        }
        let keys = StoredKeys(coder: coder, format: format)
        var bytes = data
        var tree = stored
        var outcome = TreeEdits.Outcome()
        var isRepeatable = true
        for _ in 0..<maximumRounds {
            let probe = Probe(coder: coder, format: format)
            guard probe.run(type, on: bytes, fallback: fallback), !probe.edits.isEmpty,
                let edited = probe.edits.apply(to: tree, keys: keys, outcome: &outcome),
                let data = edited.data(in: format)
            else {
                return nil
            }
            (tree, bytes) = (edited, data)
            isRepeatable = isRepeatable && probe.isRepeatable
            if let value = try? coder.decodeTopLevel(type, from: data) {
                let unknown = unknownPaths(of: tree, outside: outcome, besides: value, coder: coder)
                var reading = Reading(value, of: stored, outcome, unknown: unknown, isReported: !keepsUnknownFields)
                reading.bytes = data
                reading.mayChange = isRepeatable ? nil : MayChange()
                return reading
            }
        }
        return nil
    }

    /// The stored values that the type has no property for.
    private static func unknownPaths(
        of tree: StoredTree,
        outside outcome: TreeEdits.Outcome,
        besides value: some Encodable,
        coder: DefaultsCoder
    ) -> [StoredTree.Path] {
        guard let data = try? coder.encodeTopLevel(value), let (known, _) = StoredTree.parse(data) else {
            return []
        }
        return tree.paths(missingIn: known).filter { path in
            let isChanged = path.indices.contains {
                outcome.filledIn.contains(Array(path[...$0])) || outcome.unusable[Array(path[...$0])] != nil
            }
            return !isChanged && tree[path].map { !$0.isNull } ?? false
        }
    }
}

extension Reading {
    fileprivate init(
        _ value: Value,
        of stored: StoredTree,
        _ outcome: TreeEdits.Outcome,
        unknown: [StoredTree.Path],
        isReported: Bool
    ) {
        var unusable = outcome.unusable
        for path in unknown where isReported {
            unusable[path] = LoadReport.UnusableValue.isUnknown
        }
        let fields = stored.fields ?? [:]
        self.init(
            value: value,
            report: LoadReport(
                filledIn: outcome.filledIn.map { LoadReport.path($0) }.sorted(),
                unusable: unusable.map { .init(path: LoadReport.path($0.key), reason: $0.value) }
                    .sorted { $0.path < $1.path }
            ),
            isCurrent: false,
            unknownCount: isReported ? 0 : unknown.count,
            keepsNothing: !fields.isEmpty
                && fields.allSatisfy { $1.mayBeNull || outcome.unusable[[$0]] != nil || unknown.contains([$0]) }
        )
    }
}

/// Decodes from any bytes that the decoder can parse.
private struct AnyContent: Decodable {
    init(from decoder: any Decoder) {}
}

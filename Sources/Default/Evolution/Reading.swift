internal import Foundation

/// A value decoded from stored bytes.
struct Reading<Value> {
    let value: Value
    /// How the value differs from the stored one; nil when the bytes were decoded without changes.
    var report: LoadReport?
    /// Whether writing the value would leave the bytes unchanged, except for formatting.
    var isCurrent = true
    /// The bytes that the value was decoded from, after renaming and filling in; nil for the stored ones.
    var bytes: Data?
    /// Set when the outcome may depend on more than the bytes: two readings with it are never interchangeable.
    var mayChange: MayChange?
    /// The number of stored values that the type doesn't know, but keeps, if it was filled in.
    var unknownCount = 0
    /// What the predecessor that the bytes were decoded as doesn't know, and a write may keep.
    var unknown: UnknownFields?
    /// Whether values are stored, but none of them could be used.
    var keepsNothing = false

    /// The number of stored values that a write would lose.
    var loss: Int { report?.unusable.count ?? 0 }

    /// The number of stored values that the type has no use for, to compare types.
    var unusedCount: Int { loss + unknownCount }
}

/// An object, so that no reading that has one is shared.
final class MayChange {}

extension Reading {
    /// Adds old names of renamed properties to the stored values that can't be used.
    func reporting(_ unused: [StoredTree.Path]) -> Reading {
        var reading = self
        let report = report ?? LoadReport()
        let known = Set(report.unusable.map(\.path))
        let added = unused.map { LoadReport.path($0) }.filter { !known.contains($0) }.map { path in
            LoadReport.UnusableValue(path: path, reason: LoadReport.UnusableValue.hasOldName)
        }
        guard !added.isEmpty else {
            return self
        }
        reading.report = LoadReport(
            filledIn: report.filledIn,
            unusable: (report.unusable + added).sorted { $0.path < $1.path },
            migratedFrom: report.migratedFrom
        )
        reading.isCurrent = false
        return reading
    }

    /// Lets the next reads share the outcome if it was filled in, and the value is interchangeable with one that is decoded once
    /// more from the bytes that were filled in.
    ///
    /// The cache would fill in twice more at the second read to find this out.
    func share(of data: Data, forKey key: String, coder: DefaultsCoder) where Value: Decodable {
        let cache = DecodedValueCache.shared
        guard mayChange == nil, report?.migratedFrom == nil, let bytes,
            cache.sharedValue(Reading.self, of: data, forKey: key) == nil,
            let again = try? map({ _ in try coder.decodeTopLevel(Value.self, from: bytes) }),
            ValueSemantics.areInterchangeable(self, again)
        else {
            return
        }
        cache.share(self, of: data, forKey: key)
    }

    /// The same outcome with a value that was made from this one.
    func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Reading<Other> {
        Reading<Other>(
            value: try transform(value),
            report: report,
            isCurrent: isCurrent,
            bytes: bytes,
            mayChange: mayChange,
            unknownCount: unknownCount,
            unknown: unknown,
            keepsNothing: keepsNothing
        )
    }
}

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
        var (tree, bytes, outcome) = (stored, data, TreeEdits.Outcome())
        var (faults, ownErrors) = (0, 0)
        for _ in 0..<maximumRounds {
            let finder = FaultFinder(coder: coder, keys: keys)
            guard finder.run(type, on: bytes, default: fallback), !finder.edits.isEmpty,
                let edited = finder.edits.apply(to: tree, keys: keys, outcome: &outcome),
                let data = edited.data(in: format)
            else { return nil }
            (tree, bytes) = (edited, data)
            (faults, ownErrors) = (faults + finder.faultCount, ownErrors + finder.ownErrorCount)
            guard let value = try? coder.decodeTopLevel(anyOf: type, from: data) else { continue }
            let unknown = UnknownFields(in: data, parsed: (edited, format), unknownTo: type, coder: coder)
            let isUsed = stored.fields?.contains { name, field in
                !field.mayBeNull && (outcome.reasons[[name]] ?? nil) == nil && unknown?.fields[name] == nil
            }
            let unknownPaths = (unknown?.paths ?? []).filter { !outcome.contains($0) }
            for path in unknownPaths where !keepsUnknownFields {
                outcome.reasons[path] = LoadReport.UnusableValue.isUnknown
            }
            let completion = Completion(
                bytes: data,
                report: LoadReport(filledIn: outcome.filledIn, unusable: outcome.unusable),
                unknownCount: keepsUnknownFields ? unknownPaths.count : 0,
                usesNothing: isUsed == false && stored.fields?.isEmpty == false,
                cause: ownErrors == 0 ? .bytes : ownErrors == faults ? .ownErrors : .mixed
            )
            return (value, completion)
        }
        return nil
    }
}

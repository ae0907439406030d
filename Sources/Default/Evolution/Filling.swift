#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// How old bytes become a value:
//
// 1. They are found under the type's identifier, or under an earlier one (`StoredSettings.find`, in the folder
//    Storable).
// 2. The version recorded beside them, if there is one for exactly these bytes, says which type they are of: the
//    settings type or one of its predecessors. Otherwise the types are tried (`SchemaRecord`, `StoredBytes`).
// 3. Properties with old names get the new ones, those of the type and of all types in it (`Renaming`, on a
//    `StoredTree`). `KnownKeys.providers` finds these types.
// 4. They are decoded as the type. If that works, only step 8 remains.
// 5. Otherwise they are decoded once more, to find out which call failed, and which type it was decoding
//    (`DecodingTrace`). The tree is changed in that place: it is filled in from the default value, or the value that
//    can't be used is removed (`StoredDocument`). The elements of a collection are documents of their own
//    (`StoredElements`).
// 6. Step 5 is repeated until the bytes can be decoded, and the value decoded then is the result (`Filling`).
// 7. What was changed, and the bytes after the changes, are a `StoredForm`, which the process remembers for the bytes
//    that it read last, so that 2 to 6 happen once (`SettingsAccess` and `KeyAccess`).
// 8. A predecessor's value is migrated, from type to type (`StoredType`).
//
// Types of typed keys and containers have no predecessors and no versions: for them, 2 and 8 are left out (`KeyAccess`,
// in the folder Access).
//
// For example, an enum has lost a case that is stored in the third element of an array:
//
// - `DecodingTrace` decodes an array as a whole, so it only finds that the array fails. `StoredDocument.edit` then
//   makes a document of each element, and `StoredElements.edit` decodes all of them, each by itself: the third one
//   fails, in the enum. From then on, only that one is decoded again.
// - If the element's type has a default value (`DefaultProviding`) with a case for the enum, that case takes the place
//   of the stored one, and the element stays. Otherwise the case is removed, which helps if the property is optional.
// - If neither helps, the element can't be used. An array leaves it out if its type is `DefaultProviding`; otherwise
//   the array's default takes the place of the whole array, since its count and order may matter. A set leaves the
//   element out. A dictionary takes the default's entry of the same name, if there is one, or leaves it out.
// - The whole is decoded again. The report names what was replaced or left out: "tracks[2].mode", "tracks[2]" or
//   "tracks", with "no case of the enum" as the reason. Nothing is written until the program writes; that write
//   quarantines the old bytes first.
//
// A write keeps what the type doesn't ask for (`KnownKeys`, `UnknownFields`, `KeptFields`), and quarantines the bytes
// if something else would be lost (`Quarantine`).

/// How stored bytes were changed, so that they can be decoded.
///
/// A stored value is replaced by its counterpart in the default value only where decoding fails; if there is no
/// counterpart, it is removed. If all of the default's fields were merged with the stored ones, entries that were
/// deleted from a dictionary would come back, optional properties that were set to nil would get a value, and one
/// object could contain two cases of an enum.
struct Filling {
    /// The bytes that the value was decoded from.
    let bytes: Data
    /// How the value differs from the stored one.
    let report: LoadReport
    /// The number of stored values that the type doesn't know, and that are kept and not reported.
    let unknownCount: Int
    /// Whether values are stored, but none of them could be used.
    let usesNothing: Bool
    /// What made the changes necessary.
    let cause: Cause

    enum Cause {
        /// The bytes alone: the next read of them would make the same changes.
        case bytes
        /// Errors that initializers throw themselves, and may not throw at the next read.
        case ownErrors
        /// Both.
        case mixed
    }

    /// A value, and how its bytes were filled in.
    struct Outcome {
        let value: any Decodable
        let filling: Filling
    }

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
    ) -> Outcome? {
        guard let parsed = StoredTree.parse(data) else { return nil }
        let (stored, format) = (parsed.tree, parsed.format)
        let context = FillingContext(coder: coder, format: format)
        let document = StoredDocument(stored, as: type, initial: fallback.flatMap { context.tree(of: $0) })
        guard let (value, bytes) = context.decode(document) else { return nil }

        // Unknown fields are looked for in the edited bytes, since the stored ones can't be decoded.
        let changes = document.changes
        let unknown = UnknownFields(
            in: bytes,
            parsed: StoredTree.Parsed(tree: document.tree, format: format),
            unknownTo: type,
            decodedAs: value as? any Encodable,
            coder: coder
        )
        // What is unknown below a changed place came there with the default value, and not from the stored bytes.
        let changedPlaces = Set(changes.compactMap(\.place))
        let unknownPaths = (unknown.map { Array($0.fields.keys) } ?? []).filter { path in
            !(0...path.count).contains { changedPlaces.contains(Array(path.prefix($0))) }
        }
        var unusable = changes.compactMap { change in
            change.reason.map { LoadReport.UnusableValue(keys: change.path, reason: $0) }
        }
        let rejected = Set(unusable.map(\.keys))
        if !keepsUnknownFields {
            unusable += unknownPaths.map { .init(keys: $0, reason: .unknown) }
        }
        let filledIn = changes.filter { $0.reason == nil }.map { LoadReport.path($0.path) }
        // A field is used if it was neither null, nor rejected, nor unknown as a whole.
        let isUsed = stored.fields?.contains { name, field in
            !field.mayBeNull && !rejected.contains([name]) && unknown?.fields[[name]] == nil
        }
        // A type that uses nothing of the bytes is hardly the one that they were stored as. Errors that initializers
        // throw themselves are counted, since an outcome that depends on them may differ at the next read.
        let filling = Filling(
            bytes: bytes,
            report: LoadReport(filledIn: filledIn, unusable: unusable),
            unknownCount: keepsUnknownFields ? unknownPaths.count : 0,
            usesNothing: isUsed == false && stored.fields?.isEmpty == false,
            cause: document.ownErrors == 0 ? .bytes : document.ownErrors == document.edits ? .ownErrors : .mixed
        )
        return Outcome(value: value, filling: filling)
    }
}

/// The coder, the format and the defaults that all documents in some bytes share.
final class FillingContext {
    let coder: DefaultsCoder
    let format: StoredTree.Format
    let keys: StoredKeys
    /// The default values of types, as they are encoded.
    private var defaults: [ObjectIdentifier: StoredTree?] = [:]

    init(coder: DefaultsCoder, format: StoredTree.Format) {
        self.coder = coder
        self.format = format
        keys = StoredKeys(coder: coder, format: format)
    }

    /// Edits a document until it can be decoded.
    ///
    /// - Returns: The value and its bytes; nil when the document has no usable value, needs no edit, or needs too many.
    func decode(_ document: StoredDocument) -> (value: any Decodable, bytes: Data)? {
        while let fault = fault(in: document) {
            guard document.edit(because: fault, in: self) else { return nil }
        }
        // If nothing had to be edited, decoding failed for a reason that isn't in any value of the document.
        guard document.edits > 0, let bytes = document.tree.data(in: format),
            let value = try? coder.decodeTopLevel(anyOf: document.type, from: bytes)
        else { return nil }
        return (value, bytes)
    }

    /// Why a document can't be decoded; nil when it can.
    func fault(in document: StoredDocument) -> DecodingFault? {
        // An element may be a bare number or string, which not every format has at its top level.
        if document.isElement { return faults(in: [document])[0] }
        return traced(document.tree, [document.type]) { decoder in
            [DecodingTrace.fault(of: document.type, from: decoder, depth: 0)]
        }[0]
    }

    /// Why each of several elements can't be decoded; nil for those that can.
    func faults(in elements: [StoredDocument]) -> [DecodingFault?] {
        traced(.array(elements.map(\.tree)), elements.map(\.type)) { decoder in
            var container = try decoder.unkeyedContainer()
            return try elements.map { DecodingTrace.fault(of: $0.type, from: try container.superDecoder(), depth: 1) }
        }
    }

    /// Traces the values in a tree; an error of the tree as a whole, such as a parser's, counts for each.
    private func traced(
        _ tree: StoredTree,
        _ types: [any Decodable.Type],
        _ body: (any Decoder) throws -> [DecodingFault?]
    ) -> [DecodingFault?] {
        var faults: [DecodingFault?] = []
        do {
            guard let data = tree.data(in: format) else { throw UnexpectedValue() }
            _ = try coder.withDecoder(for: data) { decoder in
                faults = try body(decoder)
                return true
            }
            return faults
        } catch {
            // The parser rejected the whole, so it is the fault of each value.
            return types.map { DecodingFault(names: [], types: [[$0]], error: error, depth: 0) }
        }
    }

    /// The default value of a type or, for an optional, of the type in it; nil when it has none.
    func defaultTree(of type: any Decodable.Type) -> StoredTree? {
        let type = nonOptional(type)
        // Remembered, nil included: elements of one type ask for it again and again.
        if let known = defaults[ObjectIdentifier(type)] { return known }
        let tree = ownDefault(of: type).flatMap { self.tree(of: $0) }
        defaults[ObjectIdentifier(type)] = .some(tree)
        return tree
    }

    /// The encoded form of a value; nil if it can't be encoded, which is reported, or has another format.
    func tree(of value: any Encodable) -> StoredTree? {
        do {
            guard let parsed = StoredTree.parse(try coder.encodeTopLevel(value)), parsed.format == format else {
                return nil
            }
            return parsed.tree
        } catch {
            let type = type(of: value)
            DefaultsDiagnostics.reportDefault(of: type, .defaultNotEncodable(error, type: type))
            return nil
        }
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How some bytes are read: as which type, and after which changes.
final class StoredForm: @unchecked Sendable {
    // It is changed only by the read that makes it.

    let type: StoredType
    let coder: DefaultsCoder
    /// The bytes after renaming and filling in; nil for the stored ones.
    fileprivate(set) var bytes: Data?
    /// How they were filled in; nil when that was not needed.
    fileprivate(set) var filling: Filling?
    /// How the value differs from the stored one.
    fileprivate(set) var report = LoadReport()
    /// The paths of values that have an old name and are not used.
    fileprivate(set) var oldNames: [StoredTree.Path] = []
    /// Whether writing the value would leave the bytes unchanged, except for formatting.
    fileprivate(set) var isCurrent: Bool

    fileprivate init(type: StoredType, coder: DefaultsCoder, bytes: Data?, isCurrent: Bool) {
        (self.type, self.coder, self.bytes, self.isCurrent) = (type, coder, bytes, isCurrent)
    }

    /// The form of a value that no bytes are stored for.
    static func absent(of type: StoredType) -> StoredForm {
        StoredForm(type: type, coder: type.coder, bytes: nil, isCurrent: true)
    }

    /// The same form, where what is missing is what other layers say.
    func leavingOutMissing() -> StoredForm {
        let isRenamed = bytes != nil && filling == nil
        let isCurrent = type.isNewest && report.unusable.isEmpty && !isRenamed
        let form = StoredForm(type: type, coder: coder, bytes: bytes, isCurrent: isCurrent)
        form.filling = filling
        form.oldNames = oldNames
        form.report = LoadReport(unusable: report.unusable, migratedFrom: report.migratedFrom)
        return form
    }

    /// Notes that writing the value would change the bytes unless a condition holds.
    func requireForCurrent(_ condition: Bool) { isCurrent = isCurrent && condition }

    var cause: Filling.Cause { filling?.cause ?? .bytes }

    /// The number of stored values that the type has no use for, to compare types.
    var unusedCount: Int { report.unusable.count + (filling?.unknownCount ?? 0) }

    /// Decodes bytes whose form this is.
    func value(of data: Data) throws -> any Decodable {
        try type.migrated(coder.decodeTopLevel(anyOf: type.type, from: bytes ?? data))
    }
}

extension StoredType {
    typealias Outcome = (value: any Decodable, form: StoredForm)

    /// Decodes bytes of this type, with renamed properties, and migrates the value.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - coder: Their coder; nil for the type's own.
    ///   - fillingIn: Whether to fill them in if that fails.
    /// - Returns: The value, and how it was made.
    /// - Throws: The error of the decoder, or a ``VersionFault``.
    func read(_ data: Data, coder: DefaultsCoder?, fillingIn: Bool) throws -> Outcome {
        let coder = coder ?? self.coder
        var renaming = Renaming(type, names: names, in: data, coder: coder)
        let form = StoredForm(type: self, coder: coder, bytes: renaming?.data, isCurrent: isNewest)
        var value: (any Decodable)?
        do {
            value = try coder.decodeTopLevel(anyOf: type, from: renaming?.data ?? data)
        } catch {
            let inParts = Renaming(type, names: names, in: data, coder: coder, includingParts: true)
            if let inParts, let renamed = inParts.data, renamed != renaming?.data {
                (renaming, form.bytes) = (inParts, renamed)
                value = try? coder.decodeTopLevel(anyOf: type, from: renamed)
            }
            if value == nil {
                guard fillingIn, let filled = fillIn(renaming?.data ?? data, coder: coder) else { throw error }
                value = filled.value
                (form.bytes, form.filling, form.report) = (filled.filling.bytes, filled.filling, filled.filling.report)
            }
        }
        guard let value else { throw UnexpectedValue() }
        var unusable = form.report.unusable
        for place in renaming?.unusedPaths(besides: value as? any Encodable, coder: coder) ?? [] {
            form.oldNames.append(place)
            let path = LoadReport.path(place)
            if !form.report.unusable.contains(where: { $0.path == path }) {
                unusable.append(.init(path: path, reason: LoadReport.UnusableValue.hasOldName))
            }
        }
        form.requireForCurrent(form.bytes == nil && unusable.count == form.report.unusable.count)
        form.report = LoadReport(
            filledIn: form.report.filledIn,
            unusable: unusable,
            migratedFrom: isNewest ? nil : "\(type)"
        )
        return (try migrated(value), form)
    }

    /// Fills in bytes if this is a type with a default value.
    private func fillIn(_ data: Data, coder: DefaultsCoder) -> (value: any Decodable, filling: Filling)? {
        func initial<Provider: DefaultProviding>(_ type: Provider.Type) -> (any Encodable)? { type.defaultValue }
        guard let provider = type as? any DefaultProviding.Type else { return nil }
        let keeps = isNewest && keepsUnknownFields
        return Filling.run(type, on: data, default: initial(provider), coder: coder, keepsUnknownFields: keeps)
    }

    /// What this type might use of bytes that can't be read as it.
    func claim(to data: Data, coder: DefaultsCoder?) -> KnownKeys.Claim {
        let coder = coder ?? self.coder
        let renamed = Renaming(type, names: names, in: data, coder: coder, includingParts: true)?.data
        return KnownKeys.claim(of: type, on: renamed ?? data, coder: coder)
    }

    fileprivate func migrated(_ value: any Decodable) throws -> any Decodable { try migration?(value) ?? value }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How some bytes are read: as which type, and after which changes.
struct StoredForm {
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

    /// The form of a value that no bytes are stored for.
    static func absent(of type: StoredType) -> StoredForm { StoredForm(type: type, coder: type.coder, isCurrent: true) }

    /// The same form, where what is missing is what other layers say.
    func leavingOutMissing() -> StoredForm {
        var form = self
        let isRenamed = bytes != nil && filling == nil
        form.isCurrent = type.isNewest && report.unusable.isEmpty && !isRenamed
        form.report = LoadReport(unusable: report.unusable, migratedFrom: report.migratedFrom)
        return form
    }

    /// Notes that writing the value would change the bytes unless a condition holds.
    mutating func requireForCurrent(_ condition: Bool) { isCurrent = isCurrent && condition }

    var cause: Filling.Cause { filling?.cause ?? .bytes }

    /// The number of stored values that the type has no use for, to compare types.
    var unusedCount: Int { report.unusable.count + (filling?.unknownCount ?? 0) }

    /// Decodes bytes whose form this is.
    func value(of data: Data) throws -> any Decodable {
        try type.migrated(coder.decodeTopLevel(anyOf: type.type, from: bytes ?? data))
    }
}

extension StoredType {
    /// A value, and how its bytes are read.
    struct Outcome {
        let value: any Decodable
        var form: StoredForm
    }

    /// Decodes bytes of this type, with renamed properties, and migrates the value.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - coder: Their coder; nil for the type's own.
    ///   - fillingIn: Whether to fill them in if that fails.
    ///   - initial: The default value to fill them in from; nil for the type's own, if it has one.
    /// - Returns: The value, and how it was made.
    /// - Throws: The error of the decoder, or a ``VersionFault``.
    func read(
        _ data: Data,
        coder: DefaultsCoder?,
        fillingIn: Bool,
        from initial: (() -> (any Encodable)?)? = nil
    ) throws -> Outcome {
        let coder = coder ?? self.coder
        let renaming = Renaming(type, in: data, coder: coder, default: initial?())
        let renamed = renaming?.data ?? data
        var form = StoredForm(type: self, coder: coder, bytes: renaming?.data, isCurrent: isNewest)
        let value: any Decodable
        do {
            value = try coder.decodeTopLevel(anyOf: type, from: renamed)
        } catch {
            guard fillingIn, let filled = fillIn(renamed, coder: coder, from: initial) else { throw error }
            value = filled.value
            (form.bytes, form.filling, form.report) = (filled.filling.bytes, filled.filling, filled.filling.report)
        }
        form.oldNames = renaming?.unusedPaths(decodedAs: value as? any Encodable) ?? []
        let (filledIn, unusable) = (form.report.filledIn, form.report.unusable)
        let unused = form.oldNames.filter { name in !unusable.contains { $0.keys == name } }
            .map { LoadReport.UnusableValue(keys: $0, reason: .oldName) }
        form.requireForCurrent(form.bytes == nil && unused.isEmpty)
        let previous = isNewest ? nil : "\(type)"
        form.report = LoadReport(filledIn: filledIn, unusable: unusable + unused, migratedFrom: previous)
        return Outcome(value: try migrated(value), form: form)
    }

    /// Fills in bytes from a default value or, if this is a type that has one, from its own.
    private func fillIn(_ data: Data, coder: DefaultsCoder, from initial: (() -> (any Encodable)?)?) -> Filling.Outcome?
    {
        guard initial != nil || type is any DefaultProviding.Type else { return nil }
        let fallback = initial.map { $0() } ?? ownDefault(of: type)
        let keeps = isNewest && keepsUnknownFields
        return Filling.run(type, on: data, default: fallback, coder: coder, keepsUnknownFields: keeps)
    }

    /// How much this type might use of bytes that can't be read as it.
    func usableShare(of data: Data, coder: DefaultsCoder?) -> KnownKeys.UsableShare {
        let coder = coder ?? self.coder
        let renamed = Renaming(type, in: data, coder: coder)?.data
        return KnownKeys.usableShare(of: renamed ?? data, as: type, coder: coder)
    }

    fileprivate func migrated(_ value: any Decodable) throws -> any Decodable { try migration?(value) ?? value }
}

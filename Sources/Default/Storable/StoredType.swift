#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A type that stored bytes may be of: a settings type, or one of its predecessors.
struct StoredType {
    let type: any Decodable.Type
    /// Its version: its own, or one less than its successor's.
    let version: Int
    /// Whether it has a version of its own.
    let hasVersion: Bool
    let coder: DefaultsCoder
    /// The types that its values are migrated to, one after the other.
    let successors: [any DefaultMigratable.Type]

    private var settings: (any DefaultStorable.Type)? { type as? any DefaultStorable.Type }

    /// A settings type and its predecessors, newest first; a chain that leads back to a type ends before it.
    static func chain(of type: any DefaultStorable.Type) -> [StoredType] {
        let version = max(type.schemaVersion, 0)
        let coder = type.defaultCoder
        var chain = [StoredType(type: type, version: version, hasVersion: version > 0, coder: coder, successors: [])]
        while let predecessor = chain.last?.predecessor {
            chain.append(predecessor)
        }
        return chain
    }

    private var predecessor: StoredType? {
        guard let migratable = type as? any DefaultMigratable.Type,
            !successors.contains(where: { $0 == migratable })
        else { return nil }
        let previous = migratable.previousType
        let settings = previous as? any DefaultStorable.Type
        let stated = settings?.schemaVersion ?? 0
        return StoredType(
            type: previous,
            version: stated > 0 ? stated : version - 1,
            hasVersion: stated > 0,
            coder: settings?.defaultCoder ?? migratable.defaultCoder,
            successors: [migratable] + successors
        )
    }

    /// Whether a write keeps what none of the types from this one on knows.
    var keepsUnknownFields: Bool {
        ([settings].compactMap(\.self) + successors).allSatisfy { $0.keepsUnknownFields }
    }

    /// What the next write drops of the unknown fields.
    var removedProperties: [String] {
        ([settings].compactMap(\.self) + successors).flatMap { $0.removedProperties }
    }
}

/// How some bytes are read: as which type, and after which changes.
struct StoredForm {
    let type: StoredType
    let coder: DefaultsCoder
    /// The bytes after renaming and filling in; nil for the stored ones.
    var bytes: Data?
    /// How they were filled in; nil when that was not needed.
    var completion: Completion?
    /// How the value differs from the stored one.
    var report = LoadReport()
    /// Whether writing the value would leave the bytes unchanged, except for formatting.
    var isCurrent: Bool

    var cause: Completion.Cause { completion?.cause ?? .bytes }

    /// The number of stored values that the type has no use for, to compare types.
    var unusedCount: Int { report.unusable.count + (completion?.unknownCount ?? 0) }

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
    /// - Throws: The error of the decoder, or a ``MigrationFailure``.
    func read(_ data: Data, coder: DefaultsCoder?, fillingIn: Bool) throws -> Outcome {
        let coder = coder ?? self.coder
        let renaming = settings.flatMap { Renaming($0.renamedProperties, in: data) }
        let data = renaming?.data ?? data
        var form = StoredForm(type: self, coder: coder, bytes: renaming?.data, isCurrent: successors.isEmpty)
        let value: any Decodable
        do {
            value = try coder.decodeTopLevel(anyOf: type, from: data)
        } catch {
            guard fillingIn, let (filledIn, completion) = fillIn(data, coder: coder) else { throw error }
            value = filledIn
            (form.bytes, form.completion, form.report) = (completion.bytes, completion, completion.report)
        }
        let unused = renaming?.unusedPaths(besides: value as? any Encodable, coder: coder) ?? []
        let oldNames = unused.map { LoadReport.path($0) }.filter { path in
            !form.report.unusable.contains { $0.path == path }
        }
        form.isCurrent = form.isCurrent && form.bytes == nil && oldNames.isEmpty
        form.report = LoadReport(
            filledIn: form.report.filledIn,
            unusable: form.report.unusable
                + oldNames.map { .init(path: $0, reason: LoadReport.UnusableValue.hasOldName) },
            migratedFrom: successors.isEmpty ? nil : "\(type)"
        )
        return (try migrated(value), form)
    }

    /// Fills in bytes if this is a type with a default value.
    private func fillIn(_ data: Data, coder: DefaultsCoder) -> (value: any Decodable, completion: Completion)? {
        func initial<Provider: DefaultProviding>(_ type: Provider.Type) -> (any Encodable)? { type.defaultValue }
        guard let provider = type as? any DefaultProviding.Type else { return nil }
        let keeps = successors.isEmpty && keepsUnknownFields
        return Completion.run(type, on: data, default: initial(provider), coder: coder, keepsUnknownFields: keeps)
    }

    /// What this type might use of bytes that can't be read as it.
    func claim(to data: Data, coder: DefaultsCoder?) -> KnownKeys.Claim {
        let renamed = settings.flatMap { Renaming($0.renamedProperties, in: data)?.data }
        return KnownKeys.claim(of: type, on: renamed ?? data, coder: coder ?? self.coder)
    }

    fileprivate func migrated(_ value: any Decodable) throws -> any Decodable {
        try successors.reduce(value) { try $1.migrating($0) }
    }
}

/// The error of a migration that threw, after the bytes were decoded.
struct MigrationFailure: Error {
    let typeName: String
    let underlyingError: any Error
}

extension DefaultMigratable {
    fileprivate static var previousType: any Decodable.Type { Previous.self }

    fileprivate static func migrating(_ value: any Decodable) throws -> any Decodable {
        do {
            guard let previous = value as? Previous else { throw UnexpectedValue() }
            return try Self(migrating: previous)
        } catch {
            throw MigrationFailure(typeName: "\(Previous.self)", underlyingError: error)
        }
    }
}

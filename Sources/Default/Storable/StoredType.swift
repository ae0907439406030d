#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A type that stored bytes may be of: a settings type, or one of its predecessors.
//
// An object, because to copy this many fields takes kilobytes of code. It is immutable.
final class StoredType {
    let type: any Decodable.Type
    /// Its version: its own, or one less than its successor's.
    let version: Int
    /// Whether it has a version of its own.
    let hasVersion: Bool
    let coder: DefaultsCoder
    /// The types that its values are migrated to, one after the other.
    let successors: [any DefaultMigratable.Type]

    private let settings: (any DefaultStorable.Type)?

    /// - Parameters:
    ///   - type: The type.
    ///   - coder: Its coder, unless it is a settings type.
    ///   - nextVersion: The version of its successor.
    ///   - successors: The types that its values are migrated to.
    private init(
        _ type: any Decodable.Type,
        coder: DefaultsCoder,
        nextVersion: Int,
        successors: [any DefaultMigratable.Type]
    ) {
        let settings = type as? any DefaultStorable.Type
        let version = settings?.schemaVersion ?? 0
        hasVersion = version > 0
        self.version = hasVersion ? version : nextVersion - 1
        self.coder = settings?.defaultCoder ?? coder
        (self.type, self.settings, self.successors) = (type, settings, successors)
    }

    /// A settings type and its predecessors, newest first; a chain that leads back to a type ends before it.
    static func chain(of type: any DefaultStorable.Type) -> [StoredType] {
        var chain = [StoredType(type, coder: type.defaultCoder, nextVersion: 1, successors: [])]
        while let predecessor = chain.last?.predecessor {
            chain.append(predecessor)
        }
        return chain
    }

    private var predecessor: StoredType? {
        guard let type = type as? any DefaultMigratable.Type, !successors.contains(where: { $0 == type }) else {
            return nil
        }
        return StoredType(type.previousType, coder: coder, nextVersion: version, successors: [type] + successors)
    }

    /// Whether a write keeps what none of the types from this one on knows.
    var keepsUnknownFields: Bool {
        settings?.keepsUnknownFields ?? true && successors.allSatisfy { $0.keepsUnknownFields }
    }

    /// What the next write drops of the unknown fields.
    var removedProperties: [String] {
        successors.reduce(settings?.removedProperties ?? []) { $0 + $1.removedProperties }
    }
}

/// How some bytes are read: as which type, and after which changes.
//
// An object, as a StoredType is. It is changed by the read that made it only.
final class StoredForm: @unchecked Sendable {
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
        let renaming = Renaming(type, names: statedNames, in: data, coder: coder)
        let data = renaming?.data ?? data
        let form = StoredForm(type: self, coder: coder, bytes: renaming?.data, isCurrent: successors.isEmpty)
        let value: any Decodable
        do {
            value = try coder.decodeTopLevel(anyOf: type, from: data)
        } catch {
            guard fillingIn, let (filledIn, filling) = fillIn(data, coder: coder) else { throw error }
            value = filledIn
            (form.bytes, form.filling, form.report) = (filling.bytes, filling, filling.report)
        }
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
            migratedFrom: successors.isEmpty ? nil : "\(type)"
        )
        return (try migrated(value), form)
    }

    /// Fills in bytes if this is a type with a default value.
    private func fillIn(_ data: Data, coder: DefaultsCoder) -> (value: any Decodable, filling: Filling)? {
        func initial<Provider: DefaultProviding>(_ type: Provider.Type) -> (any Encodable)? { type.defaultValue }
        guard let provider = type as? any DefaultProviding.Type else { return nil }
        let keeps = successors.isEmpty && keepsUnknownFields
        return Filling.run(type, on: data, default: initial(provider), coder: coder, keepsUnknownFields: keeps)
    }

    /// What this type might use of bytes that can't be read as it.
    func claim(to data: Data, coder: DefaultsCoder?) -> KnownKeys.Claim {
        let coder = coder ?? self.coder
        let renamed = Renaming(type, names: statedNames, in: data, coder: coder)?.data
        return KnownKeys.claim(of: type, on: renamed ?? data, coder: coder)
    }

    fileprivate func migrated(_ value: any Decodable) throws -> any Decodable {
        try successors.reduce(value) { try $1.migrating($0) }
    }
}

/// Why bytes are not read as a settings type, although they may be those of one of its versions.
enum VersionFault: Error {
    /// A newer version of the type stored them.
    case newer(Int)
    /// They were decoded, and the migration threw an error.
    case migrationFailed(any Error, from: String)
}

extension DefaultMigratable {
    fileprivate static var previousType: any Decodable.Type { Previous.self }

    fileprivate static func migrating(_ value: any Decodable) throws -> any Decodable {
        do {
            guard let previous = value as? Previous else { throw UnexpectedValue() }
            return try Self(migrating: previous)
        } catch {
            throw VersionFault.migrationFailed(error, from: "\(Previous.self)")
        }
    }
}

/// Stored bytes of any version of a settings type.
struct StoredBytes {
    let data: Data
    /// Their recorded version; nil when there is none.
    let version: SchemaVersion?
    /// The settings type and its predecessors, newest first.
    let types: [StoredType]
    /// Their coder; nil for each type's own.
    let coder: DefaultsCoder?

    private var predecessors: [StoredType] { Array(types.dropFirst()) }

    /// Decodes the bytes.
    ///
    /// - Throws: The error of the decoder, or a ``VersionFault``.
    func read() throws -> StoredType.Outcome {
        let own = types[0]
        if types.count == 1, !own.hasVersion, version == nil {
            return try own.read(data, coder: coder, fillingIn: true)
        }
        // Without a version, what the type decodes exactly is its own.
        if !own.hasVersion, let outcome = try? own.read(data, coder: coder, fillingIn: false) {
            return outcome
        }
        guard let version else {
            let outcome = try readUnrecorded()
            outcome.form.requireForCurrent(!own.hasVersion)
            return outcome
        }
        guard version.readableSince <= own.version else { throw VersionFault.newer(version.number) }
        // The predecessor with that version or, if it no longer exists, with the next higher version.
        let predecessor = predecessors.last { $0.version >= version.number }
        let type = version.number < own.version ? predecessor ?? own : own
        let outcome = try type.read(data, coder: coder, fillingIn: true)
        outcome.form.requireForCurrent(version.number >= own.version)
        return outcome
    }

    /// Decodes bytes without a recorded version.
    ///
    /// A type with a version records it at each write. So the bytes are those of a type without a version if such a type can
    /// use any part of them, and only otherwise those of a type with one.
    private func readUnrecorded() throws -> StoredType.Outcome {
        // The current type is filled in last: its default has all that it needs, so it reads bytes of any other type.
        let currentLast = predecessors + [types[0]]
        var last: StoredType.Outcome?
        for hasVersion in [false, true] {
            let claim = hasVersion ? strongestClaim : nil
            let outcome = try bestReading(
                exactlyBy: types.filter { $0.hasVersion == hasVersion && claim?.claim != .all },
                orFilledInBy: currentLast.filter { $0.hasVersion == hasVersion && claim == nil }
            )
            if let outcome, outcome.form.filling?.usesNothing != true { return outcome }
            if let claim, outcome == nil, last == nil {
                return try claim.type.read(data, coder: coder, fillingIn: true)
            }
            last = last ?? outcome
        }
        return try last ?? types[0].read(data, coder: coder, fillingIn: true)
    }

    /// The predecessor without a version that could mean the most by bytes that it can't read; nil when none can use anything.
    private var strongestClaim: (type: StoredType, claim: KnownKeys.Claim)? {
        let unable = predecessors.filter {
            !$0.hasVersion && (try? $0.read(data, coder: coder, fillingIn: true)) == nil
        }
        let claims = unable.map { (type: $0, claim: $0.claim(to: data, coder: coder)) }
        return claims.first { $0.claim == .all } ?? claims.first { $0.claim == .some }
    }

    /// The first that succeeds: an exact decoding, a filled-in one that uses all stored values, or the filled-in one that
    /// loses the fewest.
    private func bestReading(
        exactlyBy exact: [StoredType],
        orFilledInBy filledIn: [StoredType]
    ) throws -> StoredType.Outcome? {
        var best: StoredType.Outcome?
        for (index, type) in (exact + filledIn).enumerated() {
            let isExact = index < exact.count
            do {
                let outcome = try type.read(data, coder: coder, fillingIn: !isExact)
                if isExact || outcome.form.unusedCount == 0 { return outcome }
                if outcome.form.unusedCount < best?.form.unusedCount ?? .max {
                    best = outcome
                }
            } catch let fault as VersionFault {
                // The bytes are of that type, but its migration rejected them.
                throw fault
            } catch {
                continue
            }
        }
        return best
    }
}

/// The names that settings types state; other types state none.
let statedNames: PropertyNames = { ($0 as? any DefaultStorable.Type)?.renamedProperties ?? [:] }

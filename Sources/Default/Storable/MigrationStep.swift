internal import Foundation

/// Converts the bytes of an earlier type to a value of the current type.
struct MigrationStep<Value> {
    /// The earlier type's version: its own, or one less than its successor's.
    let version: Int
    /// Whether the earlier type has its own version.
    let hasVersion: Bool
    /// Whether the earlier type's coder always decodes the same bytes to the same value.
    let remembersDecodedValues: Bool
    /// Decodes the bytes with a coder, or with each type's own if it is nil, fills them in if requested and possible, and
    /// migrates.
    let read: (_ data: Data, _ coder: DefaultsCoder?, _ fillingIn: Bool) throws -> Reading<Value>
    /// What the earlier type might use of bytes that can't be read as it.
    let claim: (_ data: Data, _ coder: DefaultsCoder?) -> KnownKeys.Claim
}

/// The error of a migration that threw, after the bytes were decoded.
struct MigrationFailure: Error {
    let typeName: String
    let underlyingError: any Error
}

extension DefaultStorable {
    /// The steps from each earlier type to this one, newest first; none for a type without a predecessor.
    static var migrationSteps: [MigrationStep<Self>] {
        guard let type = Self.self as? any DefaultMigratable.Type else {
            return []
        }
        return steps(of: type)
    }

    private static func steps<Migratable: DefaultMigratable>(of type: Migratable.Type) -> [MigrationStep<Self>] {
        type.steps(version: max(type.schemaVersion, 0), after: []).compactMap { $0 as? MigrationStep<Self> }
    }

    /// Decodes bytes of this type, for a successor that only knows that the type is decodable.
    fileprivate static func read(_ data: Data, coder: DefaultsCoder?, fillingIn: Bool) throws -> Reading<Any> {
        let coder = coder ?? defaultCoder
        var reading =
            try fillingIn
            ? readCurrent(data, coder: coder, isOwn: false) : decodeCurrent(data, coder: coder)
        if keepsUnknownFields {
            reading.unknown = unknownFields(in: data, of: reading, coder: coder)
        }
        return reading.map { $0 }
    }
}

extension DefaultProviding {
    /// The same for a type that is not a settings type.
    fileprivate static func fillIn(_ data: Data, coder: DefaultsCoder) -> Reading<Any>? {
        Completion.run(Self.self, on: data, default: defaultValue, coder: coder)?.map { $0 }
    }
}

extension DefaultMigratable {
    /// - Parameters:
    ///   - version: This type's version: its own, or one less than its successor's.
    ///   - successors: The types visited so far. A chain that leads back to one of them ends there.
    /// - Returns: The steps from each earlier type to this one, newest first.
    fileprivate static func steps(version: Int, after successors: [Any.Type]) -> [MigrationStep<Self>] {
        guard !successors.contains(where: { $0 == Self.self }) else {
            return []
        }
        let storable = Previous.self as? any DefaultStorable.Type
        let stated = storable?.schemaVersion ?? 0
        let previousVersion = stated > 0 ? stated : version - 1
        let step = MigrationStep<Self>(
            version: previousVersion,
            hasVersion: stated > 0,
            remembersDecodedValues: storable?.remembersDecodedValues ?? true,
            read: { data, coder, fillingIn in
                let previous = try readPrevious(data, coder: coder, fillingIn: fillingIn)
                return try migrating(previous, of: "\(Previous.self)")
            },
            claim: { data, coder in
                let renamed = storable.flatMap { Renaming($0.renamedProperties, in: data)?.data }
                let coder = coder ?? storable?.defaultCoder ?? defaultCoder
                return KnownKeys.claim(of: Previous.self, on: renamed ?? data, coder: coder)
            }
        )
        guard let migratable = Previous.self as? any DefaultMigratable.Type else {
            return [step]
        }
        return [step] + lifted(migratable, version: previousVersion, after: successors + [Self.self])
    }

    /// The steps to the predecessor, each followed by the step from there to this type.
    private static func lifted<Predecessor: DefaultMigratable>(
        _ type: Predecessor.Type,
        version: Int,
        after successors: [Any.Type]
    ) -> [MigrationStep<Self>] {
        type.steps(version: version, after: successors).map { step in
            MigrationStep(
                version: step.version,
                hasVersion: step.hasVersion,
                remembersDecodedValues: step.remembersDecodedValues,
                read: { data, coder, fillingIn in
                    let reading = try step.read(data, coder, fillingIn)
                    return try migrating(reading.map { $0 }, of: nil)
                },
                claim: step.claim
            )
        }
    }

    private static func readPrevious(
        _ data: Data,
        coder: DefaultsCoder?,
        fillingIn: Bool
    ) throws -> Reading<Any> {
        if let storable = Previous.self as? any DefaultStorable.Type {
            return try storable.read(data, coder: coder, fillingIn: fillingIn)
        }
        let coder = coder ?? defaultCoder
        var reading: Reading<Any>
        do {
            reading = Reading(value: try coder.decodeTopLevel(Previous.self, from: data))
        } catch {
            guard fillingIn, let type = Previous.self as? any DefaultProviding.Type,
                let filledIn = type.fillIn(data, coder: coder)
            else {
                throw error
            }
            reading = filledIn
        }
        reading.unknown = UnknownFields(
            in: reading.bytes ?? data,
            unknownTo: Previous.self,
            coder: coder
        )
        return reading
    }

    private static func migrating(_ reading: Reading<Any>, of name: String?) throws -> Reading<Self> {
        guard let previous = reading.value as? Previous else {
            let found = "\(type(of: reading.value))"
            throw MigrationFailure(typeName: found, underlyingError: CocoaError(.coderInvalidValue))
        }
        do {
            var migrated = try reading.map { _ in try Self(migrating: previous) }
            migrated.report = LoadReport(
                filledIn: reading.report?.filledIn ?? [],
                unusable: reading.report?.unusable ?? [],
                migratedFrom: name ?? reading.report?.migratedFrom
            )
            migrated.isCurrent = false
            migrated.unknown = keepsUnknownFields ? migrated.unknown.flatMap(withoutRemoved) : nil
            return migrated
        } catch {
            throw MigrationFailure(typeName: "\(Previous.self)", underlyingError: error)
        }
    }
}

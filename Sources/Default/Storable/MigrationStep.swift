internal import Foundation

/// A way from the bytes of an earlier type to a value of the current one.
struct MigrationStep<Value> {
    /// The earlier type's version: its own, or the one before its successor's.
    let version: Int
    /// Whether the earlier type states a version of its own.
    let statesVersion: Bool
    /// Decodes the bytes, with each type's own coder where none is given, completing them if that is wanted and possible,
    /// and migrates.
    let read: (_ data: Data, _ coder: DefaultsCoder?, _ completing: Bool) throws -> Reading<Value>
}

/// A migration that threw; what it was made of could be decoded.
struct MigrationFailure: Error {
    let typeName: String
    let underlyingError: any Error
}

extension DefaultStorable {
    /// The ways from each earlier type to this one, the newest first; none for a type without predecessor.
    static var migrationSteps: [MigrationStep<Self>] {
        guard let type = Self.self as? any DefaultMigratable.Type else {
            return []
        }
        return steps(of: type)
    }

    private static func steps<Migratable: DefaultMigratable>(of type: Migratable.Type) -> [MigrationStep<Self>] {
        type.steps(version: type.schemaVersion, after: []).compactMap { $0 as? MigrationStep<Self> }
    }

    /// Decodes bytes of this type, for a successor that knows it as no more than decodable.
    fileprivate static func read(_ data: Data, coder: DefaultsCoder?, completing: Bool) throws -> (Any, LoadReport?) {
        let coder = coder ?? defaultCoder
        let reading = try completing ? readCurrent(data, coder: coder) : decodeCurrent(data, coder: coder)
        return (reading.value, reading.report)
    }
}

extension DefaultMigratable {
    /// - Parameters:
    ///   - version: This type's version: its own, or the one before its successor's.
    ///   - successors: The types on the way here; a chain that leads back to one of them ends there.
    /// - Returns: The ways from each earlier type to this one, the newest first.
    fileprivate static func steps(version: Int, after successors: [Any.Type]) -> [MigrationStep<Self>] {
        guard !successors.contains(where: { $0 == Self.self }) else {
            return []
        }
        let storable = Previous.self as? any DefaultStorable.Type
        let stated = storable?.schemaVersion ?? 0
        let previousVersion = stated > 0 ? stated : version - 1
        let step = MigrationStep<Self>(version: previousVersion, statesVersion: stated > 0) {
            data,
            coder,
            completing in
            let (previous, report) = try readPrevious(data, coder: coder, completing: completing)
            return try migrating(previous, of: "\(Previous.self)", report: report)
        }
        guard let migratable = Previous.self as? any DefaultMigratable.Type else {
            return [step]
        }
        return [step] + lifted(migratable, version: previousVersion, after: successors + [Self.self])
    }

    /// The ways to the predecessor, each with the step from there to this type behind it.
    private static func lifted<Predecessor: DefaultMigratable>(
        _ type: Predecessor.Type,
        version: Int,
        after successors: [Any.Type]
    ) -> [MigrationStep<Self>] {
        type.steps(version: version, after: successors).map { step in
            MigrationStep(version: step.version, statesVersion: step.statesVersion) { data, coder, completing in
                let reading = try step.read(data, coder, completing)
                return try migrating(reading.value, of: nil, report: reading.report)
            }
        }
    }

    private static func readPrevious(
        _ data: Data,
        coder: DefaultsCoder?,
        completing: Bool
    ) throws -> (Any, LoadReport?) {
        if let storable = Previous.self as? any DefaultStorable.Type {
            return try storable.read(data, coder: coder, completing: completing)
        }
        return (try (coder ?? defaultCoder).decodeTopLevel(Previous.self, from: data), nil)
    }

    private static func migrating(_ previous: Any, of name: String?, report: LoadReport?) throws -> Reading<Self> {
        guard let previous = previous as? Previous else {
            throw MigrationFailure(typeName: "\(type(of: previous))", underlyingError: CocoaError(.coderInvalidValue))
        }
        do {
            let report = LoadReport(
                filledIn: report?.filledIn ?? [],
                unusable: report?.unusable ?? [],
                migratedFrom: name ?? report?.migratedFrom
            )
            return Reading(value: try Self(migrating: previous), report: report, isCurrent: false)
        } catch {
            throw MigrationFailure(typeName: "\(Previous.self)", underlyingError: error)
        }
    }
}

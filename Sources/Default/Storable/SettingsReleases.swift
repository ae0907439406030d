extension StoredType {
    /// A settings type and its predecessors, newest first; a chain that leads back to a type ends before it.
    static func chain(of newest: any DefaultStorable.Type) -> [StoredType] {
        var chain: [StoredType] = []
        var type: any Decodable.Type = newest
        var coder = newest.defaultCoder
        var successors: [any DefaultMigratable.Type] = []
        while true {
            let settings = type as? any DefaultStorable.Type
            let ownVersion = settings?.schemaVersion ?? 0
            coder = settings?.defaultCoder ?? coder
            let later = successors
            let stored = StoredType(
                type: type,
                version: ownVersion > 0 ? ownVersion : (chain.last?.version ?? 1) - 1,
                hasVersion: ownVersion > 0,
                coder: coder,
                keepsUnknownFields: settings?.keepsUnknownFields ?? true && later.allSatisfy { $0.keepsUnknownFields },
                removedProperties: later.reduce(settings?.removedProperties ?? []) { $0 + $1.removedProperties },
                migration: later.isEmpty ? nil : { value in try later.reduce(value) { try $1.migrating($0) } }
            )
            chain.append(stored)
            guard let migratable = type as? any DefaultMigratable.Type,
                !successors.contains(where: { $0 == migratable })
            else { return chain }
            successors.insert(migratable, at: 0)
            type = migratable.previousType
        }
    }
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

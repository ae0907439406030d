#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parts of a replaced value that a write keeps.
struct KeptFields {
    /// The fields that the type doesn't know; nil when it knows all, or none is to be kept.
    var fields: UnknownFields?
    /// Whether the fields are from a predecessor's bytes, so that this type may know some of them.
    var arePredecessors = false
    /// The version of the value, if it is that of a newer type.
    var version: SchemaVersion?

    /// The bytes of a new value with the fields that were added to them.
    struct Addition {
        let data: Data
        /// The paths of the fields that have no place in the new value.
        let lost: [StoredTree.Path]
    }

    /// Adds the fields to the bytes of a new value.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - newest: Their type. Of a predecessor's fields, those under old names of its properties are left out.
    /// - Returns: The bytes with the fields that have a place in the new value, and the others.
    func added(to data: Data, of newest: StoredType) -> Addition {
        guard let fields else { return Addition(data: data, lost: []) }
        var lost: [StoredTree.Path] = []
        if arePredecessors {
            let all = fields.paths
            // Under the old name of a property, the next read would take it for that.
            for name in Renaming.names(of: newest.type).keys {
                for path in fields.paths(named: name) {
                    fields.remove(path, keepingParts: true)
                }
            }
            lost = all.filter { !fields.hasField(at: $0) }
        }
        var placement = fields.added(to: data)
        if arePredecessors {
            // The fields that this type knows have their values from the migration.
            let unknown = placement.data.flatMap {
                UnknownFields(in: $0, unknownTo: newest.type, coder: newest.coder)
            }
            let known = placement.placed.filter { unknown?.hasField(at: $0) != true }
            lost += placement.unplaced + placement.replaced + known
            placement = unknown?.added(to: data) ?? .init()
        }
        lost += placement.unplaced
        return Addition(data: placement.data ?? data, lost: lost)
    }
}

extension StoredForm {
    /// The fields that the type of some bytes doesn't know in them, except for those to be dropped.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - value: The value that they were read as.
    /// - Returns: The fields; nil when the type knows everything.
    func unknownFields(in data: Data, encoding value: some Encodable) -> UnknownFields? {
        let data = bytes ?? data
        // Nothing is unknown in what the type itself encodes.
        if type.isNewest, (try? coder.encodeTopLevel(value))?.isSame(as: data) == true { return nil }
        let unknown = UnknownFields(
            in: data,
            unknownTo: type.type,
            decodedAs: type.isNewest ? value : nil,
            coder: coder
        )
        // These are unusable, so the bytes are quarantined. A container of that name keeps its unknown fields.
        for path in oldNames {
            unknown?.remove(path, keepingParts: true)
        }
        for name in type.removedProperties {
            for path in unknown?.paths(named: name) ?? [] {
                unknown?.remove(path)
            }
        }
        return unknown?.isEmpty == false ? unknown : nil
    }
}

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

    /// Adds the fields to the bytes of a new value.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - newest: Their type. Of a predecessor's fields, those under old names of its properties are left out.
    /// - Returns: The bytes with the fields, and the paths of those that have no place in the new value.
    func added(to data: Data, of newest: StoredType) -> UnknownFields.Placement {
        guard var fields else { return .init() }
        guard arePredecessors else { return fields.added(to: data) }
        let all = fields.fields.keys
        // Under the old name of a property, the next read would take it for that.
        for name in Renaming.names(of: newest.type).keys {
            for path in fields.paths(named: name) { fields.remove(path, keepingParts: true) }
        }
        let first = fields.added(to: data)
        // The fields that this type knows have their values from the migration.
        let unknown = first.data.flatMap { UnknownFields(in: $0, unknownTo: newest.type, coder: newest.coder) }
        var placement = unknown?.added(to: data) ?? .init()
        placement.unplaced += first.unplaced + first.replaced + all.filter { fields.fields[$0] == nil }
        placement.unplaced += first.placed.filter { unknown?.fields[$0] == nil }
        return placement
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
        let own = type.isNewest ? value : nil
        guard var unknown = UnknownFields(in: data, unknownTo: type.type, decodedAs: own, coder: coder) else {
            return nil
        }
        // These are unusable, so the bytes are quarantined. A container of that name keeps its unknown fields.
        for path in oldNames { unknown.remove(path, keepingParts: true) }
        for name in type.removedProperties {
            for path in unknown.paths(named: name) { unknown.remove(path) }
        }
        return unknown.fields.isEmpty ? nil : unknown
    }
}

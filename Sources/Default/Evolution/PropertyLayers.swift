#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// How the properties of settings come from several layers:
//
// 1. Each source is looked up under the type's names, the present one first, and what the first of them has becomes
//    fields under the type's present names: it may have been written for an older release
//    (``PropertyLayers/fields(of:)``).
// 2. The default value's fields are replaced by those of the registered value, the fallbacks, what is stored, the
//    overrides, the launch arguments and the mandatory sources, in this order, and decoded once
//    (``PropertyLayers/effective(own:registered:default:)``).
// 3. Only when that fails the layers are added one after the other, to find out which of them can't be used, and where.
// 4. A write compares the new value's fields with the effective ones, and stores those that the caller has changed or
//    that were stored before (``PropertyLayers/changes(to:own:effective:registered:)``).

/// What the sources of a store say about one settings type at one time, property by property.
final class PropertyLayers: @unchecked Sendable {
    // It is changed by nobody once it is made.

    typealias Fields = [String: StoredTree]

    /// The properties that one layer has, under their present names.
    struct Layer {
        let origin: DefaultsOrigin
        var fields: Fields
        /// The second reading of each text, tried when the first fails; only without a default value.
        var otherReadings: Fields = [:]
    }

    /// The settings type and its predecessors, newest first.
    let chain: [StoredType]
    private let identifiers: [String]
    private let context: ErrorContext
    let defaultValue: (any Encodable)?
    let defaultFields: Fields?
    private let format: StoredTree.Format
    /// Whether the type's form isn't an object, so that its value counts as a whole; known from a default value only.
    let isOneValue: Bool
    /// The layers below what is stored, the lowest first.
    private(set) var below: [Layer] = []
    /// The layers above it, the lowest first.
    private(set) var above: [Layer] = []
    /// The names that the default value or a layer below what is stored has a value for.
    private var namesBelow: Set<String> = []
    /// For a type that counts as a whole: the values of the layers, the highest first.
    private var wholeAbove: [any Decodable] = []
    private var wholeBelow: [any Decodable] = []

    private var newest: StoredType { chain[0] }
    private var coder: DefaultsCoder { chain[0].coder }

    /// - Parameters:
    ///   - chain: The settings type and its predecessors, newest first.
    ///   - identifiers: The keys that settings may be under, the present one first.
    ///   - defaultValue: The type's default value; nil for none.
    ///   - snapshot: What the sources say.
    ///   - context: The key, the type and the store, for reports.
    init(
        _ chain: [StoredType],
        under identifiers: [String],
        default defaultValue: (any Encodable)?,
        in snapshot: SourceSnapshot,
        _ context: ErrorContext
    ) {
        (self.chain, self.identifiers, self.defaultValue, self.context) = (chain, identifiers, defaultValue, context)
        let encoded = defaultValue.flatMap { try? chain[0].coder.encodeTopLevel($0) }.flatMap { StoredTree.parse($0) }
        defaultFields = encoded?.tree.fields
        format = encoded?.format ?? chain[0].coder.treeFormat
        // The keys of an enum's form are its cases, of which there is one.
        let isEnum = defaultValue.map { Mirror(reflecting: $0).displayStyle == .enum } ?? false
        isOneValue = encoded != nil && (defaultFields == nil || isEnum)
        if isOneValue {
            wholeAbove = snapshot.above.compactMap { whole(of: $0) }
            wholeBelow = snapshot.below.compactMap { whole(of: $0) }
        } else {
            below = snapshot.below.reversed().compactMap { fields(of: $0) }
            above = snapshot.above.reversed().compactMap { fields(of: $0) }
        }
        namesBelow = below.reduce(Self.names(in: defaultFields ?? [:], and: [])) { Self.names(in: $1.fields, and: $0) }
    }

    /// Some names, and those of the fields that aren't nil.
    private static func names(in fields: Fields, and names: Set<String>) -> Set<String> {
        names.union(fields.lazy.filter { !$0.value.mayBeNull }.map(\.key))
    }

    /// Whether no source says anything about the type.
    var isEmpty: Bool { below.isEmpty && above.isEmpty && wholeAbove.isEmpty && wholeBelow.isEmpty }

    // MARK: What the sources say

    private func tree(of value: PropertyListValue) -> StoredTree? {
        switch value {
        case .data(let data):
            guard let parsed = StoredTree.parse(data), parsed.format == format else { return nil }
            return parsed.tree
        case .string(let text) where text.utf8.first == UInt8(ascii: "{"):
            if format == .json { return StoredTree.parse(Data(text.utf8))?.tree }
            return (try? JSONDocument.value(of: Array(text.utf8))).flatMap { $0 }.flatMap { leaf($0) }
        default:
            return leaf(value)
        }
    }

    /// A value in the format of the type's coder, which decides how dates and data are written.
    private func leaf(_ value: PropertyListValue) -> StoredTree? {
        func encoded(_ value: some Encodable) -> StoredTree? {
            // In an array: a coder may refuse a single value.
            let array = (try? coder.encodeTopLevel([value])).flatMap { StoredTree.parse($0)?.tree }
            guard case .array(let elements)? = array else { return nil }
            return elements.first
        }
        if format == .propertyList { return StoredTree(value) }
        switch value {
        case .string(let value): return encoded(value)
        case .boolean(let value): return encoded(value)
        case .integer(let value): return encoded(value)
        case .unsigned(let value): return encoded(value)
        case .real(let value): return encoded(value)
        case .data(let value): return encoded(value)
        case .date(let value): return encoded(value)
        case .array(let values):
            let elements = values.compactMap { leaf($0) }
            return elements.count == values.count ? .array(elements) : nil
        case .dictionary(let entries):
            let fields = entries.compactMapValues { leaf($0) }
            return fields.count == entries.count ? .object(fields) : nil
        }
    }

    /// What a layer has for a type that counts as a whole.
    private func whole(of layer: SourceSnapshot.Layer) -> (any Decodable)? {
        for identifier in identifiers {
            guard let value = layer.value(for: StoreKey(unchecked: identifier)) else { continue }
            let readings = layer.isText ? readings(of: value) : [tree(of: value)].compactMap { $0 }
            for reading in readings {
                if let data = reading.data(in: format), let value = try? decode(data) { return value }
            }
            report([.init(keys: [], reason: .malformed)], of: layer.origin)
            return nil
        }
        return nil
    }

    /// What a layer has for the type: under the first of its names that it knows.
    private func fields(of layer: SourceSnapshot.Layer) -> Layer? {
        var found: Fields = [:]
        for identifier in identifiers {
            let own = layer.value(for: StoreKey(unchecked: identifier))
            if let own {
                guard let fields = tree(of: own)?.fields else {
                    report([.init(keys: [], reason: .wrongType(needed: "\(newest.type)"))], of: layer.origin)
                    return nil
                }
                found = present(fields.filter { !$0.value.mayBeNull }, of: layer, under: identifier)
            }
            let single = properties(of: layer.variables, under: identifier)
            if own == nil, single.isEmpty { continue }
            var result = Layer(origin: layer.origin, fields: found.merging(single) { $1 })
            if layer.isText { resolveTexts(of: &result) }
            return result.fields.isEmpty ? nil : result
        }
        return nil
    }

    /// The properties that variables of the environment name.
    private func properties(of variables: EnvironmentVariables?, under identifier: String) -> Fields {
        guard let variables, let defaultFields else { return [:] }
        var fields: Fields = [:]
        for name in knownNames(besides: defaultFields) {
            guard let value = variables.value(ofProperty: name, of: identifier) else { continue }
            if case .string(let text) = value {
                fields[name] = leaf(.string(text))
            } else {
                fields[name] = tree(of: value)
            }
        }
        return fields
    }

    /// The names of the properties: those that the default value is stored with, and optional ones that are nil in it.
    private func knownNames(besides fields: Fields) -> Set<String> {
        let asked = coder.isBuiltIn ? KnownKeys.shape(of: newest.type, coder: coder)?.names ?? [] : []
        return asked.union(fields.keys)
    }

    /// Finds a reading for each text that the type can use: as a text, else as a number, a Boolean or JSON.
    private func resolveTexts(of layer: inout Layer) {
        for (name, field) in layer.fields {
            guard let text = text(of: field) else { continue }
            let readings = readings(of: .string(text))
            guard let defaultFields else {
                layer.otherReadings[name] = readings.dropFirst().first
                continue
            }
            let usable = readings.first { reading in
                (try? decode(defaultFields.merging([name: reading]) { $1 })) != nil
            }
            if let usable { layer.fields[name] = usable }
        }
    }

    private func text(of field: StoredTree) -> String? {
        switch field {
        case .json(let bytes) where bytes.first == UInt8(ascii: "\""):
            try? JSONDecoder().decode(String.self, from: Data(bytes))
        case .propertyList(.string(let text)): text
        default: nil
        }
    }

    /// What a text may stand for, the text itself first.
    private func readings(of value: PropertyListValue) -> [StoredTree] {
        guard case .string(let text) = value else { return [tree(of: value)].compactMap { $0 } }
        var values: [PropertyListValue] = [value]
        if let parsed = try? JSONDocument.value(of: Array(text.utf8)) { values.append(parsed) }
        switch text.lowercased() {
        case "yes", "on", "true", "1": values.append(.boolean(true))
        case "no", "off", "false", "0": values.append(.boolean(false))
        default: break
        }
        return values.compactMap { leaf($0) }
    }

    // MARK: Older releases

    /// Gives fields, which may be those of an older release, their present names.
    private func present(_ fields: Fields, of layer: SourceSnapshot.Layer, under identifier: String) -> Fields {
        let own = newest
        let release: StoredType?
        if let version = version(of: layer, under: identifier) {
            release = version >= own.version ? nil : chain.dropFirst().last { $0.version >= version }
        } else {
            release = chain.count > 1 ? chain.first { knowsAll(fields, $0) } : nil
        }
        guard let release, !release.isNewest else { return renamed(fields, of: own) }
        return migrated(fields, from: release) ?? [:]
    }

    private func version(of layer: SourceSnapshot.Layer, under identifier: String) -> Int? {
        switch layer.values[StoreKey(unchecked: CompanionKey.version(of: identifier))] {
        case .integer(let number): return Int(exactly: number)
        case .string(let text): return SchemaRecord(text: text)?.entries.first?.version.number ?? Int(text)
        default: return nil
        }
    }

    /// Whether a release knows all names of some fields.
    private func knowsAll(_ fields: Fields, _ release: StoredType) -> Bool {
        guard let data = completed(fields, of: release),
            let outcome = try? release.read(data, coder: nil, fillingIn: true)
        else { return false }
        let unknown = UnknownFields(
            in: outcome.form.bytes ?? data,
            unknownTo: release.type,
            coder: release.coder
        )
        let names = renamed(fields, of: release)
        return unknown?.fields.keys.contains { $0.count == 1 && names[$0[0]] != nil } != true
    }

    private func renamed(_ fields: Fields, of release: StoredType) -> Fields {
        guard let data = StoredTree.object(fields).data(in: format),
            let renamed = Renaming(release.type, in: data, coder: release.coder)?.data
        else { return fields }
        return StoredTree.parse(renamed)?.tree.fields ?? fields
    }

    /// The bytes of some fields over the release's default value.
    private func completed(_ fields: Fields, of release: StoredType) -> Data? {
        let start = ownDefault(of: release.type).flatMap { try? release.coder.encodeTopLevel($0) }
            .flatMap { StoredTree.parse($0)?.tree.fields }
        return StoredTree.object((start ?? [:]).merging(renamed(fields, of: release)) { $1 }).data(in: format)
    }

    /// What some fields of a predecessor are in the newest release: what they make different from the predecessor's
    /// default value, and what has the same name.
    private func migrated(_ fields: Fields, from release: StoredType) -> Fields? {
        func value(_ fields: Fields) -> Fields? {
            guard let data = completed(fields, of: release),
                let outcome = try? release.read(data, coder: nil, fillingIn: true)
            else { return nil }
            return encode(outcome.value)
        }
        guard let new = value(fields) else { return nil }
        let old = value([:]) ?? [:]
        let names = renamed(fields, of: release)
        return new.filter { name, field in names[name] != nil || !Self.areSame(field, old[name]) }
    }

    // MARK: What is stored

    /// The fields that stored bytes say, under the present names; what can't be used isn't said.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - outcome: Their value.
    ///   - isPartial: Whether they are marked as a part of a value. Whole bytes say nil for an optional property that
    ///     they lack.
    /// - Returns: The fields.
    func ownFields(of data: Data, read outcome: StoredType.Outcome, isPartial: Bool) -> Fields {
        guard let stored = StoredTree.parse(data)?.tree.fields else { return [:] }
        let form = outcome.form
        guard form.type.isNewest else {
            let whole = encode(outcome.value) ?? [:]
            return isPartial ? migrated(stored, from: form.type) ?? whole : whole
        }
        var said = renamed(stored, of: form.type)
        if !isPartial, let defaultFields, let read = encode(outcome.value) {
            for (name, field) in defaultFields where !field.mayBeNull && said[name] == nil && read[name] == nil {
                said[name] = null
            }
        }
        guard let used = form.bytes.flatMap({ StoredTree.parse($0)?.tree.fields }) else { return said }
        let unusable = Set(form.report.unusable.map(\.keys))
        var fields: Fields = [:]
        for (name, field) in said where !unusable.contains([name]) {
            // A part of it may have been filled in.
            fields[name] = used[name] ?? field
        }
        return fields
    }

    /// Whether only a mark says if bytes are a whole value or a part of one: they can be decoded alone, and lack a
    /// property of the default value, which is nil in the first case.
    func mayBeWholeOrPart(_ own: PropertyListValue?) -> Bool {
        guard case .data(let data)? = own, let fields = StoredTree.parse(data)?.tree.fields, let defaultFields,
            defaultFields.contains(where: { !$1.mayBeNull && fields[$0] == nil })
        else { return false }
        return (try? decode(data)) != nil
    }

    /// The fields of a registered value.
    func registeredFields(_ value: PropertyListValue?) -> Fields? {
        guard let value, !isOneValue, let fields = tree(of: value)?.fields else { return nil }
        return renamed(fields, of: newest)
    }

    // MARK: Reading

    /// The fields of a value as the type encodes them; nil if it can't be encoded.
    func encode(_ value: any Decodable) -> Fields? {
        guard let value = value as? any Encodable else { return nil }
        return (try? coder.encodeTopLevel(value)).flatMap { StoredTree.parse($0)?.tree.fields }
    }

    /// The value of some bytes.
    func decode(_ data: Data) throws -> any Decodable {
        try coder.decodeTopLevel(anyOf: newest.type, from: data)
    }

    /// The value of some fields.
    func decode(_ fields: Fields) throws -> any Decodable {
        guard let data = StoredTree.object(fields).data(in: format) else { throw UnexpectedValue() }
        return try decode(data)
    }

    /// The value that all layers give together; nil if they don't say enough.
    ///
    /// - Parameters:
    ///   - own: What is stored; nil for nothing.
    ///   - registered: What is registered; nil for nothing.
    ///   - initial: The value that takes the place of the type's default; nil for that itself.
    /// - Returns: The value.
    func effective(
        own: Fields?,
        registered: Fields?,
        default initial: (any Encodable)? = nil
    ) -> (any Decodable)? {
        var start = defaultFields
        if let initial { start = (try? coder.encodeTopLevel(initial)).flatMap { StoredTree.parse($0)?.tree.fields } }
        let stored = DefaultsOrigin(.stored, name: context.store ?? "")
        let all =
            (registered.map { [Layer(origin: DefaultsOrigin(.registered, name: "registered"), fields: $0)] } ?? [])
            + below + (own.map { [Layer(origin: stored, fields: $0)] } ?? []) + above
        if let value = try? decode(all.reduce(start ?? [:]) { $0.merging($1.fields) { $1 } }) {
            return value
        }
        if start == nil {
            let other = all.reduce([:]) { $0.merging($1.fields) { $1 }.merging($1.otherReadings) { $1 } }
            if let value = try? decode(other) { return value }
        }
        return usable(of: all, over: start, initial ?? defaultValue)
    }

    /// Adds one layer after the other, without what can't be used of it; of sources, that is reported.
    private func usable(of layers: [Layer], over start: Fields?, _ initial: (any Encodable)?) -> (any Decodable)? {
        var (value, fields) = (initial, start ?? [:])
        for layer in layers {
            let all = fields.merging(layer.fields) { $1 }
            if let next = try? decode(all) {
                (value, fields) = (next as? any Encodable, all)
            } else if let data = StoredTree.object(all).data(in: format),
                let found = Filling.run(
                    newest.type,
                    on: data,
                    default: value,
                    coder: coder,
                    keepsUnknownFields: true
                ), let used = StoredTree.parse(found.filling.bytes)?.tree.fields
            {
                (value, fields) = (found.value as? any Encodable, used)
                if layer.origin.kind != .stored { report(found.filling.report.unusable, of: layer.origin) }
            } else if value == nil {
                // The layers above may say what is missing.
                fields = all
            } else if layer.origin.kind != .stored {
                report([.init(keys: [], reason: .malformed)], of: layer.origin)
            }
        }
        return value as? any Decodable
    }

    /// The value of a type that counts as a whole.
    func wholeValue(own: (any Decodable)?) -> (any Decodable)? {
        wholeAbove.first ?? own ?? wholeBelow.first ?? defaultValue as? any Decodable
    }

    /// What to store for a new value of a type that counts as a whole.
    ///
    /// If it is what all layers give together already, what is stored stays, and what a source says stays the source's.
    ///
    /// - Parameters:
    ///   - data: The new value's bytes.
    ///   - own: The stored value; nil for none.
    ///   - stored: Its bytes, if they are of the type as it is now.
    /// - Returns: The bytes; nil for nothing.
    func wholeBytes(for data: Data, own: (any Decodable)?, storedAs stored: Data?) -> Data? {
        func bytes(of value: (any Decodable)?) -> Data? {
            (value as? any Encodable).flatMap { try? coder.encodeTopLevel($0) }
        }
        guard let present = bytes(of: wholeValue(own: own)).flatMap({ StoredTree.parse($0)?.tree }),
            let new = StoredTree.parse(data)?.tree, new.isWritten(as: present)
        else { return data }
        return stored ?? bytes(of: own)
    }

    private func report(_ parts: [LoadReport.UnusableValue], of origin: DefaultsOrigin) {
        DefaultsDiagnostics.report(parts, of: origin, context)
    }

    // MARK: Origin

    /// The layers that have a property, the effective one first.
    func origins(ofProperty name: String, own: Fields?, registered: Fields?) -> [DefaultsOrigin] {
        func having(_ layers: [Layer]) -> [DefaultsOrigin] {
            layers.reversed().filter { $0.fields[name] != nil }.map(\.origin)
        }
        var origins = having(above)
        if own?[name] != nil { origins.append(DefaultsOrigin(.stored, name: context.store ?? "")) }
        origins += having(below)
        if registered?[name] != nil { origins.append(DefaultsOrigin(.registered, name: "registered")) }
        return origins
    }

    // MARK: Writing

    /// What a write stores, and what it may not change.
    struct Changes {
        /// The fields to store; nil if nothing has changed and nothing is stored.
        var fields: Fields?
        /// Whether some of the value's fields are left to other layers.
        var isPartial = false
        /// Whether the new value is what all layers give together once the fields are stored.
        var isEffective = true
        /// The mandatory properties that differ in the new value.
        var refused: [MandatoryProperty] = []
    }

    /// Finds out which fields of a new value to store.
    ///
    /// Those are the ones that the caller has changed from the effective value, and those that were stored before. What
    /// sources say stays theirs.
    ///
    /// - Parameters:
    ///   - new: The new value's fields.
    ///   - own: What is stored; nil for nothing.
    ///   - effective: The fields of the effective value over the type's own default; nil if there is none.
    ///   - registered: What is registered; nil for nothing.
    /// - Returns: The changes.
    func changes(to new: Fields, own: Fields?, effective: Fields?, registered: Fields?) -> Changes {
        let stored = own ?? [:]
        let before = effective ?? [:]
        // A type without a default value is written whole: nobody could read a part without the sources.
        // So is one whose predecessors might take a part for theirs, since no version is recorded.
        let isWhole = defaultFields == nil || chain.count > 1 && !newest.hasVersion
        let lower = registered.map { Self.names(in: $0, and: namesBelow) } ?? namesBelow
        // What is nil now had a value, or nil is stored for it. What is stored and unknown to the type is kept by other
        // means.
        let nilNames =
            before.keys.filter { new[$0] == nil }
            + stored.keys.filter { stored[$0]?.mayBeNull == true && new[$0] == nil && before[$0] == nil }
        var changes = Changes()
        var fields = Fields(minimumCapacity: new.count)
        func add(_ name: String, _ property: StoredTree?) {
            let isSame = isUnchanged(name, property, effective)
            // Left to the layers that say it.
            if isSame, stored[name] == nil, !isWhole { return }
            let layer = above.last { $0.fields[name] != nil }
            // Nil is stored as null where a lower layer has a value.
            let value = property ?? (lower.contains(name) ? null : nil)
            if !isSame, layer != nil { changes.isEffective = false }
            if let layer, layer.origin.kind == .mandatory {
                if !isSame { changes.refused.append(MandatoryProperty(name: name, origin: layer.origin)) }
                fields[name] = stored[name] ?? (isWhole ? before[name] : nil)
            } else if isSame, layer != nil {
                fields[name] = stored[name] ?? value
            } else {
                fields[name] = value
            }
        }
        for (name, property) in new { add(name, property) }
        for name in nilNames { add(name, nil) }
        if !fields.isEmpty || own != nil { changes.fields = fields }
        changes.isPartial = lower.contains { fields[$0] == nil } || new.keys.contains { fields[$0] == nil }
        return changes
    }

    /// Whether a property has the same value; collections that are written differently may be equal, such as sets.
    private func isUnchanged(_ name: String, _ property: StoredTree?, _ effective: Fields?) -> Bool {
        guard let effective else { return false }
        let other = effective[name]
        if Self.areSame(property, other) { return true }
        guard let property, let other, property.mayBeInOtherOrder(than: other),
            let before = try? decode(effective),
            let after = try? decode(effective.merging([name: property]) { $1 })
        else { return false }
        return ValueSemantics.areInterchangeable(before, after)
    }

    /// The format's representation of nil.
    private var null: StoredTree {
        format == .json ? .json(Array("null".utf8)[...]) : .propertyList(CodedPropertyList.null)
    }

    /// The bytes of some fields.
    func data(of fields: Fields) -> Data? { StoredTree.object(fields).data(in: format) }

    /// Whether two properties are written alike, apart from nil.
    private static func areSame(_ one: StoredTree?, _ other: StoredTree?) -> Bool {
        guard let one else { return other?.mayBeNull ?? true }
        guard let other else { return one.mayBeNull }
        return one.isWritten(as: other) || one.mayBeNull && other.mayBeNull
    }
}

extension DefaultsCoder {
    /// The format of its bytes, found by encoding an array; JSON if that fails.
    fileprivate var treeFormat: StoredTree.Format {
        (try? encode([0])).map { $0.isPropertyList } == true ? .propertyList : .json
    }
}

extension StoredTree {
    /// Whether two values may be the same collection, whose elements or entries are written in any order.
    fileprivate func mayBeInOtherOrder(than other: StoredTree) -> Bool {
        switch (self, other) {
        case (.object(let fields), .object(let others)): fields.count == others.count
        case (.array(let elements), .array(let others)): elements.count == others.count
        default: false
        }
    }

    /// Whether two values are written alike, apart from nil and the order of fields.
    func isWritten(as other: StoredTree) -> Bool {
        switch (self, other) {
        case (.object(let fields), .object(let others)):
            return fields.allSatisfy { name, field in
                field.mayBeNull || others[name].map { field.isWritten(as: $0) } ?? false
            } && others.allSatisfy { name, field in field.mayBeNull || fields[name] != nil }
        case (.array(let elements), .array(let others)):
            return elements.count == others.count && zip(elements, others).allSatisfy { $0.isWritten(as: $1) }
        case (.json(let bytes), .json(let others)): return bytes == others
        case (.propertyList(let value), .propertyList(let other)): return value.isSame(as: other)
        default: return false
        }
    }
}

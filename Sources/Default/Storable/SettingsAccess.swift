internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One key of a store that settings are stored under, and their type.
///
/// Kept non-generic, so that it is compiled once.
struct SettingsAccess {
    let type: any DefaultStorable.Type
    let key: String
    let store: any DefaultsStore

    var values: KeyAccess { KeyAccess(key, in: store) }
    var context: ErrorContext { ErrorContext(key, type, in: store) }
    var quarantine: Quarantine { Quarantine(key: key, type: type, store: store) }
}

extension DefaultStorable {
    /// Access to the settings under a key; nil for the type's own.
    static func access(_ key: String?, in store: any DefaultsStore) -> SettingsAccess {
        SettingsAccess(type: Self.self, key: key ?? defaultIdentifier, store: store)
    }

    fileprivate static func cast(_ value: any Decodable) throws -> any DefaultStorable {
        try require(value as? Self)
    }
}

/// How some bytes of a settings type are read, or why they can't be; remembered, so that this is worked out once.
private struct RememberedForm {
    let form: Result<StoredForm, any Error>
    /// Whether the value was loaded.
    var isLoaded = false
    /// Whether reads may share the value; nil before that had to be known.
    var isShareable: Bool?
}

extension SettingsAccess {
    /// Decodes stored bytes of any version of the type.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - coder: The coder; nil for the type's own, and for each predecessor its own.
    /// - Returns: The value, with a report.
    /// - Throws: `undecodable`, `newerVersion`, `migrationFailed`.
    func read(_ data: Data, coder: DefaultsCoder? = nil) throws(DefaultsError) -> StoredSettings {
        try read(data, storedAs: recordedVersion(of: data), coder: coder)
    }

    private func read(
        _ data: Data,
        storedAs version: SchemaVersion?,
        coder: DefaultsCoder? = nil
    ) throws(DefaultsError) -> StoredSettings {
        do {
            let outcome = try read(data, ofVersion: version, coder: coder)
            return StoredSettings(
                access: self,
                value: try type.cast(outcome.value),
                form: outcome.form,
                data: data,
                version: version
            )
        } catch {
            let failure: DefaultsError =
                switch error {
                case VersionFault.newer(let version):
                    .newerVersion(version, own: type.schemaVersion, context)
                case VersionFault.migrationFailed(let error, from: let previous):
                    .migrationFailed(error, from: previous, context)
                default:
                    .undecodable(error, byteCount: data.count, context)
                }
            throw failure.about(.data(data))
        }
    }

    /// Finds out whether a quarantined value can be used.
    ///
    /// - Returns: Why only a part of it can be; nil if all of it can.
    /// - Throws: Why it can't be used at all.
    func use(_ value: PropertyListValue, ofVersion version: SchemaVersion?) throws(DefaultsError) -> DefaultsError? {
        guard case .data(let data) = value else { throw .typeMismatch(found: value, context) }
        return try read(data, storedAs: version ?? recordedVersion(of: value)).loss
    }

    /// Decodes bytes of a known version, or bytes without a recorded version; as they were decoded before, if they
    /// were.
    func read(
        _ data: Data,
        ofVersion version: SchemaVersion?,
        coder: DefaultsCoder? = nil
    ) throws -> StoredType.Outcome {
        let cache = DecodedValueCache.of(store)
        let rememberedKey = rememberedKey(version)
        if coder == nil, let known: RememberedForm = cache.sharedValue(of: data, as: type, forKey: rememberedKey) {
            let form = try known.form.get()
            // An initializer that threw its own error may accept the bytes now.
            if form.cause != .bytes, var exact = try? form.type.read(data, coder: nil, fillingIn: false) {
                exact.form.requireForCurrent(version?.number ?? 0 >= type.schemaVersion)
                return exact
            }
            return StoredType.Outcome(value: try form.value(of: data), form: form)
        }
        let bytes = StoredBytes(data: data, version: version, types: StoredType.chain(of: type), coder: coder)
        let remembers = coder == nil && bytes.types.allSatisfy(\.coder.isBuiltIn)
        func remember(_ form: Result<StoredForm, any Error>) {
            cache.share(RememberedForm(form: form), of: data, as: type, forKey: rememberedKey)
        }
        do {
            let found = try bytes.read()
            // What is decoded as it is needs no more than ``fastPathValue(in:forKey:)``, without a version.
            if remembers, found.form.cause != .mixed, type.schemaVersion > 0 || !found.form.isCurrent {
                remember(.success(found.form))
            }
            return found
        } catch {
            if remembers, error is DecodingError {
                remember(.failure(error))
            }
            throw error
        }
    }

    private func rememberedKey(_ version: SchemaVersion?) -> String {
        // No key contains NUL, so this is not one under which a value is cached.
        "\(key)\0\(version?.text ?? "")"
    }

    /// Lets the next reads share a value that was loaded a second time, if no caller can notice.
    fileprivate func share(_ stored: StoredSettings) {
        guard stored.form.cause == .bytes else { return }
        let (data, cache) = (stored.data, DecodedValueCache.of(store))
        // The record may have changed since, but the value depends only on the bytes and the version that it gives
        // them.
        let recordKey = CompanionKey.version(of: key)
        let record = store.storedValue(forKey: recordKey)
        let version: SchemaVersion? =
            if case .string(let text)? = record { SchemaRecord(text: text)?.version(of: data) } else { nil }
        let rememberedKey = rememberedKey(version)
        guard version == stored.version,
            var known: RememberedForm = cache.sharedValue(of: data, as: type, forKey: rememberedKey)
        else { return }
        // Other bytes may have taken the place of the shared value since.
        if known.isShareable == nil {
            if known.isLoaded {
                let again = try? stored.form.value(of: data)
                known.isShareable = again.map { ValueSemantics.areInterchangeable(stored.value, $0) } ?? false
            }
            known.isLoaded = true
            cache.share(known, of: data, as: type, forKey: rememberedKey)
        }
        guard known.isShareable == true else { return }
        func share<Settings: DefaultStorable>(_ value: Settings) {
            let condition = type.schemaVersion == 0 ? nil : DecodedValueCache.Condition(key: recordKey, value: record)
            cache.share(value, of: data, forKey: key, while: condition)
        }
        share(stored.value)
    }

    /// The recorded version of some bytes; nil when there is none.
    func recordedVersion(of data: Data) throws(DefaultsError) -> SchemaVersion? {
        do {
            return try SchemaRecord.stored(beside: key, of: type, in: store)?.version(of: data)
        } catch  where type.schemaVersion == 0 {
            // A type without a version ignores any value stored under the record's key.
            return nil
        }
    }

    /// The recorded version of a stored value that is quarantined; nil when there is none, or it can't be known.
    func recordedVersion(of value: PropertyListValue) -> SchemaVersion? {
        guard case .data(let data) = value else { return nil }
        return (try? recordedVersion(of: data)) ?? nil
    }

    /// Notes that the value and its recorded version can be read; see ``DefaultsDiagnostics/noteReadable(_:_:)``.
    func noteReadable() {
        DefaultsDiagnostics.noteReadable(key, context)
        if type.schemaVersion > 0 {
            KeyAccess(CompanionKey.version(of: key), in: store).noteReadable(as: type)
        }
    }

    /// The value that is stored under the key, whatever sources say; nil when there is none.
    fileprivate func readOwn() throws(DefaultsError) -> StoredSettings? {
        try read { () throws(DefaultsError) in try ownBytes() }
    }

    /// The value that is stored under the key; nil when there is none.
    fileprivate func readStored() throws(DefaultsError) -> StoredSettings? {
        try read { () throws(DefaultsError) in try values.storedBytes(type: type) }
    }

    private func ownBytes() throws(DefaultsError) -> Data? {
        switch store.ownValue(forKey: key) {
        case .data(let data): return data
        case let value?: throw DefaultsError.typeMismatch(found: value, context).about(value)
        case nil:
            try values.checkAbsence(type: type)
            return nil
        }
    }

    private func read(_ bytes: () throws(DefaultsError) -> Data?) throws(DefaultsError) -> StoredSettings? {
        guard type.schemaVersion > 0 else { return try bytes().map { data throws(DefaultsError) in try read(data) } }
        return try values.readTogether(type: type) {
            do throws(DefaultsError) {
                guard let data = try bytes() else { return (.success(nil), true) }
                let stored = Result { () throws(DefaultsError) -> StoredSettings? in try read(data) }
                // Otherwise the recorded version may belong to other bytes.
                return (stored, (try? bytes()) == data)
            } catch {
                return (.failure(error), true)
            }
        }
    }
}

/// A settings value that was found in a store.
struct StoredSettings {
    let access: SettingsAccess
    let value: any DefaultStorable
    let form: StoredForm
    let data: Data
    /// Their recorded version; nil when there is none.
    let version: SchemaVersion?
    /// Why the value under a newer key can't be read, in whose place this one is used; nil if none is stored there.
    fileprivate(set) var unreadableInFront: DefaultsError?

    /// The reason why replacing the stored value would lose data; nil when all of it can be used.
    var loss: DefaultsError? { form.report.unusable.isEmpty ? nil : .filledIn(form.report, access.context) }

    /// Whether the value was made of what is stored now; nil for nothing.
    func isOf(_ own: PropertyListValue?) -> Bool {
        switch own {
        case .data(let stored): !stored.isEmpty && data == stored
        case nil: data.isEmpty
        default: false
        }
    }

    /// Reports filled-in values to ``DefaultsDiagnostics``, once for each reason.
    func reportFillingIn() { DefaultsDiagnostics.report(form.report, access.context) }

    /// Finds the stored value of a type.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - store: The store.
    ///   - key: The key to read; nil for all the keys that the type may have been stored under.
    /// - Returns: The value; nil when there is none.
    /// - Throws: The same errors as `load(from:forKey:)`.
    static func find(
        _ type: any DefaultStorable.Type,
        in store: any DefaultsStore,
        forKey key: String?
    ) throws(DefaultsError) -> StoredSettings? {
        if let layers = LayeredSettings(type, in: store, forKey: key)
            ?? LayeredSettings(ofPart: type, in: store, forKey: key)
        {
            return try layers.find()
        }
        return try find(type, in: store, forKey: key) { access throws(DefaultsError) in try access.readStored() }
    }

    /// Finds the stored value of a type, whatever sources say.
    static func findOwn(
        _ type: any DefaultStorable.Type,
        in store: any DefaultsStore,
        forKey key: String?
    ) throws(DefaultsError) -> StoredSettings? {
        try find(type, in: store, forKey: key) { access throws(DefaultsError) in try access.readOwn() }
    }

    private static func find(
        _ type: any DefaultStorable.Type,
        in store: any DefaultsStore,
        forKey key: String?,
        by read: (SettingsAccess) throws(DefaultsError) -> StoredSettings?
    ) throws(DefaultsError) -> StoredSettings? {
        if key == nil {
            IdentifierRegistry.note(type, in: store)
        }
        // A value that can't be read does not hide one that an older version of the app stored under an older name.
        var unreadable: DefaultsError?
        for key in key.map({ [$0] }) ?? type.identifiers {
            do {
                guard var stored = try read(type.access(key, in: store)) else { continue }
                // So the write at the end of an update need not decode these bytes.
                if stored.form.isCurrent, type.remembersDecodedValues {
                    DecodedValueCache.of(store).insert(stored.data, of: type, forKey: key)
                }
                stored.access.noteReadable()
                if let unreadable {
                    DefaultsDiagnostics.report(.readFailed, unreadable)
                    stored.unreadableInFront = unreadable
                }
                return stored
            } catch {
                if type.schemaVersion > 0 {
                    // So that the next readable value is decoded, and noted, even if reads shared it before.
                    DecodedValueCache.of(store).remove(key, of: type)
                }
                guard error.code == .undecodable || error.code == .typeMismatch else { throw error }
                unreadable = unreadable ?? error
            }
        }
        if let unreadable { throw unreadable }
        return nil
    }

    /// The stored value of a type, for reads that have no fast path; what was filled in is reported.
    static func load(
        _ type: any DefaultStorable.Type,
        from store: any DefaultsStore,
        forKey key: String?
    ) throws(DefaultsError) -> StoredSettings? {
        if let layers = LayeredSettings(type, in: store, forKey: key)
            ?? LayeredSettings(ofPart: type, in: store, forKey: key)
        {
            let stored = try load(by: layers)
            // Not one that depends on another key, or on what an initializer says the next time.
            if let stored, stored.unreadableInFront == nil, stored.form.cause == .bytes {
                layers.remember(stored)
            }
            return stored
        }
        guard let stored = try find(type, in: store, forKey: key) else { return nil }
        stored.reportFillingIn()
        // From the next read on, it is found like a value that is decoded as it is.
        if stored.access.key == key ?? type.defaultIdentifier {
            stored.access.share(stored)
        }
        return stored
    }

    /// The value of several layers; what of the stored one can't be used is reported.
    static func load(
        by layers: LayeredSettings,
        default initial: (any DefaultStorable)? = nil
    ) throws(DefaultsError) -> StoredSettings? {
        guard let stored = try layers.find(default: initial) else { return nil }
        stored.reportFillingIn()
        return stored
    }
}

extension SettingsAccess {
    /// Encodes a value to store, and reports the names that a custom coder won't find again.
    ///
    /// - Throws: `encodingFailed`.
    func encode(_ value: some DefaultStorable) throws(DefaultsError) -> Data {
        let data = try values.encode(value, encoder: type.defaultCoder)
        if !type.defaultCoder.isBuiltIn {
            let paths = UnknownFields(in: data, unknownTo: type, coder: type.defaultCoder)?.misnamed ?? []
            if !paths.isEmpty {
                let sorted = paths.sorted { $0.lexicographicallyPrecedes($1) }
                DefaultsDiagnostics.reportUnreadableNames(sorted, of: type)
            }
        }
        return data
    }

    /// Stores the bytes of a value, with what it replaces and the type doesn't know.
    ///
    /// Quarantines the replaced value if it can't be used.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - moved: What is kept of a value from elsewhere, if this replaces none.
    ///   - layers: What sources say about the type; nil if they say nothing.
    /// - Returns: Whether this type is known to have read or written what was replaced.
    /// - Throws: `invalidKey`, `quarantineFailed`, or errors of the store. The stored value is unchanged then.
    @discardableResult
    func replace(
        with data: Data,
        keeping moved: KeptFields = KeptFields(),
        in layers: LayeredSettings? = nil
    ) throws(DefaultsError) -> Bool {
        let layers = layers?.haveSources == true ? layers : nil
        let isSimple = type.schemaVersion == 0 && type.remembersDecodedValues && layers == nil
        if isSimple, moved.fields == nil, try values.replaceOwn(with: data, of: type) { return true }
        if let layers, layers.countsAsWhole {
            let own = store.ownValue(forKey: key)
            // Also where a mandatory source says the same.
            if layers.storing(data, replacing: own).data.map(PropertyListValue.data).isSame(as: own) { return true }
        } else if let layers = layers ?? layersOfPart {
            return try SettingsWriting.run(for: [key]) { () throws(DefaultsError) in
                try replaceValue(with: data, keeping: moved, in: layers)
            }
        }
        return try replaceValue(with: data, keeping: moved, in: layers, isSimple: isSimple)
    }

    /// The layers of a stored part in a store whose sources say nothing now, such as a file with a mistake.
    ///
    /// The part stays one, since they may say again what it lacks. In a store without sources, it becomes whole.
    private var layersOfPart: LayeredSettings? {
        guard store.sources != nil else { return nil }
        return LayeredSettings(ofPart: type, in: store, forKey: key == type.defaultIdentifier ? nil : key)
    }

    private func replaceValue(
        with encoded: Data,
        keeping moved: KeptFields,
        in layers: LayeredSettings?,
        isSimple: Bool = false
    ) throws(DefaultsError) -> Bool {
        var replaced = ReplacedSettings()
        var isKnown = false
        var storing: LayeredSettings.Storing?
        var data = encoded
        var mark: PropertyListValue?
        try values.update(type: type) { current in
            let stored = current
            // Again at each run: on a store that detects conflicts there may be several.
            replaced = ReplacedSettings()
            isKnown = false
            storing = layers?.storing(encoded, replacing: stored)
            if let storing {
                guard let own = storing.data else {
                    // All of it is what other layers say. What is stored, if anything, can't be read.
                    if let stored, let loss = inspect(stored).loss {
                        replaced.loss = loss
                        try store.transaction {
                            try quarantine.add(stored, version: recordedVersion(of: stored))
                            try store.setStoredValue(nil, forKey: key)
                        }
                        current = nil
                    }
                    return
                }
                data = own
            } else {
                data = encoded
            }
            if let stored {
                isKnown = storing?.replacesLastWrite ?? isKnownComplete(stored)
                if !isKnown {
                    replaced = inspect(stored)
                }
            }
            if replaced.kept.fields == nil {
                replaced.kept.fields = moved.fields
                replaced.kept.arePredecessors = moved.arePredecessors
            }
            replaced.kept.version = replaced.kept.version ?? moved.version
            let placement = add(replaced.kept, to: data)
            data = placement.data ?? data
            // What was moved has been inspected where it was found.
            replaced.loss = replaced.loss ?? (stored == nil ? nil : placement.loss(context))
            current = .data(data)
            mark = storing?.isPartial == true ? PartialMark.mark(of: data) : nil
            let hasOtherMark = try PartialMark.differs(mark, beside: key, of: type, in: store)
            guard replaced.loss != nil || type.schemaVersion > 0 || hasOtherMark else { return }
            func storeMark() throws { try store.setStoredValue(mark, forKey: CompanionKey.partial(of: key)) }
            try store.transaction {
                // In a store whose changes others see one by one, the bytes of a part always have a mark.
                if hasOtherMark, mark != nil { try storeMark() }
                if let stored, replaced.loss != nil {
                    try quarantine.add(stored, version: recordedVersion(of: stored))
                }
                if type.schemaVersion > 0 {
                    let own = SchemaVersion(type.schemaVersion, readableSince: type.readableSince)
                    try SchemaRecord.store(replaced.kept.version ?? own, of: data, beside: key, of: type, in: store)
                }
                try store.setStoredValue(.data(data), forKey: key)
                if hasOtherMark, mark == nil { try storeMark() }
            }
        }
        if let layers, let storing { layers.remember(storing, storedAs: data, mark: mark) }
        if type.remembersDecodedValues, replaced.kept.fields == nil, layers == nil {
            DecodedValueCache.of(store).insert(data, of: type, forKey: key, isComplete: true)
            if isSimple {
                values.noteOwn(data, of: type)
            }
        }
        if let loss = replaced.loss {
            noteReadable()
            quarantine.report(because: loss)
        }
        if let refused = storing?.refused, !refused.isEmpty {
            DefaultsDiagnostics.report(.writeFailed, .mandatory(refused, context))
        }
        return isKnown
    }

    /// Whether it is known that all of a stored value can be used.
    ///
    /// Decoding costs as much as encoding, so the same bytes are decoded only once.
    private func isKnownComplete(_ stored: PropertyListValue) -> Bool {
        guard type.remembersDecodedValues, case .data(let data) = stored else { return false }
        return DecodedValueCache.of(store).isComplete(data, of: type, forKey: key)
            && (type.schemaVersion == 0 || (try? recordedVersion(of: data)?.number) == type.schemaVersion)
    }

    /// A write's knowledge of the value that it replaces.
    private struct ReplacedSettings {
        /// The reason why replacing it would lose data; nil when all of it can be used.
        var loss: DefaultsError?
        var kept = KeptFields()
    }

    /// Finds out what replacing the stored value would lose.
    private func inspect(_ stored: PropertyListValue) -> ReplacedSettings {
        guard case .data(let data) = stored else {
            return ReplacedSettings(loss: .typeMismatch(found: stored, context))
        }
        do {
            let found = try read(data)
            return ReplacedSettings(loss: found.loss, kept: found.keptFields)
        } catch {
            return ReplacedSettings(loss: error)
        }
    }
}

extension StoredSettings {
    /// The parts of the value that a write keeps when it replaces it.
    var keptFields: KeptFields {
        guard form.type.keepsUnknownFields else { return KeptFields() }
        let arePredecessors = form.report.migratedFrom != nil
        // With its fields, the value is still one that the newer version understands.
        let newer = version.flatMap { $0.number > access.type.schemaVersion && !arePredecessors ? $0 : nil }
        return KeptFields(
            fields: form.unknownFields(in: data, encoding: value),
            arePredecessors: arePredecessors,
            version: newer
        )
    }

    /// Whether the next write removes a property from the bytes, which are of the type itself.
    var hasRemovedProperties: Bool {
        guard !access.type.removedProperties.isEmpty else { return false }
        let unknown = UnknownFields(in: data, unknownTo: access.type, coder: access.type.defaultCoder)
        return access.type.removedProperties.contains { unknown?.paths(named: $0).isEmpty == false }
    }
}

extension SettingsAccess {
    /// Adds what is kept to the bytes of a new value.
    func add(_ kept: KeptFields, to data: Data) -> UnknownFields.Placement {
        guard kept.fields != nil else { return UnknownFields.Placement() }
        return kept.added(to: data, of: StoredType.chain(of: type)[0])
    }
}

extension StoredSettings {
    /// What several layers say together.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - own: What is stored; nil for nothing.
    ///   - access: The key that is written.
    init(_ value: any DefaultStorable, over own: StoredSettings?, _ access: SettingsAccess) {
        self.init(
            access: own?.access ?? access,
            value: value,
            form: own?.form.leavingOutMissing() ?? .absent(of: StoredType.chain(of: access.type)[0]),
            data: own?.data ?? Data(),
            version: own?.version,
            unreadableInFront: own?.unreadableInFront
        )
    }
}

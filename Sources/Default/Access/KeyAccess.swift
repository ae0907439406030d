#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One key of a store; all front ends read and write through this type.
///
/// It is not an extension of ``DefaultsStore``, because members there, even internal ones, appear in the diagnostics of
/// programs that use `UserDefaults`.
struct KeyAccess {
    let store: any DefaultsStore
    let key: String

    init(_ key: String, in store: any DefaultsStore) {
        self.key = key
        self.store = store
    }

    /// The subject of an error: the key, the type and the store.
    func context(_ type: Any.Type?) -> ErrorContext { ErrorContext(key, type, in: store) }

    /// The quarantine for values of the key that can't be used as a type.
    func quarantine(of type: Any.Type) -> Quarantine { Quarantine(key: key, type: type, store: store) }

    /// Calls a body with exclusive access to the store, and wraps the errors of third-party stores.
    func withExclusiveAccess<Result>(type: Any.Type?, _ body: () throws -> Result) throws(DefaultsError) -> Result {
        try DefaultsError.wrapping(context(type)) { try store.withExclusiveAccess(body) }
    }

    /// Reads what belongs together, such as bytes and their recorded version, though others may write in between.
    ///
    /// A read that was disturbed is repeated: first without a lock, so that hardly any read waits for one, then with
    /// exclusive access, if that can be had.
    ///
    /// - Parameters:
    ///   - type: The type, for errors.
    ///   - read: Reads it, and finds out whether it is still the same.
    /// - Returns: The result of the last read.
    /// - Throws: The error of the last read.
    func readTogether<Value>(
        type: Any.Type?,
        _ read: () -> (value: Result<Value, DefaultsError>, isUndisturbed: Bool)
    ) throws(DefaultsError) -> Value {
        for _ in 0..<16 {
            let found = read()
            if found.isUndisturbed { return try found.value.get() }
        }
        let last = (try? withExclusiveAccess(type: type, read)) ?? read()
        return try last.value.get()
    }

    /// Checks that a value was not found because there is none, and not because of an error.
    ///
    /// - Throws: `invalidKey`, or the reason why the store can't be read.
    func checkAbsence(type: Any.Type) throws(DefaultsError) {
        _ = try StoreKey(key)
        try DefaultsError.wrapping(context(type)) { try store.checkAvailability() }
        noteReadable(as: type)
    }

    /// Notes that the key has a value that can be read, or none; see ``DefaultsDiagnostics/noteReadable(_:_:)``.
    func noteReadable(as type: Any.Type) { DefaultsDiagnostics.noteReadable(key, context(type)) }

    /// The stored bytes; nil when nothing is stored.
    ///
    /// - Throws: `typeMismatch`, `invalidKey`, or the reason why the store can't be read.
    func storedBytes(type: Any.Type) throws(DefaultsError) -> Data? {
        guard let stored = store.storedValue(forKey: key) else {
            try checkAbsence(type: type)
            return nil
        }
        return try bytes(of: stored, type: type)
    }

    /// The bytes that are stored as this value.
    ///
    /// - Throws: `typeMismatch` if it is something else.
    private func bytes(of stored: PropertyListValue, type: Any.Type) throws(DefaultsError) -> Data {
        guard case .data(let data) = stored else {
            throw DefaultsError.typeMismatch(found: stored, from: source(of: stored), context(type)).about(stored)
        }
        return data
    }

    /// Where a value of the key comes from, for messages; nil for a stored one.
    private func source(of value: PropertyListValue) -> DefaultsOrigin? {
        guard let origin = store.origin(forKey: key), origin.kind != .stored else { return nil }
        return store.storedValue(forKey: key).isSame(as: value) ? origin : nil
    }

    /// Whether a source, or a launch argument of a `UserDefaults`, hides the stored value.
    var isOverridden: Bool {
        if let sources = store.sources { return sources.hidesOwnValue(forKey: key) }
        // Most stores are one of files, for which the cast takes longer.
        return FileDefaults.of(store) == nil && (store as? any DomainStore)?.isHidden(key) ?? false
    }

    /// Stores a value, whatever is stored; nil removes the stored one.
    ///
    /// - Throws: Errors of the store. The stored value is unchanged then.
    func set(_ value: PropertyListValue?, type: Any.Type?) throws(DefaultsError) {
        try withExclusiveAccess(type: type) { try store.setStoredValue(value, forKey: key) }
        store.notifyChange(forKey: key)
    }

    /// Looks the stored value up, stores what a body leaves of it, and notifies observers, as one operation.
    ///
    /// - Throws: What the body throws, and errors of the store. The stored value is unchanged then.
    func update<Result>(
        type: Any.Type?,
        _ body: (inout PropertyListValue?) throws -> Result
    ) throws(DefaultsError) -> Result {
        try DefaultsError.wrapping(context(type)) { try store.updateStoredValue(forKey: key, body) }
    }

    /// Stores bytes in place of some that this process has stored as the same type, of which nothing is lost then.
    ///
    /// - Returns: False if what is stored isn't known to be that. Then nothing has changed.
    /// - Throws: Errors of the store. The stored value is unchanged then.
    func replaceOwn(with data: Data, of type: Any.Type) throws(DefaultsError) -> Bool {
        guard let suite = FileDefaults.of(store) else { return false }
        return try suite.replace(with: data, forKey: key, ifNoted: TypeInfo.of(type).pointee.number)
    }

    /// Notes that stored bytes are those of a value of a type, with nothing that it doesn't know.
    func noteOwn(_ data: Data, of type: Any.Type) {
        FileDefaults.of(store)?.note(TypeInfo.of(type).pointee.number, data, forKey: key)
    }

    /// Removes the values of several keys: all or none if the store has transactions.
    ///
    /// - Throws: `invalidKey`, or errors of the store.
    static func remove(
        _ keys: [String],
        from store: any DefaultsStore,
        type: Any.Type? = nil
    ) throws(DefaultsError) {
        try DefaultsError.wrapping(ErrorContext(keys.first, type, in: store)) {
            try store.transaction {
                // All keys are checked before any is removed, for stores without transactions.
                for key in keys {
                    _ = try StoreKey(key)
                }
                for key in keys {
                    try store.setStoredValue(nil, forKey: key)
                }
            }
        }
        for key in keys {
            store.notifyChange(forKey: key)
        }
    }
}

extension KeyAccess {
    /// Removes all values that may be removed: all or none if the store has transactions.
    ///
    /// - Throws: `mandatory` when some may not be removed and the others have been; errors of the store.
    static func removeAll(from store: any DefaultsStore) throws(DefaultsError) {
        let removal = try StoreRemoval(of: store, namesKey: true)
        for key in removal.keys {
            store.notifyChange(forKey: key)
        }
        if let refusal = removal.refusal { throw refusal }
    }
}

// Values that are encoded with a coder that the caller chooses: settings types and `df`.
extension KeyAccess {
    /// Encodes a value and stores the encoder's bytes.
    ///
    /// - Throws: `encodingFailed`, or errors of the store. The stored value is unchanged then.
    func save<Value: Encodable>(_ value: Value, encoder: any DefaultsEncoder) throws(DefaultsError) {
        try set(.data(encode(value, encoder: encoder)), type: Value.self)
    }

    /// Encodes a value to store.
    ///
    /// - Throws: `encodingFailed`.
    func encode<Value: Encodable>(_ value: Value, encoder: any DefaultsEncoder) throws(DefaultsError) -> Data {
        do {
            return try encoder.encodeTopLevel(value)
        } catch {
            throw .encodingFailed(error, context(Value.self))
        }
    }

    /// Fetches the stored bytes and decodes them.
    ///
    /// With a built-in coder, a value that a key or a container stored in its own form is fetched, too.
    ///
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`.
    func load<Value: Decodable>(_ type: Value.Type, decoder: any DefaultsDecoder) throws(DefaultsError) -> Value? {
        // Looked up once: another process may change or remove it between two looks, whose results would not fit
        // together.
        guard let stored = store.storedValue(forKey: key) else {
            try checkAbsence(type: type)
            return nil
        }
        let value: Value
        do {
            value = try decodeBytes(of: stored, as: type, decoder: decoder)
        } catch {
            guard (decoder as? DefaultsCoder)?.isBuiltIn == true, type != Data.self,
                let other = (type as? any Codable.Type).flatMap({ decode(stored, inOtherFormsAs: $0) }) as? Value
            else { throw error }
            value = other
        }
        noteReadable(as: type)
        return value
    }

    private func decodeBytes<Value: Decodable>(
        of stored: PropertyListValue,
        as type: Value.Type,
        decoder: any DefaultsDecoder
    ) throws(DefaultsError) -> Value {
        let data = try bytes(of: stored, type: type)
        do {
            return try decoder.decodeTopLevel(type, from: data)
        } catch {
            throw DefaultsError.undecodable(error, byteCount: data.count, context(type)).about(stored)
        }
    }

    /// The value of bytes or another value in the form of keys, or in another library's.
    private func decode<Value: Codable>(_ stored: PropertyListValue, inOtherFormsAs type: Value.Type) -> Value? {
        let bridge = ValueBridge<Value>.topLevel
        return (try? decodeExactly(stored, by: bridge, sharing: false)) ?? decodeForeign(stored, by: bridge)
    }
}

// Values in the forms of other libraries.
extension KeyAccess {
    /// A value that another library stored; nil when it can't be read completely.
    private func decodeForeign<Value>(_ stored: PropertyListValue, by bridge: ValueBridge<Value>) -> Value? {
        ForeignForm.translate(stored, by: bridge).flatMap { try? decodeExactly($0, by: bridge, sharing: false) }
    }

    /// Stores a value that another library stored in this library's own form.
    ///
    /// Nothing is stored when the value is in its own form, is in no known form, or can't be read completely.
    ///
    /// - Returns: Whether a value was converted.
    /// - Throws: `invalidKey`, or errors of the store.
    func convertForm<Value>(by bridge: ValueBridge<Value>) throws(DefaultsError) -> Bool {
        _ = try StoreKey(key)
        return try update(type: Value.self) { stored in
            guard let found = stored, (try? decodeExactly(found, by: bridge, sharing: false)) == nil,
                let value = decodeForeign(found, by: bridge)
            else { return false }
            stored = try bridge.encode(value)
            return true
        }
    }
}

// Values that a bridge converts: typed keys and containers.
extension KeyAccess {
    /// The stored value.
    ///
    /// - Parameters:
    ///   - bridge: How the value is stored.
    ///   - initial: The value from which the stored one is filled in; nil for none.
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`, or the reason why the store can't be read.
    func load<Value>(
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> Value? {
        try value(of: store.storedValue(forKey: key), by: bridge, default: initial())
    }

    /// The value that was looked up, or nil if there is none; see ``load(by:default:)``.
    func value<Value>(
        of stored: PropertyListValue?,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> Value? {
        guard let stored else {
            try checkAbsence(type: Value.self)
            return nil
        }
        return try decode(stored, by: bridge, default: initial())
    }

    /// Decodes a stored value, and reports what was filled in.
    func decode<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> Value {
        do {
            return try decodeExactly(stored, by: bridge, default: initial())
        } catch {
            return try decodeReporting(stored, by: bridge, default: initial(), because: error)
        }
    }

    /// Decodes a stored value as ``decodeOtherwise(_:by:default:because:)`` does, and reports what was filled in.
    ///
    /// On its own: the look-up of the generic type that this needs took a sixteenth of a `+= 1`.
    private func decodeReporting<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?,
        because fault: DefaultsError
    ) throws(DefaultsError) -> Value {
        let found = try decodeOtherwise(stored, by: bridge, default: initial(), because: fault)
        noteReadable(as: Value.self)
        DefaultsDiagnostics.report(found.report, context(Value.self))
        return found.value
    }

    /// A value that isn't in the bridge's own form, has old names, or was filled in.
    private struct Found<Value> {
        let value: Value
        /// How its bytes are read; nil for a value in another form.
        let form: StoredForm?

        var report: LoadReport { form?.report ?? LoadReport() }
    }

    /// Decodes a stored value that is not in the bridge's own form, has old names, or has to be filled in.
    private func decodeOtherwise<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?,
        because fault: DefaultsError
    ) throws(DefaultsError) -> Found<Value> {
        let translated = ForeignForm.translate(stored, by: bridge)
        if let translated, let value = try? decodeExactly(translated, by: bridge, default: initial()) {
            return Found(value: value, form: nil)
        }
        var fault = fault
        if case .data(let data) = translated ?? stored, bridge.decodesData, let type = Value.self as? any Decodable.Type
        {
            do {
                return try read(data, as: type, default: initial())
            } catch {
                if translated == nil { fault = self.fault(error, inDecoding: stored, as: Value.self) }
            }
        }
        // So that the next readable value is decoded, and noted, even if reads shared it before.
        switch stored {
        case .data: break
        default: DecodedValueCache.of(store).remove(key, of: Value.self)
        }
        // Here, and not where it is thrown: values in other forms are read in spite of it.
        if fault.code == .typeMismatch, let source = source(of: stored) {
            fault = .typeMismatch(found: stored, from: source, context(Value.self))
        }
        throw fault.about(translated ?? stored)
    }

    /// Reads bytes that can't be decoded as they are, or have old names.
    ///
    /// - Throws: Why they can't be used.
    private func read<Value>(
        _ data: Data,
        as type: any Decodable.Type,
        default initial: @autoclosure () -> Value?
    ) throws -> Found<Value> {
        let outcome = try readForm(of: data, as: type) { initial().flatMap(Self.defaultValue) }
        let value = try require(outcome.value as? Value)
        // Other bytes may have taken the place of the shared value since.
        if outcome.isShareable {
            DecodedValueCache.of(store).share(value, of: data, forKey: key)
        }
        return Found(value: value, form: outcome.form)
    }

    /// A value as one that others are filled in from; nil for the nil of an optional.
    private static func defaultValue(_ value: Any) -> (any Encodable)? {
        if let optional = value as? any OptionalType, optional.isNil { return nil }
        return value as? any Encodable
    }

    /// How bytes that can't be decoded as they are were read; remembered, so that this is worked out once.
    private struct RememberedForm {
        /// How they are read, or why they can't be used.
        let form: Result<StoredForm, any Error>
        /// Whether there was a default value to fill them in from.
        let hadDefault: Bool
        /// Whether reads may share the value; nil before that had to be known.
        var isShareable: Bool?
    }

    /// A value, and how its bytes are read.
    private struct ReadForm {
        let value: any Decodable
        let form: StoredForm
        /// Whether reads may share the value.
        let isShareable: Bool
    }

    /// Reads bytes that can't be decoded as a type as they are.
    private func readForm(
        of data: Data,
        as type: any Decodable.Type,
        default initial: () -> (any Encodable)?
    ) throws -> ReadForm {
        let cache = DecodedValueCache.of(store)
        // No key contains NUL, so this is not one under which a value is cached.
        let rememberedKey = "\(key)\0"
        func remember(_ known: RememberedForm) { cache.share(known, of: data, as: type, forKey: rememberedKey) }
        // Where one key without a default has failed, another one may have a default.
        if var known: RememberedForm = cache.sharedValue(of: data, as: type, forKey: rememberedKey),
            known.hadDefault || (try? known.form.get()) != nil || initial() == nil
        {
            let form = try known.form.get()
            let value = try form.value(of: data)
            if known.isShareable == nil {
                let again = try? form.value(of: data)
                known.isShareable = again.map { ValueSemantics.areInterchangeable(value, $0) } ?? false
                remember(known)
            }
            return ReadForm(value: value, form: form, isShareable: known.isShareable == true)
        }
        let fallback = initial()
        let stored = StoredType(type: type, coder: .json)
        do {
            let found = try stored.read(data, coder: nil, fillingIn: true, from: { fallback })
            let cause = found.form.cause
            if cause != .mixed {
                let isShareable = cause == .bytes ? nil : false
                remember(
                    RememberedForm(form: .success(found.form), hadDefault: fallback != nil, isShareable: isShareable)
                )
            }
            return ReadForm(value: found.value, form: found.form, isShareable: false)
        } catch {
            remember(RememberedForm(form: .failure(error), hadDefault: fallback != nil))
            throw error
        }
    }

    /// Thrown for bytes that have old names of properties.
    private struct OldNames: Error {}

    /// Decodes a stored value in the bridge's own form, without old names.
    func decodeExactly<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value? = nil,
        sharing isShared: Bool = true
    ) throws(DefaultsError) -> Value {
        do {
            func decode() throws -> Value {
                if bridge.decodesData, case .data(let data) = stored, let type = Value.self as? any Decodable.Type,
                    Renaming(type, in: data, coder: .json, default: initial().flatMap(Self.defaultValue)) != nil
                {
                    throw OldNames()
                }
                let value = try bridge.decode(stored)
                if isShared {
                    noteReadable(as: Value.self)
                }
                return value
            }
            guard isShared, bridge.decodesData, case .data(let data) = stored else { return try decode() }
            return try DecodedValueCache.of(store).value(
                of: data,
                forKey: key,
                isLasting: { $0 is DecodingError },
                decode: decode
            )
        } catch {
            throw fault(error, inDecoding: stored, as: Value.self)
        }
    }

    private func fault(_ error: any Error, inDecoding stored: PropertyListValue, as type: Any.Type) -> DefaultsError {
        if case .data(let data) = stored, !(error is UnexpectedValue) {
            return .undecodable(error, byteCount: data.count, context(type))
        }
        return .typeMismatch(found: stored, context(type))
    }

    /// Stores a value, or removes the stored value if the bridge encodes the new one as nil.
    ///
    /// A stored value that can't be read with the same bridge is quarantined first.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - bridge: How the value is stored.
    ///   - initial: The value from which the stored one is filled in; nil for none.
    ///   - isReadable: Whether what was read under the key is known to be readable or absent.
    ///   - read: What was read under the key, for a change of it: a change that leaves it as it was stores nothing, and
    ///     so makes no value of a source or of another layer the user's own.
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or errors of the store. The stored value is
    ///   unchanged then.
    func save<Value>(
        _ value: Value,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?,
        isReadable: Bool = false,
        unlessSameAs read: PropertyListValue? = nil
    ) throws(DefaultsError) {
        let encoded: PropertyListValue?
        do {
            encoded = try bridge.encode(value)
        } catch {
            throw fault(error, inEncoding: Value.self)
        }
        if let read, let encoded, encoded.isSame(as: read) { return }
        // A coder's value may have been filled in.
        try replace(with: encoded, type: Value.self, isReadable: isReadable && !bridge.decodesData) { replaced in
            inspect(replaced, by: bridge, default: initial())
        }
    }

    private func fault(_ error: any Error, inEncoding type: Any.Type) -> DefaultsError {
        if let fault = error as? PropertyListValue.UnsupportedObject {
            return .unsupportedValue(fault, context(nil))
        }
        return .encodingFailed(error, context(type))
    }

    /// A write's knowledge of the value that it replaces.
    struct Replaced {
        /// The reason why replacing it would lose data; nil when all of it can be used.
        var loss: DefaultsError?
        /// The fields that the type doesn't know and the write keeps; nil when it knows all.
        var unknown: UnknownFields?
    }

    /// Stores a value with what is kept of the one that it replaces, which is quarantined if something would be lost.
    func replace(
        with value: PropertyListValue?,
        type: Any.Type,
        isReadable: Bool,
        inspecting inspect: (PropertyListValue) -> Replaced
    ) throws(DefaultsError) {
        if isReadable, !isOverridden {
            try DefaultsError.wrapping(context(type)) { try store.setStoredValue(value, forKey: key) }
            return store.notifyChange(forKey: key)
        }
        let (loss, isComplete) = try update(type: type) { stored in
            let replaced = stored.map(inspect) ?? Replaced()
            var loss = replaced.loss
            var new = value
            if let unknown = replaced.unknown, case .data(let data)? = value {
                let placement = unknown.added(to: data)
                new = .data(placement.data ?? data)
                loss = loss ?? placement.loss(context(type))
            }
            if let old = stored, loss != nil {
                try store.transaction {
                    try quarantine(of: type).add(old)
                    try store.setStoredValue(new, forKey: key)
                }
            }
            stored = new
            return (loss, replaced.unknown == nil)
        }
        if isComplete, case .data(let data)? = value {
            DecodedValueCache.of(store).insert(data, of: type, forKey: key, isComplete: true)
        }
        if let loss {
            noteReadable(as: type)
            quarantine(of: type).report(because: loss)
        }
    }

    /// Stores the newest quarantined value again that can be used, and quarantines the value that it replaces.
    ///
    /// - Returns: The value; nil when there is none.
    /// - Throws: Why the newest can't be used, if none can; `invalidKey`, `typeMismatch`, or errors of the store.
    ///   Nothing is changed then.
    func restoreQuarantined<Value>(
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> QuarantinedValue? {
        let restored = try quarantine(of: Value.self).restore { value, _ throws(DefaultsError) in
            let loss = inspect(value, by: bridge, default: initial()).loss
            guard let loss, loss.code != .filledIn else { return loss }
            throw loss
        }
        if let loss = restored?.loss {
            DefaultsDiagnostics.report(.readFailed, loss)
        }
        return restored?.value
    }

    /// Finds out what of a stored value can be used, and what the type doesn't know.
    private func inspect<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) -> Replaced {
        let data: Data? = if bridge.decodesData, case .data(let data) = stored { data } else { nil }
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if let data, DecodedValueCache.of(store).isComplete(data, of: Value.self, forKey: key) { return Replaced() }
        func unknown(in data: Data) -> UnknownFields? {
            (Value.self as? any Decodable.Type).flatMap { UnknownFields(in: data, unknownTo: $0, coder: .json) }
        }
        func unknown(of value: Value, in data: Data, _ form: StoredForm?) -> UnknownFields? {
            (value as? any Encodable).flatMap { form?.unknownFields(in: data, encoding: $0) }
        }
        do {
            _ = try decodeExactly(stored, by: bridge, default: initial(), sharing: false)
            guard let data else { return Replaced() }
            let unknown = unknown(in: data)
            DecodedValueCache.of(store).insert(data, of: Value.self, forKey: key, isComplete: unknown == nil)
            return Replaced(unknown: unknown)
        } catch let fault {
            do {
                let found = try decodeOtherwise(stored, by: bridge, default: initial(), because: fault)
                let isUsed = found.report.unusable.isEmpty
                return Replaced(
                    loss: isUsed ? nil : .filledIn(found.report, context(Value.self)),
                    unknown: data.flatMap { unknown(of: found.value, in: $0, found.form) }
                )
            } catch {
                return Replaced(loss: error)
            }
        }
    }
}

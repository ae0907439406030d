internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Settings of one type in a store whose sources speak about them, or that stores only a part of them.
///
/// It is made for one read, or for one update from its read to its write, so that both see the same sources.
struct LayeredSettings {
    let type: any DefaultStorable.Type
    /// The key of the call; nil for the type's own.
    let key: String?
    let store: any DefaultsStore
    private let memory: Memory

    private var layers: PropertyLayers { memory.layers }
    private var identifiers: [String] { memory.identifiers }

    /// What is remembered as long as the sources say the same: the layers of a type, the value that was read last, and
    /// what was written last.
    final class Memory: Sendable {
        fileprivate let layers: PropertyLayers
        /// The keys that settings may be under, the present one first.
        fileprivate let identifiers: [String]
        fileprivate let markKey: String
        fileprivate let lastRead = Locked<(any AnyObject & Sendable)?>(nil)
        fileprivate let lastWrite = Locked<LastWrite?>(nil)

        fileprivate init(
            of type: any DefaultStorable.Type,
            under identifiers: [String],
            in snapshot: SourceSnapshot,
            of store: any DefaultsStore
        ) {
            self.identifiers = identifiers
            markKey = CompanionKey.partial(of: identifiers[0])
            layers = PropertyLayers(
                StoredType.chain(of: type),
                under: identifiers,
                default: type.anyDefault,
                in: snapshot,
                ErrorContext(identifiers[0], type, in: store)
            )
        }
    }

    /// Remembered of a type that no source speaks about.
    private final class Silence: Sendable {
        static let shared = Silence()
    }

    /// The value that was read last.
    fileprivate final class LastRead<Settings>: @unchecked Sendable {
        // Only values without shared mutable state are returned from here.
        let own: PropertyListValue?
        let value: Settings
        /// Whether reads may share it; found out at the second read.
        let isShared: Bool

        init(own: PropertyListValue?, value: Settings, isShared: Bool) {
            (self.own, self.value, self.isShared) = (own, value, isShared)
        }
    }

    /// What was written last, whose bytes need not be read again.
    fileprivate final class LastWrite: @unchecked Sendable {
        // It is changed by nobody once it is made.
        let write: Write
        /// What marks the bytes as a part.
        let mark: PropertyListValue?

        init(_ write: Write, mark: PropertyListValue?) { (self.write, self.mark) = (write, mark) }
    }

    /// What is known of a write.
    fileprivate struct Write {
        let data: Data
        /// The properties in the bytes.
        let own: PropertyLayers.Fields
        /// Those of the value that all layers give together.
        let effective: PropertyLayers.Fields
        /// The bytes of that value.
        let encoded: Data
    }

    /// The layers of a type; nil where no source speaks about it.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - store: The store.
    ///   - key: The key; nil for the type's own.
    init?(
        _ type: any DefaultStorable.Type,
        in store: any DefaultsStore,
        forKey key: String?
    ) {
        guard let memory = Self.memory(of: type, in: store, forKey: key) else { return nil }
        (self.type, self.key, self.store, self.memory) = (type, key, store, memory)
    }

    /// The layers of a type of which a part is stored, where no source speaks about it; nil where a whole value or
    /// nothing is stored.
    ///
    /// This costs look-ups in any store.
    init?(ofPart type: any DefaultStorable.Type, in store: any DefaultsStore, forKey key: String?) {
        let identifiers = key.map { [$0] } ?? type.identifiers
        guard Self.isPartial(under: identifiers, in: store) else { return nil }
        let silence = SourceSnapshot(above: [], below: [])
        let memory = Memory(of: type, under: identifiers, in: silence, of: store)
        (self.type, self.key, self.store, self.memory) = (type, key, store, memory)
    }

    /// What is remembered of a type; nil where no source has anything under its names.
    static func memory(
        of type: any DefaultStorable.Type,
        in store: any DefaultsStore,
        forKey key: String?
    ) -> Memory? {
        guard !DefaultsSources.areSilent(in: store), let sources = store.sources else { return nil }
        let id = SourceSnapshot.RememberedKey(type: ObjectIdentifier(type), key: key.map(StoreKey.init(unchecked:)))
        let known = sources.withSnapshot { snapshot in snapshot.remembered?.read { $0[id] } }
        if known === Silence.shared { return nil }
        // Nothing else is remembered for a settings type.
        if let known { return unsafeDowncast(known, to: Memory.self) }
        // Not while the snapshot is locked: the type's initializers, and handlers of events, may use the store.
        let snapshot = sources.snapshot
        let identifiers = key.map { [$0] } ?? type.identifiers
        guard snapshot.mayMention(identifiers) else {
            // There may be any number of keys that no source has.
            if key == nil { snapshot.remembered?.withLock { $0[id] = Silence.shared } }
            return nil
        }
        let memory = Memory(of: type, under: identifiers, in: snapshot, of: store)
        snapshot.remembered?.withLock { $0[id] = memory }
        return memory
    }

    /// Whether a part of a value is stored under the first of some keys that has one.
    private static func isPartial(under identifiers: [String], in store: any DefaultsStore) -> Bool {
        for identifier in identifiers {
            guard case .data(let data)? = store.ownValue(forKey: identifier) else { continue }
            return PartialMark.isPartial(data, beside: identifier, in: store)
        }
        return false
    }

    // MARK: Reading

    private func registeredFields() -> PropertyLayers.Fields? {
        for identifier in identifiers {
            if let value = store.registeredValue(forKey: identifier) { return layers.registeredFields(value) }
        }
        return nil
    }

    private func ownFields(_ own: StoredSettings?) -> PropertyLayers.Fields? {
        own.map { own in
            let isPartial = PartialMark.isPartial(own.data, beside: own.access.key, in: store)
            let outcome = StoredType.Outcome(value: own.value, form: own.form)
            return layers.ownFields(of: own.data, read: outcome, isPartial: isPartial)
        }
    }

    private func value(over own: StoredSettings?, default initial: (any DefaultStorable)? = nil) -> (
        any DefaultStorable
    )? {
        if layers.isOneValue { return layers.wholeValue(own: own?.value) as? any DefaultStorable }
        let initial = own == nil ? initial : nil
        let value = layers.effective(own: ownFields(own), registered: registeredFields(), default: initial)
        return value as? any DefaultStorable
    }

    /// The value of all layers.
    ///
    /// - Parameter initial: What takes the place of the type's default value while nothing is stored; nil for that
    ///   itself.
    /// - Returns: The value; nil when no layer says enough.
    /// - Throws: What reading the stored value throws.
    func find(default initial: (any DefaultStorable)? = nil) throws(DefaultsError) -> StoredSettings? {
        let stored = store.ownValue(forKey: identifiers[0])
        if let last = lastWrite(ifStored: stored),
            let value = try? layers.decode(last.encoded) as? any DefaultStorable
        {
            let form = StoredForm.absent(of: layers.chain[0])
            let access = type.access(key, in: store)
            return StoredSettings(access: access, value: value, form: form, data: last.data, version: nil)
        }
        func find() throws(DefaultsError) -> StoredSettings? {
            let own = try StoredSettings.findOwn(type, in: store, forKey: key)
            guard let value = value(over: own, default: initial) else { return own }
            return StoredSettings(value, over: own, type.access(key, in: store))
        }
        return try type.access(key, in: store).values.readTogether(type: type) {
            do throws(DefaultsError) {
                let found = try find()
                guard let found, !found.data.isEmpty else { return (.success(found), true) }
                // Otherwise the mark may belong to other bytes.
                return (.success(found), found.isOf(store.ownValue(forKey: found.access.key)))
            } catch {
                return (.failure(error), true)
            }
        }
    }

    /// The value while nothing stored can be used; nil when the sources don't say enough.
    func valueWithoutStored(default initial: (any DefaultStorable)? = nil) -> (any DefaultStorable)? {
        value(over: nil, default: initial)
    }

    // MARK: Writing

    /// Whether a source says anything that can be used, so that a write stores only a part.
    var haveSources: Bool { !layers.isEmpty }

    /// What to store for a new value.
    struct Storing {
        /// The bytes; nil for nothing.
        let data: Data?
        let isPartial: Bool
        /// The mandatory properties that differ in the new value.
        let refused: [MandatoryProperty]
        /// Whether the bytes that are replaced were written by this process, and so are of this type alone.
        let replacesLastWrite: Bool
        /// What can be remembered once the bytes are stored; nil for nothing.
        fileprivate let write: Write?
    }

    /// Finds out what to store for a new value, under the lock.
    ///
    /// - Parameters:
    ///   - data: The new value's bytes.
    ///   - stored: What they replace; nil for nothing.
    /// - Returns: What to store.
    func storing(_ data: Data, replacing stored: PropertyListValue?) -> Storing {
        // What can't be read counts as nothing; it is quarantined.
        func findOwn() -> StoredSettings? { (try? StoredSettings.findOwn(type, in: store, forKey: key)) ?? nil }
        guard !layers.isOneValue, let new = StoredTree.parse(data)?.tree.fields else {
            var bytes: Data? = data
            if layers.isOneValue {
                let own = findOwn()
                let stored = own?.form.isCurrent == true ? own?.data : nil
                bytes = layers.wholeBytes(for: data, own: own?.value, storedAs: stored)
            }
            return Storing(data: bytes, isPartial: false, refused: [], replacesLastWrite: false, write: nil)
        }
        let last = lastWrite(ifStored: stored)
        let own: PropertyLayers.Fields?
        let effective: PropertyLayers.Fields?
        let registered: PropertyLayers.Fields?
        if let last {
            // Nothing is registered then.
            (own, effective, registered) = (last.own, last.effective, nil)
        } else {
            registered = registeredFields()
            own = ownFields(findOwn())
            effective = layers.effective(own: own, registered: registered).flatMap { layers.encode($0) }
        }
        let changes = layers.changes(to: new, own: own, effective: effective, registered: registered)
        let bytes = changes.fields.flatMap { layers.data(of: $0) }
        var write: Write?
        if changes.isEffective, registered == nil, let fields = changes.fields, let bytes {
            write = Write(data: bytes, own: fields, effective: new, encoded: data)
        }
        return Storing(
            data: bytes,
            isPartial: changes.isPartial,
            refused: changes.refused,
            replacesLastWrite: last != nil,
            write: write
        )
    }

    /// Whether a mandatory value is about all of the settings, so that nothing of them may be written.
    var countsAsWhole: Bool { layers.isOneValue }

    // MARK: Origin

    static func origins(
        ofProperty name: String,
        of type: any DefaultStorable.Type,
        in store: any DefaultsStore
    ) -> [DefaultsOrigin] {
        if let layered = LayeredSettings(type, in: store, forKey: nil) { return layered.origins(ofProperty: name) }
        // No source: what is stored and what is registered.
        let silence = SourceSnapshot(above: [], below: [])
        let memory = Memory(of: type, under: type.identifiers, in: silence, of: store)
        return LayeredSettings(type, store, memory).origins(ofProperty: name)
    }

    private init(_ type: any DefaultStorable.Type, _ store: any DefaultsStore, _ memory: Memory) {
        (self.type, key, self.store, self.memory) = (type, nil, store, memory)
    }

    private func origins(ofProperty name: String) -> [DefaultsOrigin] {
        let own = ownFields((try? StoredSettings.findOwn(type, in: store, forKey: key)) ?? nil)
        return layers.origins(ofProperty: name, own: own, registered: registeredFields())
    }
}

// MARK: Remembered values

extension LayeredSettings.Memory {
    /// Whether a value is registered for the settings, which may change at any time.
    fileprivate func isRegistered(in store: any DefaultsStore) -> Bool {
        identifiers.contains { store.registeredValue(forKey: $0) != nil }
    }

    fileprivate func ownValue(in store: any DefaultsStore) -> PropertyListValue? {
        for identifier in identifiers {
            if let value = store.ownValue(forKey: identifier) { return value }
        }
        return nil
    }

    /// The value that was read last, if everything it depends on is the same.
    ///
    /// - Throws: ``FastPathUnavailable`` if it has to be found.
    func lastValue<Settings: DefaultStorable>(
        as type: Settings.Type,
        in store: any DefaultsStore
    ) throws(FastPathUnavailable) -> Settings {
        guard let last = lastRead.withLock({ $0 }) else { throw FastPathUnavailable() }
        // The memory is that of the type.
        let known = unsafeDowncast(last, to: LayeredSettings.LastRead<Settings>.self)
        guard known.isShared, !isRegistered(in: store), known.own.isSame(as: ownValue(in: store)) else {
            throw FastPathUnavailable()
        }
        return known.value
    }
}

extension LayeredSettings {
    /// Whether reads and writes may be remembered: not of types whose versions are recorded beside the bytes, since the
    /// record isn't compared, nor while a value is registered, which isn't either.
    private var mayBeRemembered: Bool {
        type.remembersDecodedValues && type.schemaVersion == 0 && !memory.isRegistered(in: store)
    }

    /// Remembers a value that was read, and lets reads share it if it was read twice and nobody can tell.
    func remember(_ read: StoredSettings) {
        let own = memory.ownValue(in: store)
        // Other bytes may have taken the place of those that were read.
        guard mayBeRemembered, read.isOf(own) else { return }
        func remember<Settings: DefaultStorable>(_ value: Settings) {
            let last = memory.lastRead.withLock { $0 }.map { unsafeDowncast($0, to: LastRead<Settings>.self) }
            // The mark of the bytes isn't compared at each read.
            let isShared = last.map { last in
                last.own.isSame(as: own) && !layers.mayBeWholeOrPart(own)
                    && ValueSemantics.areInterchangeable(last.value, value)
            }
            let new = LastRead(own: own, value: value, isShared: isShared ?? false)
            // The value before is released without the lock.
            _ = memory.lastRead.exchange(new)
        }
        remember(read.value)
    }

    /// Remembers a write once it is stored.
    ///
    /// Not one whose bytes got more than the layers' part of the value, nor of a type with predecessors, whose bytes
    /// these might be taken for.
    func remember(_ storing: Storing, storedAs data: Data, mark: PropertyListValue?) {
        guard let write = storing.write, write.data == data, mayBeRemembered, layers.chain.count == 1 else { return }
        _ = memory.lastWrite.exchange(LastWrite(write, mark: mark))
    }

    /// What was written last, if that is stored, and everything else that it depends on is the same.
    private func lastWrite(ifStored stored: PropertyListValue?) -> Write? {
        guard let last = memory.lastWrite.withLock({ $0 }), case .data(last.write.data)? = stored,
            !memory.isRegistered(in: store), store.ownValue(forKey: memory.markKey).isSame(as: last.mark)
        else { return nil }
        return last.write
    }
}

extension DefaultStorable {
    static var anyDefault: (any DefaultStorable)? { defaultValue }
}

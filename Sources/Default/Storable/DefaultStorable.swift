internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
public import Foundation
#endif

/// A settings type that saves and loads itself.
///
/// ```swift
/// struct VisualSettings: DefaultStorable {
///     var themeName = "bright"
///     var backgroundImageURL: URL?
/// }
///
/// VisualSettings(themeName: "dark").write()
/// let settings = VisualSettings.read()
/// ```
///
/// A value is stored as the encoder's `Data`, without a wrapper, under the type's plain name, in the platform's
/// standard store. Each of these can be changed with a static property: ``defaultCoder``, ``defaultIdentifier`` and
/// ``defaults``. ``defaultValue`` is read while nothing is stored. Every call also takes a store, for one suite per
/// tenant, per document or per test:
///
/// ```swift
/// let suite = MemoryDefaults()
/// VisualSettings(themeName: "dark").write(to: suite)
/// let settings = VisualSettings.read(from: suite)
/// ```
///
/// Each operation comes in two forms. ``write(to:withKey:)``, ``read(from:forKey:)`` and
/// ``clear(in:forKey:)-swift.type.method`` never throw. They report errors to ``DefaultsDiagnostics``.
/// ``save(to:withKey:)``, ``load(from:forKey:)`` and ``remove(from:forKey:)`` throw a ``DefaultsError``. A call that
/// fails leaves the stored value unchanged.
///
/// From the third read of the same bytes on, a process decodes nothing, if the type uses a built-in coder and consists
/// only of structs, enums, collections and Foundation's value types. These reads share one decoded value. The second
/// read decodes twice, to find out whether they can; <doc:Performance> has the exceptions.
///
/// All operations may be called from any thread from which the store may be used. So the type can't be isolated to an
/// actor, and isn't where declarations are isolated to the main actor by default; see <doc:Gotchas>.
public protocol DefaultStorable: DefaultProviding {
    /// The type of the store, inferred from ``defaults``.
    associatedtype DefaultsSuite: DefaultsStore = StandardDefaults

    /// The store for calls without one; the platform's standard store by default.
    ///
    /// ```swift
    /// struct Shared: DefaultStorable {
    ///     static var defaults: UserDefaults {
    ///         UserDefaults(suiteName: "group.app") ?? .standard
    ///     }
    /// }
    /// struct Passing: DefaultStorable {
    ///     static let defaults = MemoryDefaults()
    /// }
    /// ```
    static var defaults: DefaultsSuite { get }

    /// The key for calls without one; the type's plain name by default.
    ///
    /// The plain name leaves out modules and enclosing types: `VisualSettings` for `App.Views.VisualSettings`. Generic
    /// arguments are part of it: `Box<Int>`. Two types with the same identifier in one store are reported to
    /// ``DefaultsDiagnostics``. Implement this property for one of them, and for a type that you rename.
    static var defaultIdentifier: String { get }

    /// The coder for values; ``DefaultsCoder/json`` by default.
    static var defaultCoder: DefaultsCoder { get }

    /// The value that ``read(from:forKey:)`` returns when nothing usable is stored, and that ``update(in:forKey:_:)``
    /// starts from when nothing is stored; nil by default.
    ///
    /// Declare it as a constant or computed: `static let defaultValue = Settings()`. A type whose default value isn't
    /// an optional also has ``current``. In a class that isn't final the property's type is `Self` or `Self?`. In
    /// generic code it is an optional. One of another type is not used.
    ///
    /// Values that older versions of the app stored are also filled in from it, if properties are missing or have
    /// another type. See <doc:ChangingYourSettings>.
    static var defaultValue: Self? { get }

    /// The earlier values of ``defaultIdentifier``; none by default.
    ///
    /// If nothing is stored under the identifier, a value is looked up under these keys, in order, and then under
    /// `"<Name>.Type"`, which version 3 of the older library of this name used. A value found there is left there. It
    /// is also used, until the next write, when the value under a newer key can't be decoded, which is reported.
    static var previousIdentifiers: [String] { get }

    /// Whether a write keeps what the replaced value has and this type doesn't know; true by default.
    ///
    /// So a version of the app that a user goes back to loses nothing of what a newer one has added, in nested structs
    /// as well, in entries of dictionaries, in the values of an enum's case, and in elements of arrays and sets that
    /// are written back as they were. The properties that the type asks for when it is decoded are known to it, also
    /// those that are nil. If something unknown has no place in the new value, because its container is gone or its
    /// element was changed, the old value is quarantined. The same holds for what neither a ``DefaultMigratable``
    /// predecessor nor this type knows. A value that a coder of your own encodes as neither JSON nor a property list is
    /// replaced as a whole.
    ///
    /// A write costs more only while there is something to keep. Return false for a type whose `init(from:)` does not
    /// always ask for the same keys.
    static var keepsUnknownFields: Bool { get }

    /// The names of properties that the type once had and that the next write removes; none by default.
    ///
    /// Without this, a removed property is unknown to the type, and stays stored. The names are the stored keys, with
    /// dots between the keys of nested properties. They lead through all elements of an array and all entries of a
    /// dictionary: `"pages.note"`, `"byName.note"`. Where no entry has such a property, the name is an entry's key:
    /// `"byName.home.note"`. List what should not stay behind, such as private data.
    static var removedProperties: [String] { get }

    /// The version of the type, 1 or more, which is stored beside the value; 0, for no version, by default.
    ///
    /// The version identifies which type in a chain of ``DefaultMigratable`` types the stored bytes belong to, which
    /// otherwise has to be guessed. It also identifies values that a newer version of the app stored. It is stored
    /// under a separate key, `"<key>.schemaVersion"`, in one transaction with the value.
    static var schemaVersion: Int { get }

    /// The oldest version of the type whose code can read and write what this version stores; ``schemaVersion`` by
    /// default.
    ///
    /// It is for users who go back to an older version of the app. A version that is at least this one reads what this
    /// version stored like its own, and keeps the properties that it doesn't know. For an older one, the value is one
    /// of a newer version: ``read(from:forKey:)`` returns the ``defaultValue``, and what replaces the stored value
    /// quarantines it. State it when a new version only adds properties. It is stored with the version.
    static var readableSince: Int { get }
}

extension DefaultStorable {
    /// The type's plain name.
    public static var defaultIdentifier: String { TypeInfo.of(Self.self).pointee.plainName }

    /// JSON.
    public static var defaultCoder: DefaultsCoder { .json }

    /// The default value that is declared without an optional; nil when there is none.
    public static var defaultValue: Self? { try? plainDefault() }

    /// None.
    public static var previousIdentifiers: [String] { [] }

    /// True.
    public static var keepsUnknownFields: Bool { true }

    /// None.
    public static var removedProperties: [String] { [] }

    /// 0: the type has no version.
    public static var schemaVersion: Int { 0 }

    /// The ``schemaVersion``: only this version and newer ones can read its values.
    public static var readableSince: Int { schemaVersion }
}

extension DefaultStorable where DefaultFailure == Never {
    /// The stored value, or the default value while nothing usable is stored.
    ///
    /// ```swift
    /// struct VisualSettings: DefaultStorable {
    ///     var themeName = "bright"
    ///     static let defaultValue = VisualSettings()
    /// }
    ///
    /// print(VisualSettings.current.themeName)
    /// ```
    ///
    /// This is what ``read(from:forKey:)`` returns for the type's own store and key, without an optional. Only types
    /// that declare a default value which isn't an optional have it. Errors are reported to ``DefaultsDiagnostics``.
    public static var current: Self { read() ?? plainDefault() }
}

extension DefaultStorable where DefaultFailure == NoDefaultValue {
    /// Needs a default value that isn't an optional.
    @available(
        *,
        unavailable,
        message: "Declare a default value that isn't optional, static let defaultValue = …, or use read()."
    )
    public static var current: Self { fatalError("There is no default value.") }
}

extension DefaultStorable {
    /// Stores the value; errors are reported to ``DefaultsDiagnostics`` and leave the stored value unchanged.
    ///
    /// If the currently stored value can't be used, or was stored by a newer version of the app, it is quarantined
    /// before it is replaced; see ``quarantined(in:forKey:)``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    public func write(to store: (any DefaultsStore)? = nil, withKey key: String? = nil) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try save(to: store, withKey: key) }
    }

    /// The stored value.
    ///
    /// If nothing is stored under the type's ``defaultIdentifier``, the value is looked up under the
    /// ``previousIdentifiers`` and under `"<Name>.Type"`, the key that version 3 of the older library of this name
    /// used. If the stored value does not match the type, it is migrated or filled in; see <doc:ChangingYourSettings>.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to read; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The value; ``defaultValue`` when nothing is stored or the stored value can't be read, such as one
    ///   that a newer version of the app stored. The latter is reported to ``DefaultsDiagnostics``, once for each
    ///   content and reason, and the stored value is left unchanged.
    public static func read(from store: (any DefaultsStore)? = nil, forKey key: String? = nil) -> Self? {
        let store = store ?? ownStore
        do throws(FastPathUnavailable) {
            return try fastPathValue(in: store, forKey: key)
        } catch {
            return readSlowPath(from: store, forKey: key)
        }
    }

    /// Removes the stored value of this type, like the static ``clear(in:forKey:)-swift.type.method``.
    public func clear(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        Self.clear(in: store, forKey: key)
    }

    /// Removes the stored value; errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to clear; nil, the default, for the type's ``defaultIdentifier`` together with the
    ///     ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    public static func clear(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            try remove(from: store, forKey: key)
        }
    }
}

extension DefaultStorable {
    /// Stores the value.
    ///
    /// If the currently stored value can't be used, or was stored by a newer version of the app, it is quarantined
    /// before it is replaced; see ``quarantined(in:forKey:)``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``,
    ///   ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/quarantineFailed`` or one of the store's. The stored
    ///   value is unchanged then.
    public func save(to store: (any DefaultsStore)? = nil, withKey key: String? = nil) throws(DefaultsError) {
        let store = store ?? Self.ownStore
        try save(to: store, withKey: key, in: LayeredSettings(Self.self, in: store, forKey: key))
    }

    /// Stores the value beside what sources say, which was found before; nil if they say nothing about the type.
    func save(to store: any DefaultsStore, withKey key: String?, in layers: LayeredSettings?) throws(DefaultsError) {
        let access = Self.access(key, in: store)
        let isKnown = try access.replace(with: access.encode(self), in: layers)
        if key == nil, !isKnown {
            IdentifierRegistry.note(Self.self, in: store)
        }
    }

    /// The stored value.
    ///
    /// If the stored value does not match the type, it is migrated or filled in (see <doc:ChangingYourSettings>). This
    /// call reports the differences to ``DefaultsDiagnostics``; ``loadWithReport(from:forKey:)`` returns them. The
    /// stored value is left unchanged.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to read; nil, the default, for the type's ``defaultIdentifier`` and, if nothing is stored under
    ///     it, the ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``,
    ///   ``DefaultsError/Code/typeMismatch``, ``DefaultsError/Code/newerVersion``,
    ///   ``DefaultsError/Code/migrationFailed``, ``DefaultsError/Code/invalidKey``, or why the store can't be
    ///   read. The stored value is left unchanged.
    public static func load(
        from store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) -> Self? {
        let store = store ?? ownStore
        do throws(FastPathUnavailable) {
            return try fastPathValue(in: store, forKey: key)
        } catch {
            return try loadSlowPath(from: store, forKey: key)
        }
    }

    /// Removes the stored value, if there is one, and its schema version.
    ///
    /// Quarantined values are kept; ``removeQuarantined(in:forKey:)`` removes them.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to clear; nil, the default, for the type's ``defaultIdentifier`` together with the
    ///     ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's.
    public static func remove(
        from store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) {
        let store = store ?? ownStore
        let keys = key.map { [$0] } ?? identifiers
        try SettingsAccess.remove(keys, of: Self.self, from: store)
        DecodedValueCache.of(store).remove(keys[0], of: Self.self)
    }

    /// Reads, changes and stores the value as one operation.
    ///
    /// Between reading and storing, no other thread of this process changes the store through this library. If the
    /// store is a ``FileDefaults``, no other process does either. So concurrent updates never lose a change. The change
    /// may read and write the same store. If it stores a value under the same key, that is replaced by the changed
    /// value. It must not wait for other threads' writes.
    ///
    /// **The change may run more than once** on a store that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``. On the stores of this library it runs once.
    ///
    /// ```swift
    /// try VisualSettings.update { $0.themeName = "dark" }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to update; nil, the default, for the type's ``defaultIdentifier``.
    ///   - change: Changes the value, which is the stored one or, when nothing is stored, ``defaultValue``. Bytes that
    ///     can't be decoded, or were stored by a newer version of the app, are treated like missing ones, and
    ///     quarantined when the changed value replaces them. If the change throws, nothing is stored.
    /// - Returns: The result of the change.
    /// - Throws: Any error that the change throws; ``DefaultsError`` with the code ``DefaultsError/Code/valueMissing``
    ///   when nothing is stored and there is no ``defaultValue``; ``DefaultsError/Code/newerVersion`` or
    ///   ``DefaultsError/Code/undecodable`` when the stored value can't be read and there is none; the other errors of
    ///   ``load(from:forKey:)`` and ``save(to:withKey:)``. The stored value is unchanged then.
    @discardableResult
    public static func update<Result>(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil,
        _ change: (inout Self) throws -> Result
    ) throws -> Result {
        let store = store ?? ownStore
        return try store.withExclusiveAccess {
            // The same from the read to the write: a source that changes in between has changed nothing for the caller.
            let layers = LayeredSettings(Self.self, in: store, forKey: key)
            var value: Self?
            do throws(DefaultsError) {
                value = try load(from: store, forKey: key, in: layers) ?? defaultValue
            } catch {
                let isReplaceable = error.code == .newerVersion || error.code == .undecodable
                value = isReplaceable ? layers?.valueWithoutStored() as? Self ?? defaultValue : nil
                guard value != nil else { throw error }
                DefaultsDiagnostics.report(.readFailed, error)
            }
            guard var value else { throw DefaultsError.valueMissing(access(key, in: store).context) }
            let result = try change(&value)
            try value.save(to: store, withKey: key, in: layers)
            return result
        }
    }
}

/// Thrown when a value can't be read by only decoding the stored bytes.
struct FastPathUnavailable: Error {}

extension DefaultStorable {
    /// The keys that a value may be stored under when a call specifies none, the current one first.
    ///
    /// The last is the key that version 3 of the older library of this name used. It described the metatype instead of
    /// the type.
    static var identifiers: [String] {
        [defaultIdentifier] + previousIdentifiers + ["\(TypeInfo.of(Self.self).pointee.plainName).Type"]
    }

    /// Whether decoded values can be cached and shared.
    static var remembersDecodedValues: Bool { defaultCoder.isBuiltIn }

    /// The stored value, if it can be read by only decoding the stored bytes, as most values can.
    ///
    /// - Throws: ``FastPathUnavailable`` when ``StoredSettings/find(_:in:forKey:)`` has to find it. An optional result
    ///   would double the cost of a read, because the runtime has to look up the metadata of the optional in
    ///   unspecialized generic code.
    static func fastPathValue(
        in store: any DefaultsStore,
        forKey key: String?
    ) throws(FastPathUnavailable) -> Self {
        guard remembersDecodedValues else { throw FastPathUnavailable() }
        if let memory = LayeredSettings.memory(of: Self.self, in: store, forKey: key) {
            return try memory.lastValue(as: Self.self, in: store)
        }
        let identifier = key ?? defaultIdentifier
        guard case .data(let data) = store.storedValue(forKey: identifier) else {
            DecodedValueCache.of(store).remove(identifier, of: Self.self)
            throw FastPathUnavailable()
        }
        do {
            guard schemaVersion == 0 else {
                return try DecodedValueCache.of(store).value(of: data, forKey: identifier) { record in
                    store.storedValue(forKey: record.key) == record.value
                }
            }
            return try DecodedValueCache.of(store).value(
                of: data,
                forKey: identifier,
                isLasting: { _ in true }
            ) {
                if key == nil {
                    IdentifierRegistry.note(Self.self, in: store)
                }
                // If the bytes have been replaced by now, so may the mark.
                guard Renaming(Self.self, in: data, coder: defaultCoder) == nil,
                    !PartialMark.isPartial(data, beside: identifier, in: store),
                    store.storedValue(forKey: identifier).isSame(as: .data(data))
                else { throw FastPathUnavailable() }
                let value = try defaultCoder.decodeTopLevel(Self.self, from: data)
                DefaultsDiagnostics.noteReadable(identifier, ErrorContext(identifier, Self.self, in: store))
                return value
            }
        } catch {
            throw FastPathUnavailable()
        }
    }

    /// The stored value or nil, for reads for which ``fastPathValue(in:forKey:)`` throws.
    static func loadSlowPath(from store: any DefaultsStore, forKey key: String?) throws(DefaultsError) -> Self? {
        try StoredSettings.load(Self.self, from: store, forKey: key)?.value as? Self
    }

    /// The value of layers that were found before; nil for those that are stored alone.
    static func load(
        from store: any DefaultsStore,
        forKey key: String?,
        in layers: LayeredSettings?,
        default initial: Self? = nil
    ) throws(DefaultsError) -> Self? {
        guard let layers else { return try load(from: store, forKey: key) }
        return try StoredSettings.load(by: layers, default: initial)?.value as? Self
    }

    /// The stored value or ``defaultValue``, for non-throwing reads for which ``fastPathValue(in:forKey:)`` throws.
    static func readSlowPath(from store: any DefaultsStore, forKey key: String?) -> Self? {
        let stored = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try loadSlowPath(from: store, forKey: key)
        }
        return (stored ?? nil) ?? valueWithoutStored(in: store, forKey: key)
    }

    /// The value while the stored one can't be used: what sources say, else ``defaultValue``.
    private static func valueWithoutStored(in store: any DefaultsStore, forKey key: String?) -> Self? {
        LayeredSettings(Self.self, in: store, forKey: key)?.valueWithoutStored() as? Self ?? defaultValue
    }

    /// Reads the value for callers that keep the last readable one.
    ///
    /// - Returns: The stored value, nil when there is none. One that can't be read is substituted by the value that an
    ///   older version of the app stored under another name, or nil.
    static func reading(from store: any DefaultsStore, forKey key: String?) -> Reading<Self?> {
        do throws(FastPathUnavailable) {
            return .readable(try fastPathValue(in: store, forKey: key))
        } catch {
            return readingSlowPath(from: store, forKey: key)
        }
    }

    /// The same for layers that were found before; nil for those that are stored alone.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - key: The key to read; nil for the type's own.
    ///   - layers: The layers.
    ///   - initial: The value that takes the place of the type's default while nothing is stored.
    /// - Returns: The outcome.
    static func reading(
        from store: any DefaultsStore,
        forKey key: String?,
        in layers: LayeredSettings?,
        default initial: Self
    ) -> Reading<Self?> {
        guard let layers else { return reading(from: store, forKey: key) }
        do {
            let stored = try StoredSettings.load(by: layers, default: initial)
            let value = stored?.value as? Self
            guard let error = stored?.unreadableInFront else { return .readable(value) }
            return .unreadable(substitute: value, because: error)
        } catch {
            let substitute = layers.valueWithoutStored(default: initial) as? Self
            return .unreadable(substitute: substitute, because: error)
        }
    }

    /// The same for reads for which ``fastPathValue(in:forKey:)`` throws.
    private static func readingSlowPath(from store: any DefaultsStore, forKey key: String?) -> Reading<Self?> {
        do {
            let stored = try StoredSettings.load(Self.self, from: store, forKey: key)
            let value = stored?.value as? Self
            guard let error = stored?.unreadableInFront else { return .readable(value) }
            return .unreadable(substitute: value, because: error)
        } catch {
            let substitute = LayeredSettings(Self.self, in: store, forKey: key)?.valueWithoutStored() as? Self
            return .unreadable(substitute: substitute, because: error)
        }
    }
}

extension DefaultStorable {
    /// A sequence of the stored value and its changes; see ``ValueUpdates``.
    ///
    /// ```swift
    /// for await settings in VisualSettings.updates() {
    ///     print(settings?.themeName ?? "none")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to observe; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The results of ``read(from:forKey:)``, the current one first; for a value that can't be read, only
    ///   if it is the first.
    public static func updates(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) -> ValueUpdates<Self?> {
        // The current store is captured here, because another task may iterate the sequence.
        let store = store ?? ownStore
        return ValueUpdates(of: key.map { [$0] } ?? identifiers, in: store) {
            let last = LastReadable<Self?>(comparesValues: true)
            return { stored in
                // What the keys have doesn't tell all where sources speak about the type.
                let tellsAll = store.sources == nil
                return last.update(stored: tellsAll ? stored : nil) {
                    reading(from: store, forKey: key).map { $0 ?? defaultValue }
                }
            }
        }
    }
}

extension DefaultStorable where DefaultsSuite == StandardDefaults {
    /// The platform's standard store.
    public static var defaults: StandardDefaults { .standard }
}

extension DefaultStorable {
    /// The store for calls without one: the type's ``defaults``, or a task's substitute if that is the standard store.
    static var ownStore: any DefaultsStore {
        let chosen = defaults
        guard let substitute = StandardStore.substitute, chosen as AnyObject === StandardDefaults.standard else {
            return chosen
        }
        return substitute
    }
}

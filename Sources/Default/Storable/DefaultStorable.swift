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
/// A value is stored as the encoder's `Data` and nothing else, under the type's plain name, in the platform's standard
/// store. Each of these can be chosen with one static property: ``defaultIdentifier``, ``defaultCoder``, ``defaults``;
/// ``defaultValue`` is what there is before anything was stored. Every call also takes a store, for one suite per tenant,
/// per document or per test:
///
/// ```swift
/// let suite = MemoryDefaults()
/// VisualSettings(themeName: "dark").write(to: suite)
/// let settings = VisualSettings.read(from: suite)
/// ```
///
/// Each operation comes in two forms. ``write(to:withKey:)``, ``read(from:forKey:)`` and ``clear(in:forKey:)`` never throw;
/// what goes wrong in them is reported to ``DefaultsDiagnostics``. ``save(to:withKey:)``, ``load(from:forKey:)`` and
/// ``remove(from:forKey:)`` throw a ``DefaultsError``. A call that fails leaves what was stored as it was.
///
/// Reading settings again that haven't changed decodes nothing, with the built-in coders, if they are made of nothing but
/// structs, enums, collections and Foundation's value types: readers share a decoded value then.
///
/// All of them may be called from any thread, as far as the store may be used from it.
public protocol DefaultStorable: Codable {
    /// The type of the store; follows from the type of ``defaults``.
    associatedtype DefaultsSuite: DefaultsStore = StandardDefaults

    /// The store of calls that name none: the platform's standard one, unless the type says otherwise.
    ///
    /// ```swift
    /// struct Shared: DefaultStorable {
    ///     static var defaults: UserDefaults { UserDefaults(suiteName: "group.app")! }
    /// }
    /// struct Passing: DefaultStorable {
    ///     static let defaults = MemoryDefaults()
    /// }
    /// ```
    static var defaults: DefaultsSuite { get }

    /// The key that a value is stored under when a call names none: the type's plain name, unless the type says otherwise.
    ///
    /// The plain name leaves out modules and enclosing types: `VisualSettings` for `App.Views.VisualSettings`. Generic
    /// arguments are part of it: `Box<Int>`. Two types with one identifier in one store are reported to
    /// ``DefaultsDiagnostics``; give one of them an identifier of its own, and so a type that is to be renamed.
    static var defaultIdentifier: String { get }

    /// How values are encoded: ``DefaultsCoder/json``, unless the type says otherwise.
    static var defaultCoder: DefaultsCoder { get }

    /// What ``read(from:forKey:)`` gives, and ``update(in:forKey:_:)`` starts from, when nothing usable is stored: nil, unless
    /// the type says otherwise.
    ///
    /// It also completes what older versions of the app stored: properties that are missing there, or of another type,
    /// are filled in from it. See <doc:ChangingYourSettings>.
    static var defaultValue: Self? { get }

    /// The keys that values were stored under before ``defaultIdentifier`` was what it is: none, unless the type says
    /// otherwise.
    ///
    /// Where nothing is stored under the identifier, a value is looked for under these, in order, and then under
    /// `"<Name>.Type"`, which version 3 of the older library of this name used. What is found there is left there.
    static var previousIdentifiers: [String] { get }

    /// The new name for each property that was renamed: none, unless the type says otherwise.
    ///
    /// Names are those that are stored, with dots between the keys of nested ones: `["colour": "color"]`,
    /// `["window.w": "window.width"]`. A value under an old name is read under the new one where there is none under that.
    static var renamedProperties: [String: String] { get }

    /// The version of the type, 1 or more, which is stored beside the value; 0, which states none, unless the type says
    /// otherwise.
    ///
    /// With versions it is known, and not guessed, which type of a chain of ``DefaultMigratable`` ones the stored bytes are
    /// of, and what a newer version of the app stored is recognized. The version is stored under a key of its own,
    /// `"<key>.schemaVersion"`, in one transaction with the value.
    static var schemaVersion: Int { get }
}

extension DefaultStorable {
    /// The type's plain name.
    public static var defaultIdentifier: String { TypeInfo.of(Self.self).plainName }

    /// JSON.
    public static var defaultCoder: DefaultsCoder { .json }

    /// Nothing.
    public static var defaultValue: Self? { nil }

    /// None.
    public static var previousIdentifiers: [String] { [] }

    /// None.
    public static var renamedProperties: [String: String] { [:] }

    /// 0: the type states no version.
    public static var schemaVersion: Int { 0 }
}

extension DefaultStorable {
    /// Stores the value; what goes wrong is reported to ``DefaultsDiagnostics`` and leaves what was stored as it was.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    public func write(to store: (any DefaultsStore)? = nil, withKey key: String? = nil) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try save(to: store, withKey: key) }
    }

    /// The stored value.
    ///
    /// Where nothing is stored under the type's ``defaultIdentifier``, what is stored under the ``previousIdentifiers`` is
    /// found, and what version 3 of the older library of this name stored, under `"<Name>.Type"`. Where what is stored
    /// does not fit the type as it is, it is migrated or filled in; see <doc:ChangingYourSettings>.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to read; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The value; ``defaultValue`` when nothing is stored or what is stored can't be read. The latter is
    ///   reported to ``DefaultsDiagnostics``, once per key and process, and what is stored is left as it is.
    public static func read(from store: (any DefaultsStore)? = nil, forKey key: String? = nil) -> Self? {
        let store = store ?? ownStore
        do throws(FastPathUnavailable) {
            return try fastPathValue(in: store, forKey: key)
        } catch {
            return readSlowPath(from: store, forKey: key)
        }
    }

    /// Removes the stored value of this type, as the type's own ``clear(in:forKey:)-swift.type.method`` does.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to clear; nil, the default, for all that the type may be stored under.
    public func clear(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        Self.clear(in: store, forKey: key)
    }

    /// Removes the stored value; what goes wrong is reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
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
    /// When what is stored can't be used, it is quarantined before it is replaced; see ``quarantined(in:forKey:)``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``, ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/quarantineFailed`` or one of the store's; what was stored is as it was then.
    public func save(to store: (any DefaultsStore)? = nil, withKey key: String? = nil) throws(DefaultsError) {
        let store = store ?? Self.ownStore
        try replaceStoredValue(in: store, forKey: key ?? Self.defaultIdentifier)
        if key == nil {
            IdentifierRegistry.note(Self.self, in: store)
        }
    }

    /// The stored value.
    ///
    /// Where what is stored does not fit the type as it is, it is migrated or filled in (see <doc:ChangingYourSettings>).
    /// ``loadWithReport(from:forKey:)`` returns what differs from what is stored; this call reports it to
    /// ``DefaultsDiagnostics``. What is stored is left as it is.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to read; nil, the default, for the type's ``defaultIdentifier`` and, where nothing is stored under
    ///     it, the ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    /// - Returns: The value, nil when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``, ``DefaultsError/Code/typeMismatch``,
    ///   ``DefaultsError/Code/newerVersion``, ``DefaultsError/Code/migrationFailed`` or ``DefaultsError/Code/invalidKey``;
    ///   what is stored is left as it is.
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

    /// Removes the stored value, if there is one, and what is stored beside it about its version.
    ///
    /// What was quarantined stays: ``removeQuarantined(in:forKey:)`` removes it.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to clear; nil, the default, for the type's ``defaultIdentifier`` together with the
    ///     ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's.
    public static func remove(
        from store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) throws(DefaultsError) {
        let store = store ?? ownStore
        let keys = key.map { [$0] } ?? identifiers
        let records = keys.map(CompanionKey.version).filter { store.storedValue(forKey: $0) != nil }
        try KeyAccess.remove(keys + records, from: store, type: Self.self)
        DecodedValueCache.shared.remove(keys[0], of: Self.self)
    }

    /// Reads, changes and stores the value as one operation.
    ///
    /// Between reading and storing, no other thread of this process changes the store through this library, and no other
    /// process if the store is a ``FileDefaults``; so no change is lost however many update at once. The change may itself
    /// read and write the same store; what it stores under the same key is replaced by the value it leaves. It must not wait
    /// for other threads' writes.
    ///
    /// **The change may run more than once** on a store that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``. On the stores of this library it runs once.
    ///
    /// ```swift
    /// try VisualSettings.update { $0.themeName = "dark" }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to update; nil, the default, for the type's ``defaultIdentifier``.
    ///   - change: Changes the value, which is the stored one or, when nothing is stored, ``defaultValue``. When it
    ///     throws, nothing is stored.
    /// - Returns: What the change returns.
    /// - Throws: What the change throws; ``DefaultsError`` with the code ``DefaultsError/Code/valueMissing`` when nothing
    ///   is stored and there is no ``defaultValue``, and with those of ``load(from:forKey:)`` and ``save(to:withKey:)``.
    ///   What was stored is as it was then.
    @discardableResult
    public static func update<Result>(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil,
        _ change: (inout Self) throws -> Result
    ) throws -> Result {
        let store = store ?? ownStore
        return try store.withExclusiveAccess {
            guard var value = try load(from: store, forKey: key) ?? defaultValue else {
                throw DefaultsError.valueMissing(
                    key: key ?? defaultIdentifier,
                    type: Self.self,
                    store: store.storeDescription
                )
            }
            let result = try change(&value)
            try value.save(to: store, withKey: key)
            return result
        }
    }
}

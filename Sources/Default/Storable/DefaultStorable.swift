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
/// A value is kept as the encoder's `Data` and nothing else, under the type's plain name, in the platform's standard
/// store. Each of these can be chosen with one static property: ``defaultIdentifier``, ``defaultCoder``, ``defaults``;
/// ``defaultValue`` is what there is before anything was stored.
///
/// Each operation comes in two forms. ``write(withKey:)``, ``read(forKey:)`` and ``clear(forKey:)`` never throw; what
/// goes wrong in them arrives in ``DefaultsDiagnostics``. ``save(withKey:)``, ``load(forKey:)`` and
/// ``remove(forKey:)`` throw a ``DefaultsError``. A call that fails leaves what was stored as it was.
///
/// A read of settings that haven't changed decodes nothing, if they are made of nothing but structs, enums, collections and
/// Foundation's value types: what the same bytes were decoded to before is given again.
///
/// All of them may be called from any thread, as far as the store may be used from it.
public protocol DefaultStorable: Codable {
    /// The kind of store that the settings are kept in; follows from the type of ``defaults``.
    associatedtype DefaultsSuite: DefaultsStore = StandardDefaults

    /// The store that the settings are kept in: the platform's standard one, unless the type says otherwise.
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
    /// arguments are part of it: `Box<Int>`. Two types that meet under one identifier in one store are reported to
    /// ``DefaultsDiagnostics``; give one of them an identifier of its own, and so a type that is to be renamed.
    static var defaultIdentifier: String { get }

    /// How values are encoded: ``DefaultsCoder/json``, unless the type says otherwise.
    static var defaultCoder: DefaultsCoder { get }

    /// What ``read(forKey:)`` gives, and ``update(forKey:_:)`` starts from, when nothing usable is stored: nil, unless
    /// the type says otherwise.
    ///
    /// It also completes what older versions of the app stored: properties that are missing there, or of another type,
    /// are taken from it. See <doc:ChangingYourSettings>.
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
    /// With versions, which type of a chain of ``DefaultMigratable`` ones the stored bytes are of is known and not
    /// guessed, and what a newer version of the app stored is recognized. The version is kept under a key of its own,
    /// `"<key>.schemaVersion"`, in one transaction with the value.
    static var schemaVersion: Int { get }
}

extension DefaultStorable {
    /// The type's plain name.
    public static var defaultIdentifier: String {
        KnownType.reference(to: Self.self)._withUnsafeGuaranteedRef(\.plainName)
    }

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
    /// - Parameter key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    public func write(withKey key: String? = nil) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try save(withKey: key) }
    }

    /// The stored value.
    ///
    /// Where nothing is stored under the type's ``defaultIdentifier``, what is stored under the ``previousIdentifiers`` is
    /// found, and what version 3 of the older library of this name stored, under `"<Name>.Type"`. Where what is stored
    /// does not fit the type as it is, it is migrated or completed; see <doc:ChangingYourSettings>.
    ///
    /// - Parameter key: The key to read; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The value; ``defaultValue`` when nothing is stored or what is stored can't be read. The latter is
    ///   reported to ``DefaultsDiagnostics``, once per key and process, and what is stored is left as it is.
    public static func read(forKey key: String? = nil) -> Self? {
        // The common way knows of no optional: for a type that only the caller knows, each takes the runtime a look-up.
        do throws(NoPlainValue) {
            return try plainValue(forKey: key)
        } catch {
            return readFurther(forKey: key)
        }
    }

    /// Removes the stored value of this type, as the type's own ``clear(forKey:)`` does.
    public func clear() {
        Self.clear()
    }

    /// Removes the stored value; what goes wrong is reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter key: The key to clear; nil, the default, for the type's ``defaultIdentifier`` together with the
    ///   ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    public static func clear(forKey key: String? = nil) {
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in try remove(forKey: key) }
    }
}

extension DefaultStorable {
    /// Stores the value.
    ///
    /// When what is stored can't be used, it is kept aside before it is replaced; see ``quarantined(forKey:)``.
    ///
    /// - Parameter key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``, ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/quarantineFailed`` or one of the store's; what was stored is as it was then.
    public func save(withKey key: String? = nil) throws(DefaultsError) {
        let store = Self.store
        try replaceStoredValue(in: store, forKey: key ?? Self.defaultIdentifier)
        if key == nil {
            IdentifierRegistry.note(Self.self, in: store)
        }
    }

    /// The stored value.
    ///
    /// Where what is stored does not fit the type as it is, it is migrated or completed (see <doc:ChangingYourSettings>);
    /// what is not as stored in the value is told by ``loadWithReport(forKey:)``, and by this call to
    /// ``DefaultsDiagnostics``. What is stored is left as it is.
    ///
    /// - Parameter key: The key to read; nil, the default, for the type's ``defaultIdentifier`` and, where nothing is
    ///   stored under it, the ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    /// - Returns: The value, nil when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``, ``DefaultsError/Code/typeMismatch``,
    ///   ``DefaultsError/Code/newerVersion``, ``DefaultsError/Code/migrationFailed`` or ``DefaultsError/Code/invalidKey``;
    ///   what is stored is left as it is.
    public static func load(forKey key: String? = nil) throws(DefaultsError) -> Self? {
        do throws(NoPlainValue) {
            return try plainValue(forKey: key)
        } catch {}
        return try foundValue(forKey: key)
    }

    /// Removes the stored value, if there is one, and what is kept beside it about its version.
    ///
    /// What was kept aside because it could not be used stays: ``removeQuarantined(forKey:)`` removes it.
    ///
    /// - Parameter key: The key to clear; nil, the default, for the type's ``defaultIdentifier`` together with the
    ///   ``previousIdentifiers`` and the key that version 3 of the older library of this name used.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's.
    public static func remove(forKey key: String? = nil) throws(DefaultsError) {
        let store = store
        let keys = key.map { [$0] } ?? identifiers
        let records = keys.map(SiblingKey.version).filter { store.object(forKey: $0) != nil }
        try store.remove(keys: keys + records, type: Self.self)
        KnownType.of(Self.self).contents.forget(keys[0])
    }

    /// Reads, changes and stores the value as one operation.
    ///
    /// Between reading and storing, no other thread of this process changes the store through this library, and no other
    /// process if the store is a ``FileDefaults``; so no change is lost however many update at once. The change may itself
    /// read and write the same store; what it stores under the same key is replaced by the value it leaves. It must not wait
    /// for other threads' writes.
    ///
    /// ```swift
    /// try VisualSettings.update { $0.themeName = "dark" }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key to update; nil, the default, for the type's ``defaultIdentifier``.
    ///   - change: Changes the value, which is the stored one or, when nothing is stored, ``defaultValue``. When it
    ///     throws, nothing is stored.
    /// - Returns: What the change returns.
    /// - Throws: What the change throws; ``DefaultsError`` with the code ``DefaultsError/Code/valueMissing`` when nothing
    ///   is stored and there is no ``defaultValue``, and with those of ``load(forKey:)`` and ``save(withKey:)``. What was
    ///   stored is as it was then.
    @discardableResult
    public static func update<Result>(
        forKey key: String? = nil,
        _ change: (inout Self) throws -> Result
    ) throws -> Result {
        try store.withExclusiveAccess {
            guard var value = try loadForUpdate(forKey: key) ?? defaultValue else {
                throw DefaultsError.valueMissing(
                    key: key ?? defaultIdentifier,
                    type: Self.self,
                    store: store.storeDescription
                )
            }
            let result = try change(&value)
            try value.save(withKey: key)
            return result
        }
    }
}

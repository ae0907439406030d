/// A settings type whose values can be created from those of an earlier type.
///
/// ```swift
/// struct SettingsV1: Codable {
///     var volume: Int
/// }
///
/// struct Settings: DefaultMigratable {
///     var volume: Double
///     static var schemaVersion: Int { 2 }
///
///     init(migrating previous: SettingsV1) {
///         volume = Double(previous.volume) / 100
///     }
/// }
/// ```
///
/// The previous type may be migratable itself, so that chains of any length are possible, and bytes of every type in
/// the chain can be read. Reading migrates in memory and leaves the stored bytes unchanged. The next write stores the
/// new form, and so does ``DefaultStorable/migrate(in:forKey:)``.
///
/// If the type has a ``DefaultStorable/schemaVersion``, the version stored beside the bytes determines their type. A
/// previous type without a version has the version before that of its successor. Bytes without a recorded version
/// belong to a type without a version, if one can use any part of them: the newest that decodes them exactly, else the
/// newest previous type that can use all stored values with missing properties filled in, else the one that can use the
/// most. Give each type at least one non-optional property that no previous type has, or preferably a
/// ``DefaultStorable/schemaVersion`` from the first release on. The full order is in <doc:ChangingYourSettings>.
public protocol DefaultMigratable: DefaultStorable {
    /// The type that was stored before this one.
    ///
    /// It is decoded with its own ``DefaultStorable/defaultCoder`` if it is a settings type, otherwise with this
    /// type's. It is filled in if it is a settings type or another type with a default value; see ``DefaultProviding``.
    associatedtype Previous: Decodable

    /// Creates a value from one of the previous type.
    ///
    /// Called by reads until the value has been written, but not by each: reads of unchanged bytes may share one value.
    /// It should have no side effects.
    ///
    /// - Parameter previous: The stored value.
    /// - Throws: Any error when the value can't be migrated. The stored value is left unchanged, and
    ///   ``DefaultsError/Code/migrationFailed`` is thrown or reported.
    init(migrating previous: Previous) throws
}

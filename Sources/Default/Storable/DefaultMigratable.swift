/// A settings type that can be made of the type that was stored before it.
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
/// The predecessor may be migratable itself; so chains of any length arise, from whose oldest type on everything can be
/// read. Reading migrates in memory and changes nothing that is stored; the next write stores the new form, and so does
/// ``DefaultStorable/migrate(forKey:)``.
///
/// The version stored beside the bytes says which type they are of, where the type states a
/// ``DefaultStorable/schemaVersion``; a predecessor that states none has the version before that of its successor. Bytes
/// without a recorded version belong to the newest type without a version that decodes them exactly; where none does, to the
/// newest predecessor without a version that, with missing properties filled in from its
/// ``DefaultStorable/defaultValue``, can use all that is stored. Give each type at least one property that no predecessor has
/// and that isn't optional, or better a ``DefaultStorable/schemaVersion`` from the first release on.
public protocol DefaultMigratable: DefaultStorable {
    /// The type that was stored before this one.
    ///
    /// It is decoded with its own ``DefaultStorable/defaultCoder`` if it is a settings type, else with this one's.
    associatedtype Previous: Decodable

    /// Makes a value of what was stored before.
    ///
    /// Called at each read until the value has been written; should have no effects but its outcome.
    ///
    /// - Parameter previous: What was stored.
    /// - Throws: Whatever tells that no value can be made of it. What is stored is left as it is, and
    ///   ``DefaultsError/Code/migrationFailed`` thrown or reported.
    init(migrating previous: Previous) throws
}

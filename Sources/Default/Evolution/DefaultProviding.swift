/// A type with a default value, from which older stored values of it are filled in.
///
/// Settings types conform. Let the other types that you store conform if they may gain properties: the elements of
/// arrays and dictionaries, the values of optional properties, and the predecessors of a ``DefaultMigratable`` type.
/// What lacks a property, or has one that can't be used, is then filled in instead of being dropped:
///
/// ```swift
/// struct Bookmark: DefaultProviding {
///     var url: String
///     var tags: [String] = []                   // new in this version
///
///     static let defaultValue = Bookmark(url: "about:blank")
/// }
/// ```
///
/// In a class that isn't final, the property has the type `Self` or `Self?`. A type that declares no default value, or
/// one of another type, has none, which is reported when a value is read that may have to be filled in.
///
/// The conformance is used by any task, so it can't be isolated to an actor; see <doc:Gotchas>. For what is filled in,
/// see <doc:ChangingYourSettings>.
public protocol DefaultProviding: Codable, PlainDefaultProviding {
    /// The value that missing and unusable properties are taken from; nil for none.
    ///
    /// Declare it as `Self?`, or as `Self`, such as `static let defaultValue = Bookmark()`: then this is the same
    /// value. Evaluated on any thread: at the first read in a process, to find the types whose properties are renamed,
    /// and when a stored value has to be filled in. Reads of unchanged bytes may share the outcome.
    static var defaultValue: Self? { get }

    /// The new names of renamed properties by their old names; none by default.
    ///
    /// The names are the stored keys, with dots between the keys of nested properties: `["colour": "color"]`,
    /// `["window.w": "window.width"]`. A value with an old name is used if there is none with the new name, or null;
    /// otherwise it counts as unusable. Names may form chains, and parents may be renamed as well, in any order:
    /// `["z": "y", "y": "x", "old": "window"]`. Names that lead back to themselves are ignored.
    ///
    /// They apply wherever a value of the type is stored: under its own key, under typed keys and in containers, in
    /// properties of other types, optional or not, in elements and in entries.
    ///
    /// An old name may become the name of another property again only if the one with the new name is always stored,
    /// which an optional property isn't while it is nil.
    static var renamedProperties: [String: String] { get }
}

/// The requirement that makes `static let defaultValue = Settings()` count, without an optional.
///
/// ``DefaultProviding`` and `DefaultStorable` inherit it; conform to those. In generic code,
/// ``DefaultProviding/defaultValue`` has the value, however the type declares it.
public protocol PlainDefaultProviding: SendableMetatype {
    /// `Never` for a type that declares its default value without an optional; follows from that.
    associatedtype DefaultFailure: Error = NoDefaultValue

    /// The default value of a type that declares it without an optional.
    static var defaultValue: Self { get throws(DefaultFailure) }
}

/// Thrown for a type that doesn't declare a default value without an optional.
public struct NoDefaultValue: Error {}

extension DefaultProviding {
    /// None.
    public static var renamedProperties: [String: String] { [:] }

    /// The default value that is declared without an optional; if there is none, that is reported.
    public static var defaultValue: Self? {
        do {
            return try plainDefault()
        } catch {
            DefaultsDiagnostics.reportDefault(of: Self.self, .defaultMissing(type: Self.self))
            return nil
        }
    }
}

extension PlainDefaultProviding where DefaultFailure == NoDefaultValue {
    /// Throws; for a type that declares its default value as an optional.
    public static var defaultValue: Self { get throws(NoDefaultValue) { throw NoDefaultValue() } }
}

extension PlainDefaultProviding {
    /// The default value that is declared without an optional.
    static func plainDefault() throws(DefaultFailure) -> Self { try defaultValue }
}

/// The default value that a type has itself; nil if it has none.
func ownDefault(of type: any Decodable.Type) -> (any Encodable)? {
    func value<Provider: DefaultProviding>(of type: Provider.Type) -> (any Encodable)? { type.defaultValue }
    return (type as? any DefaultProviding.Type).flatMap { value(of: $0) }
}

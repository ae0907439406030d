/// A type with a default value, from which older stored values of it are filled in.
///
/// Settings types conform. Let the other types that you store conform if they may gain properties: the elements of arrays
/// and dictionaries, the values of optional properties, and the predecessors of a ``DefaultMigratable`` type. What lacks a
/// property, or has one that can't be used, is then filled in instead of being dropped:
///
/// ```swift
/// struct Bookmark: DefaultProviding {
///     var url: String
///     var tags: [String] = []                   // new in this version
///
///     static var defaultValue: Bookmark? { Bookmark(url: "about:blank") }
/// }
/// ```
///
/// See <doc:ChangingYourSettings>.
public protocol DefaultProviding: Codable {
    /// The value that missing and unusable properties are taken from; nil for none.
    ///
    /// Evaluated when a stored value has to be filled in, on any thread. Reads of unchanged bytes may share the outcome.
    static var defaultValue: Self? { get }
}

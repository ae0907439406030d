#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where a value comes from.
///
/// You get it from ``DefaultsStore/origin(forKey:)``, ``Defaults/origin(of:)-swift.method`` and
/// ``DefaultStorable/origin(ofProperty:in:)``.
public struct DefaultsOrigin: Hashable, Sendable {
    /// A kind of origin; later versions may add kinds.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, stable across versions.
        public let name: String

        /// An administrator's value, which nobody can change through this library.
        public static let mandatory = Kind(name: "mandatory")
        /// An argument that the program was started with.
        public static let argument = Kind(name: "argument")
        /// One of the sources that the program reads above what is stored, such as the environment.
        public static let override = Kind(name: "override")
        /// What the user or the program has stored.
        public static let stored = Kind(name: "stored")
        /// One of the sources that are read while nothing is stored, such as a vendor's file.
        public static let fallback = Kind(name: "fallback")
        /// A value that the program has registered.
        public static let registered = Kind(name: "registered")

        /// The kind's name.
        public var description: String { name }
    }

    /// The kind.
    public let kind: Kind
    /// The name of the source for people: a path, "the environment", or the store's
    /// ``DefaultsStore/storeDescription``.
    public let name: String
    /// The source's file; nil if it is none.
    public let url: URL?

    init(_ kind: Kind, name: String, url: URL? = nil) { (self.kind, self.name, self.url) = (kind, name, url) }

    /// The source in a sentence.
    var place: String { kind == .registered ? "what is registered" : name }
}

extension DefaultsOrigin: CustomStringConvertible {
    /// The kind and the source: "fallback (/etc/xdg/player.json)".
    public var description: String { "\(kind) (\(name))" }
}

/// A property that a write would have changed, and where its mandatory value comes from.
struct MandatoryProperty {
    /// The name under which it is stored.
    let name: String
    let origin: DefaultsOrigin
}

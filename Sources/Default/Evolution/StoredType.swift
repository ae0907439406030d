/// A release of a type that stored bytes may be of: the newest, or one that came before.
///
/// The folder Storable makes these of settings types and their predecessors, and Access of the types of typed keys and
/// containers.
struct StoredType {
    let type: any Decodable.Type
    /// Its version: its own, or one less than its successor's.
    var version = 0
    /// Whether it has its own version.
    var hasVersion = false
    let coder: DefaultsCoder
    /// Whether a write keeps what none of the releases from this one on knows.
    var keepsUnknownFields = true
    /// The unknown fields that the next write drops.
    var removedProperties: [String] = []
    /// Makes a value of the newest release of one of this; nil for the newest itself.
    var migration: ((any Decodable) throws -> any Decodable)?

    var isNewest: Bool { migration == nil }
}

/// Why bytes are not read as a settings type, although they may be those of one of its versions.
enum VersionFault: Error {
    /// A newer version of the type stored them.
    case newer(Int)
    /// They were decoded, and the migration threw an error.
    case migrationFailed(any Error, from: String)
}

package import Foundation

extension URL {
    /// The path as the system's calls take it.
    package var plainPath: String { path(percentEncoded: false) }
}

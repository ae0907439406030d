public import Crypto
public import Foundation

/// A key in a file that only its owner can read, at a place that is not backed up together with the suite.
///
/// If the system has something better, take the key from there: a keychain, a TPM, a service's credentials.
public struct KeyFile: Sendable {
    /// The reasons why a key file can't be used.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// Users other than the owner may read the file.
        case readableByOthers(path: String)
        /// The file does not hold 256 bits.
        case wrongSize(path: String)
        /// The file doesn't exist.
        case missing(path: String)

        /// A description of the failure and its remedy.
        public var description: String {
            switch self {
            case .readableByOthers(let path):
                "Other users may read the key in \(path), so it is not used. Take that permission away: chmod go-rwx."
            case .wrongSize(let path):
                "The file \(path) doesn't hold a key of 256 bits. Restore it from where it is backed up."
            case .missing(let path):
                "The key file \(path) doesn't exist. Restore it, or create one where the program is set up."
            }
        }
    }

    /// The file.
    public let url: URL

    /// Names a key file.
    ///
    /// - Parameter url: The file, which need not exist yet, in its own directory.
    public init(url: URL) {
        self.url = url
    }

    /// The key in the file.
    ///
    /// - Returns: The key.
    /// - Throws: A ``Failure``, or the system's error when the file can't be read.
    public func key() throws -> SymmetricKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure.missing(path: path)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard let permissions = attributes[.posixPermissions] as? NSNumber, permissions.intValue & 0o077 == 0 else {
            throw Failure.readableByOthers(path: path)
        }
        let bytes = try Data(contentsOf: url)
        guard bytes.count == 32 else {
            throw Failure.wrongSize(path: path)
        }
        return SymmetricKey(data: bytes)
    }

    /// Creates the file with a new random key, unless there is one.
    ///
    /// Call this where the program is set up, never where a secret is read: a key made because the old one was not
    /// found can't decrypt the secrets of the old one.
    ///
    /// - Throws: The system's error when the file can't be written.
    public func createIfMissing() throws {
        let manager = FileManager.default
        let directory = url.deletingLastPathComponent()
        try manager.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        guard !manager.fileExists(atPath: path) else {
            return
        }
        let fresh = directory.appending(path: UUID().uuidString)
        defer { try? manager.removeItem(at: fresh) }
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        try Data().write(to: fresh, options: .withoutOverwriting)
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fresh.path(percentEncoded: false))
        try bytes.write(to: fresh)
        do {
            // A link is created only if there is no file, so of two processes one wins, with its whole key.
            try manager.linkItem(at: fresh, to: url)
        } catch {
            guard manager.fileExists(atPath: path) else {
                throw error
            }
        }
    }

    private var path: String { url.path(percentEncoded: false) }
}

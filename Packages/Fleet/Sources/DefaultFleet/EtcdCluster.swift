public import Foundation
internal import NIOSSL

/// An etcd cluster, and how a program proves to it who it is.
///
/// ```swift
/// let cluster = EtcdCluster(
///     endpoints: [url1, url2, url3],
///     tls: EtcdCluster.TLS(trustRoots: "/etc/shop/ca.pem"),
///     user: EtcdCluster.User(name: "shop", password: password)
/// )
/// ```
public struct EtcdCluster: Sendable {
    /// The client URLs of members, at least one; requests go to another member when one doesn't answer.
    public var endpoints: [URL]
    /// How members are authenticated, and this program to them; nil for the system's trust roots, or for `http`.
    public var tls: TLS?
    /// Who the program is to a cluster with authentication enabled; nil for one without.
    public var user: User?

    /// Describes a cluster, without sending anything.
    ///
    /// - Parameters:
    ///   - endpoints: The client URLs of members, with the scheme `http` or `https`.
    ///   - tls: How members are authenticated, and this program to them.
    ///   - user: Who the program is to a cluster with authentication enabled.
    public init(endpoints: [URL], tls: TLS? = nil, user: User? = nil) {
        self.endpoints = endpoints
        self.tls = tls
        self.user = user
    }

    /// The certificates of a connection.
    public struct TLS: Sendable, Hashable {
        /// The path of a PEM file with the authorities that members' certificates must be from; nil for the system's.
        public var trustRoots: String?
        /// The path of a PEM file with this program's certificate chain; nil for none.
        ///
        /// With authentication enabled, the certificate must have no CommonName: etcd's gateway refuses every request
        /// then.
        public var certificate: String?
        /// The path of a PEM file with the certificate's private key.
        public var privateKey: String?

        /// Describes the certificates.
        ///
        /// Their files are read when a store is made, and again when they have changed: connections that are made later
        /// use what is in them then. Files that can't be used, since only one of them was changed so far, leave it at
        /// what was read before.
        ///
        /// - Parameters:
        ///   - trustRoots: The path of a PEM file with the authorities to trust; nil for the system's.
        ///   - certificate: The path of a PEM file with this program's certificate chain; nil for none.
        ///   - privateKey: The path of a PEM file with the certificate's private key.
        public init(trustRoots: String? = nil, certificate: String? = nil, privateKey: String? = nil) {
            self.trustRoots = trustRoots
            self.certificate = certificate
            self.privateKey = privateKey
        }

        /// What its files are now.
        var stamp: FileStamp { FileStamp(of: [trustRoots, certificate, privateKey]) }

        func configuration() throws -> TLSConfiguration {
            var configuration = TLSConfiguration.makeClientConfiguration()
            if let trustRoots {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(trustRoots))
            }
            if let certificate {
                configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate)
                    .map { .certificate($0) }
            }
            if let privateKey {
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: privateKey, format: .pem))
            }
            return configuration
        }
    }

    /// A user of the cluster.
    public struct User: Sendable {
        /// The name; empty with a token, which says whose it is.
        public var name: String
        /// How a program proves that it is this user.
        public var secret: Secret

        /// A password or a token; the last line break of a file is no part of it.
        public enum Secret: Sendable {
            /// A password, which is sent to the members, so use `https`.
            case password(String)
            /// The path of a file with the password.
            ///
            /// It is read each time that the password is sent. A password that was refused is sent again soon after the
            /// file has changed.
            case passwordFile(String)
            /// The path of a file with a token, which members with `--auth-token jwt` accept.
            ///
            /// It is sent with each request, so use `https`. When it is refused, the file is read again as soon as it
            /// has changed.
            case tokenFile(String)
        }

        /// Describes a user.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - password: The password.
        public init(name: String, password: String) {
            self.name = name
            secret = .password(password)
        }

        /// Describes a user whose password is in a file.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - passwordFile: The path of the file.
        public init(name: String, passwordFile: String) {
            self.name = name
            secret = .passwordFile(passwordFile)
        }

        /// Describes the user of a token, which is in a file.
        ///
        /// - Parameter tokenFile: The path of the file. It has the token alone, with spaces and line ends around it if
        ///   any.
        public init(tokenFile: String) {
            name = ""
            secret = .tokenFile(tokenFile)
        }

        /// The file that has the secret; nil for none.
        var file: String? {
            switch secret {
            case .password: nil
            case .passwordFile(let path), .tokenFile(let path): path
            }
        }

        /// The password or the token, wherever it is.
        func readSecret() throws -> String {
            switch secret {
            case .password(let password): return password
            case .passwordFile(let path):
                let text = try String(contentsOfFile: path, encoding: .utf8)
                // One character, also when it is CR LF.
                return text.last?.isNewline == true ? String(text.dropLast()) : text
            case .tokenFile(let path):
                let words = try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isWhitespace)
                // It becomes a header, and the error of one that can't be sent would have it.
                guard words.count == 1, words[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                    throw MalformedToken()
                }
                return String(words[0])
            }
        }

        private struct MalformedToken: Error, CustomStringConvertible {
            let description = "A token is one word of visible characters in ASCII, and the file has something else."
        }
    }
}

extension EtcdCluster: CustomStringConvertible {
    /// The endpoints, without credentials.
    public var description: String {
        endpoints.map { url in
            (url.host ?? "?") + (url.port.map { ":\($0)" } ?? "")
        }
        .joined(separator: ",")
    }
}

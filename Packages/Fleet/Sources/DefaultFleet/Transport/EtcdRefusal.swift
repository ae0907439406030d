/// Why a member refused a request.
///
/// The cause is found by the code of gRPC. Where the same code has causes that need different answers (a full quota and
/// too many requests are both "resource exhausted"), and in frames of a watch, which have none, the message decides.
/// The messages are those of etcd 3.4 to 3.6.
struct EtcdRefusal: Error, Hashable, Sendable {
    enum Cause: Sendable {
        /// The token has expired, the member that made it has restarted, or users and roles have changed since it was
        /// signed.
        case invalidToken
        case wrongPassword
        /// Authentication is enabled, and the request had no user.
        case missingUser
        case permissionDenied
        /// The client's certificate has a CommonName, which the gateway does not accept with authentication enabled.
        case commonName
        case authenticationDisabled
        /// The member knows of no leader; it has not passed the request on.
        case noLeader
        /// The member has too much to do; it has not passed the request on.
        case tooManyRequests
        case quotaExceeded
        case requestTooLarge
        case tooManyOperations
        case compacted
        case futureRevision
        case leaseNotFound
        /// Anything else. The request may have been passed on.
        case other
    }

    let cause: Cause
    /// What the member said.
    let message: String

    init(code: Int? = nil, message: String) {
        self.message = message
        cause = Self.cause(of: code) ?? Self.causes.first { message.contains($0.text) }?.cause ?? .other
    }

    /// The cause of a code that has one for the requests that are made here.
    private static func cause(of code: Int?) -> Cause? {
        switch code {
        case 5: .leaseNotFound
        case 7: .permissionDenied
        case 9: .authenticationDisabled
        case 16: .invalidToken
        default: nil
        }
    }

    static let tooLarge = EtcdRefusal(message: "etcdserver: request is too large")

    private static let causes: [(text: String, cause: Cause)] = [
        ("invalid auth token", .invalidToken),
        ("revision of auth store is old", .invalidToken),
        ("invalid user ID or password", .wrongPassword),
        ("user name is empty", .missingUser),
        ("permission denied", .permissionDenied),
        ("CommonName of client", .commonName),
        ("authentication is not enabled", .authenticationDisabled),
        ("etcdserver: no leader", .noLeader),
        ("too many requests", .tooManyRequests),
        ("database space exceeded", .quotaExceeded),
        ("request is too large", .requestTooLarge),
        ("message larger than max", .requestTooLarge),
        ("too many operations", .tooManyOperations),
        ("has been compacted", .compacted),
        ("future revision", .futureRevision),
        ("lease not found", .leaseNotFound),
    ]

    /// Whether a new token may help.
    ///
    /// A request without one is refused for its missing user by some members. Those that accept client certificates
    /// take it for a request of the user that a certificate names, who has no permission.
    func asksForToken(insteadOf token: String?) -> Bool {
        cause == .invalidToken || cause == .missingUser || token == nil && cause == .permissionDenied
    }

    /// Whether nothing can have changed.
    var isDefinite: Bool { cause != .other }

    /// Whether another member, or the same one later, may accept the request.
    var isTemporary: Bool {
        switch cause {
        case .noLeader, .tooManyRequests, .other: true
        default: false
        }
    }
}

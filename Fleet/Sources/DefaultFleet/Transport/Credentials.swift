internal import Foundation
internal import Synchronization

/// The token that members know a user by.
///
/// A token is of the cluster, but a member that restarts forgets it, and each expires after some minutes without use.
final class Credentials: Sendable {
    private let user: EtcdCluster.User?
    private let current = Mutex<String?>(nil)

    init(user: EtcdCluster.User?) {
        self.user = user
    }

    /// The token; nil without a user.
    ///
    /// The body asks a member for one, if there is none, and gives nil where none is needed.
    func token<Failure: Error>(
        authenticate: (EtcdCluster.User) throws(Failure) -> String?
    ) throws(Failure) -> String? {
        guard let user else { return nil }
        if let token = current.withLock({ $0 }) {
            return token
        }
        let token = try authenticate(user)
        current.withLock { $0 = token }
        return token
    }

    /// Forgets a token that was refused, unless there is another one by now.
    func discard(_ token: String?) {
        current.withLock { current in
            if current == token {
                current = nil
            }
        }
    }

    func discardAny() {
        current.withLock { $0 = nil }
    }
}

internal import Foundation

/// The token that members know a user by.
///
/// A token is of the cluster, but a member that restarts forgets it, and each expires after some minutes without use.
///
/// A password costs a member 50 ms of a processor. When many hosts start together, each has to wait for the others, and
/// one that gave up and began again would double the work. So there is one attempt at a time, which goes on when its
/// caller can't wait any longer, and after a refusal the next one is made after seconds at first, and after half an
/// hour in the end.
///
/// A token may also be in a file; one that was refused is not sent again until the file has changed, or such a pause
/// has passed.
final class Credentials: @unchecked Sendable {
    typealias Answer = Result<String?, EtcdClient.Failure>
    typealias Authentication = @Sendable (_ name: String, _ password: String, _ limit: Duration) -> Answer

    private let user: EtcdCluster.User?
    private let queue = DispatchQueue(label: "DefaultFleet.authentication")
    private let condition = MonotonicCondition()

    // Used under the condition.
    private var state = State.unknown
    /// What the user's file was when it was read last.
    private var stamp: FileStamp?
    private var refusals = Backoff.afterRefusals
    private var losses = Backoff.afterLosses
    /// How long a member may take; longer after each answer that was late, since members do the work in any case.
    private var limit = Credentials.shortestLimit

    private enum State {
        case unknown
        case asking
        /// The token; nil where none is needed.
        case known(String?)
        case failed(EtcdClient.Failure, until: Deadline)
    }

    private static let shortestLimit = Duration.seconds(10)
    private static let longestLimit = Duration.seconds(80)

    init(user: EtcdCluster.User?) {
        self.user = user
    }

    /// Whether there is a user.
    var isNeeded: Bool { user != nil }

    /// The token; nil without a user, and where none is needed.
    ///
    /// The body asks a member for one, if there is none, on a thread of its own; this call waits for it until the
    /// deadline.
    func token(
        until deadline: Deadline,
        authenticate: @escaping Authentication
    ) throws(EtcdClient.Failure) -> String? {
        guard let user else { return nil }
        return try condition.withLock { () -> Answer in
            while true {
                switch state {
                case .known(let token): return .success(token)
                case .failed(let failure, let end) where !end.hasPassed && !isFileChanged: return .failure(failure)
                case .unknown, .failed:
                    state = .asking
                    stamp = FileStamp(of: [user.file])
                    queue.async { [self, limit] in end(with: ask(user, limit, authenticate)) }
                case .asking: break
                }
                guard !deadline.hasPassed else {
                    return .failure(.notSent("The cluster has not answered in time who the user is"))
                }
                condition.wait(until: deadline)
                if case .failed(let failure, _) = state {
                    return .failure(failure)
                }
            }
        }.get()
    }

    private var isFileChanged: Bool { FileStamp(of: [user?.file]) != stamp }

    private var hasTokenFile: Bool {
        if case .tokenFile? = user?.secret { true } else { false }
    }

    private func ask(_ user: EtcdCluster.User, _ limit: Duration, _ authenticate: Authentication) -> Answer {
        let secret: String
        do {
            secret = try user.readSecret()
        } catch {
            return .failure(.notSent("The file with the password or the token can't be read: \(error)"))
        }
        return hasTokenFile ? .success(secret) : authenticate(user.name, secret, limit)
    }

    private func end(with answer: Answer) {
        condition.withLock {
            switch answer {
            case .success(let token):
                state = .known(token)
                losses = .afterLosses
                limit = Self.shortestLimit
                // What is read from a file was not accepted yet.
                if !hasTokenFile {
                    refusals = .afterRefusals
                }
            // No member has worked for it, so another one may be asked at once.
            case .failure(.notSent(let reason)):
                state = .failed(.notSent(reason), until: Deadline(after: .zero))
            case .failure(let failure):
                let pause = failure.isTemporary ? losses.pause() : refusals.pause()
                if case .unanswered = failure {
                    limit = min(limit * 2, Self.longestLimit)
                }
                state = .failed(failure, until: Deadline(after: pause))
            }
            condition.broadcast()
        }
    }

    /// Forgets a token that was refused, unless there is another one by now.
    func discard(_ token: String?, after refusal: EtcdRefusal) {
        condition.withLock {
            if case .known(token) = state {
                forget(after: refusal)
            }
        }
    }

    /// Forgets the token, if another one may be accepted after a refusal.
    ///
    /// - Returns: Whether another one may be.
    func discardAny(after refusal: EtcdRefusal) -> Bool {
        condition.withLock {
            guard user != nil else { return false }
            guard case .known(let token) = state else { return refusal.asksForToken(insteadOf: nil) }
            guard refusal.asksForToken(insteadOf: token) else { return false }
            forget(after: refusal)
            return true
        }
    }

    /// The token, if there is one already.
    var knownToken: String? {
        condition.withLock {
            if case .known(let token) = state { token } else { nil }
        }
    }

    private func forget(after refusal: EtcdRefusal) {
        state = hasTokenFile ? .failed(.refused(refusal), until: Deadline(after: refusals.pause())) : .unknown
    }
}

extension Backoff {
    /// 500 hosts with an outdated password take less than a hundredth of a processor of each of three members in the
    /// end.
    fileprivate static var afterRefusals: Backoff { Backoff(from: .seconds(10), to: .seconds(1_800), factor: 6) }
    fileprivate static var afterLosses: Backoff { Backoff(from: .seconds(1), to: .seconds(30)) }
}

internal import Foundation
internal import Synchronization

/// Sends requests to the members of a cluster, one after the other until one answers.
///
/// All calls block.
final class EtcdClient: Sendable {
    /// Why a request has no answer that could be used.
    enum Failure: Error, Sendable {
        /// No member has seen the request.
        case notSent(String)
        /// A member may have seen the request.
        case unanswered(String)
        /// A member refused the request.
        case refused(EtcdRefusal)
        /// What answered is not an etcd member: a proxy, for example.
        case unintelligible(String)
        /// The store is another one than the replica's.
        case replaced
    }

    /// How long one member may take to answer before another one is asked.
    static let patience = Duration.milliseconds(1_000)

    private let endpoints: [URL]
    private let transport: any EtcdTransport
    private let credentials: Credentials
    private let preferred = Atomic(0)

    init(_ cluster: EtcdCluster, transport: any EtcdTransport) {
        endpoints = cluster.endpoints
        self.transport = transport
        credentials = Credentials(user: cluster.user)
        // Members should have about as many clients each.
        preferred.store(Int.random(in: 0..<endpoints.count), ordering: .relaxed)
    }

    /// The number of members; their names are the numbers below it.
    var memberCount: Int { endpoints.count }

    /// The member to ask first.
    var preferredMember: Int { preferred.load(ordering: .relaxed) }

    /// Asks another member first from now on, if it is this one that is asked.
    func avoid(_ member: Int) {
        let next = (member + 1) % endpoints.count
        _ = preferred.compareExchange(expected: member, desired: next, ordering: .relaxed)
    }

    /// Sends a request that may safely be sent again, until a member answers it.
    ///
    /// The given member is asked first, otherwise the preferred one.
    func call<Response: Decodable>(
        _ path: String,
        _ request: some Encodable,
        first member: Int? = nil,
        until deadline: Deadline
    ) throws(Failure) -> Response {
        let body = EtcdCoding.encode(request)
        var backoff = Backoff()
        var member = member ?? preferredMember
        var mayHaveBeenSeen = false
        while true {
            do {
                return try attempt(path, body, member: member, until: deadline)
            } catch {
                switch error {
                case .refused(let refusal) where !refusal.isTemporary: throw error
                case .unanswered: mayHaveBeenSeen = true
                default: break
                }
                avoid(member)
                member = (member + 1) % endpoints.count
                guard backoff.wait(until: deadline) else {
                    if mayHaveBeenSeen, case .notSent(let reason) = error {
                        throw .unanswered(reason)
                    }
                    throw error
                }
            }
        }
    }

    /// Sends a request to one member, once, but with a new token if the old one has expired.
    func attempt<Response: Decodable>(
        _ path: String,
        _ body: Data,
        member: Int,
        isLong: Bool = false,
        until deadline: Deadline
    ) throws(Failure) -> Response {
        func send(_ token: String?) throws(Failure) -> Response {
            let limit = isLong ? deadline : deadline.or(after: Self.patience)
            return try post(path, body, token: token, member: member, isLong: isLong, until: limit)
        }
        let token = try token(from: member, until: deadline)
        do {
            return try send(token)
        } catch .refused(let refusal) where credentials.isNeeded && refusal.asksForToken {
            credentials.discard(token, after: refusal)
            return try send(self.token(from: member, until: deadline))
        }
    }

    /// Reads what may be long, from one member after the other; the answer may take minutes as long as it goes on
    /// arriving.
    ///
    /// Values may be so large, or the network so slow, that none answers in time. Then fewer keys are asked for, down
    /// to one.
    func read(_ request: inout RangeRequest) throws(Failure) -> RangeResponse {
        var attempts = endpoints.count + 3
        var backoff = Backoff(from: .milliseconds(20))
        while true {
            let member = preferredMember
            do {
                let body = EtcdCoding.encode(request)
                return try attempt(
                    "v3/kv/range",
                    body,
                    member: member,
                    isLong: true,
                    until: Deadline(after: .seconds(600))
                )
            } catch {
                attempts -= 1
                guard error.isTemporary, attempts > 0 else { throw error }
                if case .unanswered = error {
                    request.limit = request.limit.map { max(1, $0 / 8) }
                }
                avoid(member)
                backoff.pause().sleep()
            }
        }
    }

    /// Starts to watch, on one member; nothing is tried again.
    func watch(
        _ request: WatchRequest,
        member: Int,
        until deadline: Deadline,
        receive: @escaping @Sendable (StreamPiece) -> Void
    ) throws(Failure) -> any EtcdStream {
        let token = try token(from: member, until: deadline)
        return transport.stream(
            self.request("v3/watch", EtcdCoding.encode(request), token: token, member: member),
            receive: receive
        )
    }

    /// Forgets the token, after a stream was refused because of it.
    func discardToken(after refusal: EtcdRefusal) {
        credentials.discardAny(after: refusal)
    }

    /// Whether requests need a token.
    var hasUser: Bool { credentials.isNeeded }

    private func token(from member: Int, until deadline: Deadline) throws(Failure) -> String? {
        try credentials.token(until: deadline) { [self] name, password, limit in
            let body = EtcdCoding.encode(AuthenticateRequest(name: name, password: password))
            do throws(Failure) {
                let answer: AuthenticateResponse =
                    try post("v3/auth/authenticate", body, token: nil, member: member, until: Deadline(after: limit))
                return .success(answer.token)
            } catch {
                return error.refusal?.cause == .authenticationDisabled ? .success(nil) : .failure(error)
            }
        }
    }

    private func post<Response: Decodable>(
        _ path: String,
        _ body: Data,
        token: String?,
        member: Int,
        isLong: Bool = false,
        until deadline: Deadline
    ) throws(Failure) -> Response {
        var request = request(path, body, token: token, member: member)
        request.isLong = isLong
        let answer = try transport.send(request, until: deadline)
        do {
            if answer.status == 200 {
                return try EtcdCoding.decode(Response.self, from: answer.body)
            }
            let error = try EtcdCoding.decode(ErrorResponse.self, from: answer.body)
            guard let message = error.message ?? error.error else {
                throw Failure.unintelligible("HTTP status \(answer.status)")
            }
            throw Failure.refused(EtcdRefusal(code: error.code, message: message))
        } catch let failure as Failure {
            throw failure
        } catch {
            // Some refusals are plain text.
            let refusal = EtcdRefusal(message: String(decoding: answer.body.prefix(200), as: UTF8.self))
            guard refusal.cause == .other else {
                throw .refused(refusal)
            }
            throw .unintelligible("HTTP status \(answer.status), and no message of etcd's")
        }
    }

    private func request(_ path: String, _ body: Data, token: String?, member: Int) -> EtcdRequest {
        // A member without a leader refuses then, instead of keeping the request until there is one.
        var headers = [(name: "Grpc-Metadata-hasleader", value: "true")]
        if let token {
            headers.append((name: "Authorization", value: token))
        }
        return EtcdRequest(endpoint: endpoints[member], path: path, headers: headers, body: body)
    }
}

extension EtcdClient.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .notSent(let reason), .unanswered(let reason): reason
        case .refused(let refusal): refusal.message
        case .unintelligible(let reason): reason
        case .replaced: "the store is another one"
        }
    }

    /// Whether the request can't have had an effect.
    var isDefinite: Bool {
        switch self {
        case .notSent, .replaced: true
        case .unanswered, .unintelligible: false
        case .refused(let refusal): refusal.isDefinite
        }
    }

    /// Whether another attempt may succeed.
    var isTemporary: Bool {
        switch self {
        case .notSent, .unanswered, .unintelligible: true
        case .replaced: false
        case .refused(let refusal): refusal.isTemporary
        }
    }

    var refusal: EtcdRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

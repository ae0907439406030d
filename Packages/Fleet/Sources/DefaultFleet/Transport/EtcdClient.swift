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
        /// What has answered is a member of another cluster. The reason is a sentence without its period.
        case stray(String)
    }

    /// How long one member may take to answer before another one is asked; longer over a link on which answers take
    /// long.
    static let patience = Duration.milliseconds(1_000)
    private static let longestPatience = Duration.seconds(4)
    /// How long a request without a limit of its own waits for a token.
    private static let longestAuthentication = Duration.seconds(5)

    let roster: Mutex<Roster>
    let credentials: Credentials
    let preferred = Atomic(0)
    /// What the host remembers of the cluster, in whichever process it was learned.
    let remembered: @Sendable () -> Memory?
    /// Until when the last survey of the members counts.
    let surveys = Mutex<Deadline?>(nil)
    private let transport: any EtcdTransport
    /// In nanoseconds: the average of the last answers.
    private let latency = Atomic<Int64>(0)

    init(
        _ cluster: EtcdCluster,
        transport: any EtcdTransport,
        remembering remembered: @escaping @Sendable () -> Memory? = { nil }
    ) {
        roster = Mutex(Roster(endpoints: cluster.endpoints))
        self.transport = transport
        self.remembered = remembered
        credentials = Credentials(user: cluster.user)
        // Members should have about as many clients each.
        preferred.store(Int.random(in: 0..<cluster.endpoints.count), ordering: .relaxed)
        recall()
    }

    /// The number of members that are asked one after the other.
    var memberCount: Int { addresses.count }

    /// The member to ask first.
    var preferredMember: Int { preferred.load(ordering: .relaxed) }

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
        var telling: Failure?
        while true {
            do {
                return try attempt(path, body, member: member, until: deadline)
            } catch {
                telling = error.orEarlier(telling)
                switch error {
                case .refused(let refusal) where !refusal.isTemporary: throw error
                case .unanswered: mayHaveBeenSeen = true
                default: break
                }
                avoid(member)
                member = self.member(after: member)
                guard backoff.wait(until: deadline) else {
                    let failure = telling ?? error
                    if mayHaveBeenSeen, case .notSent(let reason) = failure {
                        throw .unanswered(reason)
                    }
                    throw failure
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
            let limit = isLong ? deadline : deadline.or(after: patience)
            return try post(path, body, token: token, member: member, isLong: isLong, until: limit)
        }
        // A long answer may take its time, but not the token for it.
        let limit = isLong ? deadline.or(after: Self.longestAuthentication) : deadline
        let token = try token(from: member, until: limit)
        do {
            return try send(token)
        } catch .refused(let refusal) where credentials.isNeeded && refusal.asksForToken(insteadOf: token) {
            credentials.discard(token, after: refusal)
            return try send(self.token(from: member, until: limit))
        }
    }

    /// Reads what may be long, from one member after the other; the answer may take minutes as long as it goes on
    /// arriving.
    ///
    /// Values may be so large, or the network so slow, that none answers in time. Then fewer keys are asked for, down
    /// to one.
    func read(_ request: inout RangeRequest) throws(Failure) -> RangeResponse {
        var attempts = memberCount + 3
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

    /// Forgets the token, after a stream was refused because of it, or because there was none.
    ///
    /// - Returns: False if another token would not help.
    func discardToken(after refusal: EtcdRefusal) -> Bool {
        credentials.discardAny(after: refusal)
    }

    /// Whether requests need a token.
    var hasUser: Bool { credentials.isNeeded }

    func post<Response: Decodable>(
        _ path: String,
        _ body: Data,
        token: String?,
        member: Int,
        isLong: Bool = false,
        until deadline: Deadline
    ) throws(Failure) -> Response {
        var request = request(path, body, token: token, member: member)
        request.isLong = isLong
        let start = ContinuousClock.now
        let answer = try transport.send(request, until: deadline)
        if !isLong {
            noteLatency(.now - start)
        }
        do {
            if answer.status == 200 {
                let response = try EtcdCoding.decode(Response.self, from: answer.body)
                if let response = response as? any ClusterResponse {
                    try verifyCluster(of: response.header, from: member)
                }
                return response
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

    /// How long a member may take, by how long answers have taken of late.
    private var patience: Duration {
        let latency = Duration.nanoseconds(latency.load(ordering: .relaxed))
        return min(max(Self.patience, latency * 4), Self.longestPatience)
    }

    private func noteLatency(_ latest: Duration) {
        let before = latency.load(ordering: .relaxed)
        // Threads may overwrite each other's: each is as good.
        latency.store((before * 3 + Int64(latest.seconds * 1e9)) / 4, ordering: .relaxed)
    }

    private func request(_ path: String, _ body: Data, token: String?, member: Int) -> EtcdRequest {
        // A member without a leader refuses then, instead of keeping the request until there is one.
        var headers = [(name: "Grpc-Metadata-hasleader", value: "true")]
        if let token {
            headers.append((name: "Authorization", value: token))
        }
        let endpoint = roster.withLock { $0.entries[member].url }
        return EtcdRequest(endpoint: endpoint, path: path, headers: headers, body: body)
    }
}

extension EtcdClient.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .notSent(let reason), .unanswered(let reason): reason
        case .refused(let refusal): refusal.message
        case .unintelligible(let reason), .stray(let reason): reason
        case .replaced: "the store is another one"
        }
    }

    /// Whether the request can't have had an effect.
    var isDefinite: Bool {
        switch self {
        case .notSent, .replaced, .stray: true
        case .unanswered, .unintelligible: false
        case .refused(let refusal): refusal.isDefinite
        }
    }

    /// Whether another attempt may succeed.
    var isTemporary: Bool {
        switch self {
        case .notSent, .unanswered, .unintelligible, .stray: true
        case .replaced: false
        case .refused(let refusal): refusal.isTemporary
        }
    }

    /// The failure to report after several attempts: that a member has refused says more than that another one can't be
    /// reached.
    func orEarlier(_ earlier: Self?) -> Self {
        if case .notSent = self, let earlier, earlier.refusal != nil { earlier } else { self }
    }

    var refusal: EtcdRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

internal import Foundation
internal import Synchronization

extension EtcdClient {
    /// The token for a request to a member.
    func token(from member: Int, until deadline: Deadline) throws(Failure) -> String? {
        try credentials.token(until: deadline) { [self] name, password, limit in
            authenticate(AuthenticateRequest(name: name, password: password), first: member, limit: limit)
        }
    }

    /// Asks members for a token, the given one first.
    ///
    /// A member that has much to do gets to a password late, and works on it in any case; so all that were asked may
    /// still answer until the limit. But a member that answers nothing else either within a second is not waited for:
    /// the next one is asked too.
    private func authenticate(
        _ request: AuthenticateRequest,
        first: Int,
        limit: Duration
    ) -> Credentials.Answer {
        enum News: Sendable {
            case answer(Credentials.Answer, from: Int)
            case sign(of: Int)
        }
        let news = Mailbox<News>()
        let body = EtcdCoding.encode(request)
        let end = Deadline(after: limit)
        let others = roster.withLock { $0.hasChoice }
        func ask(_ member: Int) {
            Thread { [self] in
                news.post(.answer(authenticate(body, at: member, until: end), from: member))
            }
            .start()
            if others {
                lookForSign(of: member)
            }
        }
        func lookForSign(of member: Int) {
            Thread { [self] in
                if isAnswering(member, until: Deadline(after: Self.patience)) {
                    news.post(.sign(of: member))
                }
            }
            .start()
        }
        var latest = first
        var asked: Set<Int> = [first]
        var waiting = 1
        var isAlive = false
        var pause = Deadline(after: Self.patience)
        ask(first)
        while true {
            switch news.next(until: others ? pause.or(end) : end) {
            case .sign(of: latest)?: isAlive = true
            case .sign?: continue
            case .answer(let answer, from: _)?:
                waiting -= 1
                if case .failure(let failure) = answer, failure.isTemporary {
                    let next = roster.withLock { $0.member(after: latest) }
                    guard !asked.contains(next) else {
                        if waiting > 0 {
                            continue
                        }
                        return answer
                    }
                } else {
                    return answer
                }
                isAlive = false
                pause = Deadline(after: .zero)
            case nil: break
            }
            guard !end.hasPassed else { return .failure(.unanswered("no member has answered in time who the user is")) }
            guard pause.hasPassed else { continue }
            pause = Deadline(after: Self.patience)
            let next = roster.withLock { $0.member(after: latest) }
            if !isAlive, !asked.contains(next) {
                latest = next
                asked.insert(next)
                waiting += 1
                ask(next)
            } else {
                isAlive = false
                lookForSign(of: latest)
            }
        }
    }

    private func authenticate(_ body: Data, at member: Int, until deadline: Deadline) -> Credentials.Answer {
        do throws(Failure) {
            let answer: AuthenticateResponse =
                try post("v3/auth/authenticate", body, token: nil, member: member, until: deadline)
            return .success(answer.token)
        } catch {
            return error.refusal?.cause == .authenticationDisabled ? .success(nil) : .failure(error)
        }
    }
}

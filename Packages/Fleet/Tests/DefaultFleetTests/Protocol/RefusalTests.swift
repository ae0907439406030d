import Testing

@testable import DefaultFleet

@Suite("A member's refusal")
struct RefusalTests {
    @Test("is understood by its code, whatever its message, and by its message where the code has several causes")
    func causes() {
        let cases: [(code: Int?, message: String, cause: EtcdRefusal.Cause)] = [
            (16, "worded otherwise", .invalidToken), (7, "worded otherwise", .permissionDenied),
            (9, "worded otherwise", .authenticationDisabled), (5, "worded otherwise", .leaseNotFound),
            (8, "etcdserver: mvcc: database space exceeded", .quotaExceeded),
            (8, "etcdserver: too many requests", .tooManyRequests), (14, "etcdserver: no leader", .noLeader),
            (14, "etcdserver: request timed out", .other),
            (11, "etcdserver: mvcc: required revision has been compacted", .compacted),
            (11, "etcdserver: mvcc: required revision is a future revision", .futureRevision),
            (nil, "rpc error: code = PermissionDenied desc = etcdserver: permission denied", .permissionDenied),
            (3, "etcdserver: revision of auth store is old", .invalidToken), (nil, "something new", .other),
        ]
        for (code, message, cause) in cases {
            #expect(EtcdRefusal(code: code, message: message).cause == cause, "\(message)")
        }
    }
}

import Testing

@testable import DefaultFleet

@Suite("Of several failed attempts")
struct FailureTests {
    @Test("a member's refusal is reported, whatever comes after it from members that can't be reached")
    func refusal() throws {
        let refused = EtcdClient.Failure.refused(EtcdRefusal(message: "etcdserver: no leader"))
        let unreachable = EtcdClient.Failure.notSent("connection refused")
        #expect(unreachable.orEarlier(refused).refusal?.cause == .noLeader)
        #expect(unreachable.orEarlier(nil).refusal == nil)
        // A lost answer is worse than both.
        guard case .unanswered = EtcdClient.Failure.unanswered("no answer").orEarlier(refused) else {
            Issue.record("The lost answer is not reported.")
            return
        }
    }
}

import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

@Suite("Members that say to users only which cluster they belong to")
struct SecretiveMemberTests {
    /// Three members of one cluster, as of etcd 3.5.30 with authentication enabled; the second one is stopped.
    private struct Members: EtcdTransport {
        func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer {
            guard request.endpoint.path != "/2" else { throw .unanswered("stopped by the test") }
            let header = #""header": {"cluster_id": "7", "member_id": "\#(request.endpoint.lastPathComponent)"}"#
            if request.path == "v3/auth/authenticate" {
                return EtcdAnswer(status: 200, body: Data("{\(header), \"token\": \"t\"}".utf8))
            }
            guard request.headers.contains(where: { $0.name == "Authorization" && $0.value == "t" }) else {
                let refusal = #"{"code": 3, "message": "etcdserver: user name is empty"}"#
                return EtcdAnswer(status: 400, body: Data(refusal.utf8))
            }
            return EtcdAnswer(status: 200, body: Data("{\(header), \"members\": []}".utf8))
        }

        func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
            fatalError("The test watches nothing.")
        }
    }

    /// A client of these members, and what it reads of a copy.
    private func client(remembering remembered: @escaping @Sendable () -> EtcdClient.Memory? = { nil }) throws
        -> EtcdClient
    {
        let endpoints = try (1...3).map { try #require(URL(string: "http://members/\($0)")) }
        var cluster = EtcdCluster(endpoints: endpoints)
        cluster.user = EtcdCluster.User(name: "shop", password: "open")
        return EtcdClient(cluster, transport: Members(), remembering: remembered)
    }

    private static func ask(_ client: EtcdClient) throws(EtcdClient.Failure) {
        let request = RangeRequest(key: Data("x".utf8))
        let _: RangeResponse = try client.call("v3/kv/range", request, until: Deadline(after: .seconds(20)))
    }

    @Test("answer a user, also while one of them is stopped")
    func password() async throws {
        let client = try client()
        try await onThread { () throws(EtcdClient.Failure) in try Self.ask(client) }
        #expect(client.roster.withLock { $0.clusterID } == "7")
    }

    @Test("answer a handler of events too that a read of the copy calls, while it is decided which cluster is meant")
    func handler() async throws {
        let asking = Mutex<EtcdClient?>(nil)
        let client = try client {
            if let client = asking.withLock({ $0.take() }) {
                #expect(throws: Never.self) { try Self.ask(client) }
            }
            return nil
        }
        asking.withLock { $0 = client }
        try await onThread { () throws(EtcdClient.Failure) in try Self.ask(client) }
        #expect(asking.withLock { $0 == nil })
    }
}

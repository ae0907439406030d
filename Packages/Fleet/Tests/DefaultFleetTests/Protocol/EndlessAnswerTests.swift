import Default
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

@Suite("An answer without an end", .timeLimit(.minutes(2)))
struct EndlessAnswerTests {
    @Test("is given up when it is longer than any that a member gives")
    func answer() async throws {
        let endpoint = try EndlessEndpoint()
        defer { endpoint.close() }
        let transport = try HTTPTransport(EtcdCluster(endpoints: [endpoint.url]))
        let request = EtcdRequest(endpoint: endpoint.url, path: "v3/kv/range", headers: [], body: Data())
        await #expect {
            try await onThread { () throws(EtcdClient.Failure) in
                _ = try transport.send(request, until: Deadline(after: .seconds(20)))
            }
        } throws: { error in
            guard case .unanswered(let reason)? = error as? EtcdClient.Failure else { return false }
            return reason.contains("longer than")
        }
    }

    @Test("of a watch is no watch")
    func frame() throws {
        var parser = WatchFrameParser(longestFrame: 1_000)
        let frame = #"{"result":{"created":true}}"#
        // Any number of frames that end.
        for _ in 0..<100 {
            #expect(try parser.parse(Array(frame.utf8)).count == 1)
        }
        #expect(try parser.parse(Array(#"{"result":""#.utf8)).isEmpty)
        #expect(throws: WatchFrameParser.Malformed()) {
            for _ in 0..<1_000 {
                _ = try parser.parse([UInt8(ascii: "x")])
            }
        }
    }
}

extension ClusterTests {
    @Suite("With a watch that never ends a frame")
    struct EndlessWatch {
        @Test("a host has no more of it in memory than a frame may have, and goes on with the next watch")
        func endlessFrame() async throws {
            let endless = try EndlessEndpoint()
            defer { endless.close() }
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = FirstWatch(at: endless.url, transport: try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    defer { host.stopSoon() }
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await eventually("the watch is given up") { transport.watchCount > 1 }
                    // Those of one frame, and those that are on their way.
                    #expect(endless.sentCount < 48 << 20)
                    try cluster.control("put", "defaults/suite/k/n", "7")
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(7)
                    }
                    try await host.stopFollowing()
                }
            }
        }
    }

    /// A transport whose first watch gets to another endpoint.
    private final class FirstWatch: EtcdTransport {
        private let endpoint: URL
        private let transport: HTTPTransport
        private let watches = Mutex(0)

        init(at endpoint: URL, transport: HTTPTransport) {
            self.endpoint = endpoint
            self.transport = transport
        }

        /// The number of watches so far.
        var watchCount: Int { watches.withLock { $0 } }

        func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer {
            try transport.send(request, until: deadline)
        }

        func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
            let number = watches.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else { return transport.stream(request, receive: receive) }
            let endless = EtcdRequest(endpoint: endpoint, path: request.path, headers: [], body: request.body)
            return transport.stream(endless, receive: receive)
        }
    }
}

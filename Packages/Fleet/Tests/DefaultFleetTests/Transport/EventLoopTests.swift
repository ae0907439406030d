import Default
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import DefaultFleet

@Suite("On a thread of NIO's event loops")
struct EventLoopTests {
    @Test("a call that waits for the network is refused, instead of waiting for itself")
    func refused() async throws {
        let endpoint = try SilentEndpoint()
        try await withTemporaryDirectory { directory in
            var cluster = EtcdCluster(endpoints: [endpoint.url])
            for user in [nil, EtcdCluster.User(name: "shop", password: "open")] {
                cluster.user = user
                let store = try TestHost(cluster, directory: directory).store
                for call in [{ try store.flush() }, { _ = try store.initialize() }] as [@Sendable () throws -> Void] {
                    let error = await #expect(throws: DefaultsError.self) {
                        try await MultiThreadedEventLoopGroup.singleton.next().submit(call).get()
                    }
                    #expect(error?.code == .blockingCall)
                    #expect("\(error as Any)".contains("perform"))
                }
            }
        }
    }
}

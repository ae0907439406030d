import Default
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("With a large suite")
    struct LargeSuite {
        /// Runs a body with a store that writes, 200 values of 20,000 bytes, and another host, which has no copy yet.
        private func run(
            _ body: (TestCluster, _ writer: EtcdDefaults, TestHost, RecordingTransport) async throws -> Void
        ) async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let writer = hosts[0].store
                    try await writer.perform {
                        for number in 0..<200 {
                            let value = PropertyListValue.string(String(repeating: "x", count: 20_000))
                            try writer.setStoredValue(value, forKey: "key \(number)")
                        }
                    }
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                    let place = hosts[0].directory.appendingPathComponent("new")
                    let host = try TestHost(cluster.cluster, directory: place, transport: transport)
                    try await body(cluster, writer, host, transport)
                }
            }
        }

        @Test("a first copy goes on where a connection was lost")
        func firstCopy() async throws {
            try await run { cluster, writer, host, transport in
                let reader = host.store.reader
                var partial: StoreReader.Listing?
                // Some pages come, and all others are lost.
                #expect(throws: EtcdClient.Failure.self) {
                    transport.lose("v3/kv/range", after: 3)
                    _ = try reader.list(continuing: &partial)
                }
                let count = try #require(partial).values.count
                #expect((1..<200).contains(count))
                transport.lose(nil)
                try await writer.perform { try writer.setStoredValue(.integer(1), forKey: "later") }
                let before = transport.firstPages
                let listing = try reader.list(continuing: &partial)
                #expect(transport.firstPages == before)
                // As of the revision of its first page.
                #expect(listing.values.count == 200)
                #expect(partial == nil)
                // Where the history was compacted meanwhile, it begins again.
                partial = listing
                partial?.next = Data("defaults/suite/k/key 2".utf8)
                let present = try await onThread {
                    try reader.status(until: Deadline(after: .seconds(20))).revision
                }
                try cluster.control("compact", "\(present)")
                #expect(try reader.list(continuing: &partial).values.count == 201)
            }
        }

        @Test("a listing ends when the follower is stopped, after the page that is on its way")
        func stoppedListing() async throws {
            try await run { _, _, host, transport in
                let follower = host.store.makeFollower()
                let hasEnded = Flag()
                transport.beforeLongAnswers { follower.stop() }
                follower.start { hasEnded.set() }
                try await eventually("the follower ends") { hasEnded.isSet }
                #expect(transport.listings == 1)
            }
        }

        @Test("a listing is given up when the history is compacted during each attempt")
        func compactedListing() async throws {
            try await run { cluster, writer, host, transport in
                transport.beforeLongAnswers {
                    #expect(throws: Never.self) {
                        try cluster.control("put", "elsewhere", "1")
                        let revision = try writer.reader.status(until: Deadline(after: patience)).revision
                        try cluster.control("compact", "\(revision)")
                    }
                }
                let error = await #expect(throws: EtcdClient.Failure.self) {
                    try await inTime("the listing") { _ = try await onThread { try host.store.reader.list() } }
                }
                #expect(error?.refusal?.cause == .compacted)
            }
        }

        @Test("an import of more than it may have is refused as a whole, though each part of it would be accepted")
        func largeImport() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let agent = OperatorCalls(cluster)
                    try await agent("follow", "--initialize")
                    let text = String(repeating: "x", count: 1 << 20)
                    let file = directory.appendingPathComponent("values.json")
                    let lines = (0..<33).map { "\"key \($0)\": \"\(text)\"" }
                    try Data("{\(lines.joined(separator: ","))}".utf8).write(to: file)
                    let ending = try await agent.ending(of: "import", [file.path, "--apply"], code: 1)
                    #expect(ending.log.contains("quotaExceeded"))
                    #expect(try cluster.control("get", "--prefix", "--keys-only", "defaults/suite/k/") == "")
                }
            }
        }

        @Test("what would make it larger than it may be is refused, for programs and for operators")
        func limit() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try await store.perform { try store.setStoredValue(.string("äöü"), forKey: "key") }
                    try await store.perform { try store.setStoredValue(.string("other"), forKey: "other key") }
                    try await store.perform { try store.setStoredValue(nil, forKey: "other key") }
                    #expect(store.replica.state?.byteCount == 11)
                    // As if the suite had so much already.
                    try await hosts[0].stopFollowing()
                    let state = try #require(store.replica.state)
                    var full = state
                    full.contents.byteCount = SuiteLimits.bytes - 10
                    full = try store.replica.apply([:], from: state, to: full)
                    await #expect {
                        try await store.perform { try store.setStoredValue(.string("12345678"), forKey: "more") }
                    } throws: { error in
                        DefaultsError.Code.quotaExceeded ~= error && "\(error)".contains("\(SuiteLimits.bytes)")
                    }
                    #expect(try cluster.control("get", "defaults/suite/k/more") == "")
                    // What makes it smaller is always possible.
                    #expect(store.replica.excessiveSize(after: [try StoreKey("key"): .integer(1)], of: full) == nil)
                    full.contents.byteCount = SuiteLimits.bytes + 100
                    #expect(store.replica.excessiveSize(after: [try StoreKey("key"): nil], of: full) == nil)

                    // Operators have no copy; a host's heartbeat states the size.
                    try cluster.control("put", "defaults/suite/pulse", "\(SuiteLimits.bytes - 10)")
                    let operations = try SuiteOperator(cluster.cluster, suiteName: "suite", deadline: .seconds(10))
                    await #expect {
                        try await onThread {
                            try operations.store([.init(StoreKey("more"), to: .string("12345678"))])
                        }
                    } throws: { DefaultsError.Code.quotaExceeded ~= $0 }
                    try await onThread {
                        let present = try operations.value(of: "key")
                        try operations.store([.init(StoreKey("key"), to: nil, from: present)])
                    }
                    // Nor does a value grow the suite that takes the place of one as large.
                    let agent = OperatorCalls(cluster)
                    try cluster.control("put", "defaults/suite/k/key", "\"12345678\"")
                    try await agent("set", "key", "87654321", "--type", "string")
                    #expect(try await agent("set", "key", "1234567890123456789", code: 1).contains("quotaExceeded"))
                    // What another program has put there is not taken for a size.
                    for size in ["\(Int.max)", "\(Int.min)"] {
                        try cluster.control("put", "--", "defaults/suite/pulse", size)
                        try await agent("set", "key", "longer than before", "--type", "string")
                        try await agent("set", "key", "short", "--type", "string")
                    }
                    // Of a host that follows again, and has something to confirm.
                    hosts[0].follow()
                    try cluster.control("put", "defaults/other/k/n", "1")
                    try await eventually("a heartbeat states the size") {
                        try await onThread { try operations.status().byteCount } == store.replica.state?.byteCount
                    }
                }
            }
        }
    }
}

import Foundation
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
            try await onThread { () throws(TransportError) in
                _ = try transport.send(request, until: Deadline(after: .seconds(20)))
            }
        } throws: { error in
            guard case .unanswered(let reason)? = error as? TransportError else { return false }
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

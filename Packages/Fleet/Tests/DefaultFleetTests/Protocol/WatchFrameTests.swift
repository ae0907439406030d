import Foundation
import Testing

@testable import DefaultFleet

@Suite("The frames of a watch")
struct WatchFrameTests {
    /// What a cluster of three members sent: see the comments at the frames.
    private static let stream: [(text: String, frame: WatchFrame)] = [
        // The watch begins.
        (
            #"{"result":{"header":{"cluster_id":"7","member_id":"1","revision":"2507","raft_term":"2"},"created":true}}"#
                + "\n",
            WatchFrame(isCreated: true)
        ),
        // A backlog: the header has the newest revision, the last event an older one.
        (
            #"{"result":{"header":{"cluster_id":"7","revision":"2507"},"events":[{"kv":{"key":"YQ==","create_revision":"2","#
                + #""mod_revision":"1001","version":"1","value":"MQ=="}},{"type":"DELETE","kv":{"key":"Yg==","mod_revision":"1001"}}]}}"#
                + "\n",
            WatchFrame(
                events: [
                    WatchEvent(key: Data("a".utf8), text: Data("1".utf8), revision: 1001),
                    WatchEvent(key: Data("b".utf8), text: nil, revision: 1001),
                ]
            )
        ),
        // An empty value is left out.
        (
            #"{"result":{"header":{"revision":"9"},"events":[{"kv":{"key":"YQ==","mod_revision":"9","version":"2"}}]}}"#,
            WatchFrame(events: [WatchEvent(key: Data("a".utf8), text: Data(), revision: 9)])
        ),
        // Braces and quotes in strings don't end anything. They are not in Base64, but in messages.
        (
            #"{"result":{"header":{"revision":"9"},"canceled":true,"cancel_reason":"a \"} ]\\"}}"#,
            WatchFrame(isCanceled: true, reason: #"a "} ]\"#)
        ),
        // Compacted: no reason, and the stream stays open.
        (
            #"{"result":{"header":{"revision":"12"},"canceled":true,"compact_revision":"11"}}"# + "\n",
            WatchFrame(isCanceled: true, compactRevision: 11)
        ),
        // An error has no new line.
        (
            #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"Service Unavailable"}}"#,
            WatchFrame(isCanceled: true, reason: "etcdserver: no leader")
        ),
        // A refusal that begins no stream.
        (
            #"{"error":"etcdserver: invalid auth token","message":"etcdserver: invalid auth token","code":16}"#,
            WatchFrame(isCanceled: true, reason: "etcdserver: invalid auth token")
        ),
    ]

    private static var bytes: [UInt8] { Self.stream.flatMap { $0.text.utf8 } }
    private static var frames: [WatchFrame] { Self.stream.map(\.frame) }

    @Test("are read from a stream in one piece")
    func onePiece() throws {
        var parser = WatchFrameParser()
        #expect(try parser.parse(Self.bytes) == Self.frames)
    }

    @Test("are read from a stream that is split at any byte")
    func split() throws {
        for position in 0...Self.bytes.count {
            var parser = WatchFrameParser()
            let first = try parser.parse(Self.bytes[..<position])
            let second = try parser.parse(Self.bytes[position...])
            #expect(first + second == Self.frames, "split at \(position)")
        }
    }

    @Test("are read from a stream of single bytes, each when it is complete")
    func singleBytes() throws {
        var parser = WatchFrameParser()
        var frames: [WatchFrame] = []
        for (text, frame) in Self.stream {
            for byte in text.utf8 {
                frames += try parser.parse([byte])
            }
            #expect(frames.last == frame)
        }
        #expect(frames == Self.frames)
    }

    @Test(
        "are not made of what is none",
        arguments: ["<html>", "x{}", "{}", #"{"result":1}"#, #"{"result":{"events":[{}]}}"#]
    )
    func malformed(text: String) {
        var parser = WatchFrameParser()
        #expect(throws: WatchFrameParser.Malformed.self) { try parser.parse(text.utf8) }
    }

    @Test("may have as many events as a backlog has")
    func large() throws {
        let event = #"{"kv":{"key":"YQ==","mod_revision":"7","value":"MQ=="}}"#
        let text = #"{"result":{"events":["# + Array(repeating: event, count: 1_000).joined(separator: ",") + "]}}"
        var parser = WatchFrameParser()
        #expect(try parser.parse(text.utf8).first?.events.count == 1_000)
    }
}

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The changes of a suite as server-sent events, beginning with those that a page has missed.
struct EventStream: AsyncSequence, Sendable {
    let suite: LiveSuite
    /// The position of the last event that the page knows.
    let after: String
    /// Counts as a stream for as long as this lasts.
    let ticket: Gauge.Ticket

    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream"],
            body: ResponseBody(asyncSequence: self)
        )
    }

    func makeAsyncIterator() -> Iterator {
        // The signals begin before the first look at the events, so that none is missed in between.
        let signals = suite.signals().makeAsyncIterator()
        return Iterator(stream: self, signals: signals, position: after)
    }

    struct Iterator: AsyncIteratorProtocol {
        let stream: EventStream
        var signals: AsyncStream<Void>.Iterator
        var position: String
        var hasBegun = false

        mutating func next() async throws -> ByteBuffer? {
            if hasBegun, await signals.next(isolation: #isolation) == nil { return nil }
            hasBegun = true
            switch stream.suite.events(after: position) {
            case .tooMuch:
                // The page asks for everything again, and begins another stream.
                return ByteBuffer(string: "event: reload\ndata: {}\n\n")
            case .events(let missed):
                // Without events, a comment: when it can't be sent, the page has gone away.
                var text = ":\n\n"
                for (number, event) in missed {
                    let data = String(decoding: try JSONEncoder.page.encode(event), as: UTF8.self)
                    text += "id: \(number)\ndata: \(data)\n\n"
                    position = number
                }
                return ByteBuffer(string: text)
            }
        }
    }
}

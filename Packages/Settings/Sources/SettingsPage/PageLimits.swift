import HummingbirdCore
import NIOCore
import Synchronization

/// What the server bears: the requests of some pages of one person.
enum PageLimits {
    static let connections = 64
    /// How many connections there are on which nobody has shown the secret yet, and how long they last.
    static let strangers = 32
    static let strangerTime = TimeAmount.seconds(10)
    /// How many requests are answered at once, and how many streams of events there are.
    static let requests = 32
    static let streams = 24
    /// How many bytes a request's body may have, and how long they may take to arrive.
    static let bodySize = 8 << 20
    static let bodyTime = Duration.seconds(10)
    /// How many edits a request may have.
    static let edits = 1_000

    static func connection(_ gate: ConnectionGate) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: [gate.handler],
            idleTimeout: .seconds(20),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 8 << 10,
                maxHeaderListSize: 16 << 10,
                maxHeaderFieldCount: 64
            )
        )
    }
}

/// The server's port, which is known as soon as it listens.
final class BoundPort: Sendable {
    private let port = Atomic(0)

    var value: Int { port.load(ordering: .acquiring) }

    func set(_ value: Int) { port.store(value, ordering: .releasing) }
}

/// How many of something there are at once.
final class Gauge: Sendable {
    /// Counts as one for as long as it lasts.
    final class Ticket: Sendable {
        private let gauge: Gauge

        fileprivate init(_ gauge: Gauge) {
            self.gauge = gauge
        }

        deinit {
            gauge.count.subtract(1, ordering: .relaxed)
        }
    }

    private let count = Atomic(0)
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Counts one more; nil if there are too many.
    func enter() -> Ticket? {
        let ticket = Ticket(self)
        return count.add(1, ordering: .relaxed).newValue <= limit ? ticket : nil
    }
}

import Foundation
import Synchronization

@testable import DefaultFleet

/// A transport that records what it sends and what its streams deliver, and that can lose requests.
final class RecordingTransport: EtcdTransport {
    private let transport: HTTPTransport
    private let paths = Mutex<[String]>([])
    private let longAnswers = Atomic(0)
    private let pieces = Mutex("")
    private let lostPath = Mutex<String?>(nil)
    private let longestAnswer: Int

    /// Records what goes over another transport; an answer of more bytes than the longest one doesn't come in time.
    init(_ transport: HTTPTransport, longestAnswer: Int = .max) {
        self.transport = transport
        self.longestAnswer = longestAnswer
    }

    /// The paths of the requests that were sent, except for streams.
    var sent: [String] { paths.withLock { $0 } }

    /// How many requests may have had long answers.
    var listings: Int { longAnswers.load(ordering: .relaxed) }

    /// All that streams have delivered.
    var streamed: String { pieces.withLock { $0 } }

    /// Loses requests with a path from now on, or none.
    func lose(_ path: String?) {
        lostPath.withLock { $0 = path }
    }

    func send(_ request: EtcdRequest, until deadline: Deadline) throws(TransportError) -> EtcdAnswer {
        paths.withLock { $0.append(request.path) }
        if request.isLong {
            longAnswers.add(1, ordering: .relaxed)
        }
        if lostPath.withLock({ $0 }) == request.path {
            throw .unanswered("lost by the test")
        }
        let answer = try transport.send(request, until: deadline)
        guard answer.body.count <= longestAnswer else { throw .unanswered("too slow for the test") }
        return answer
    }

    func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
        transport.stream(request) { [self] piece in
            if case .bytes(let bytes) = piece {
                pieces.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            }
            receive(piece)
        }
    }
}

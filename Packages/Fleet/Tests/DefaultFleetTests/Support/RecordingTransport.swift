import Foundation
import Synchronization

@testable import DefaultFleet

/// A transport that records what it sends and what its streams deliver, and that can lose requests.
final class RecordingTransport: EtcdTransport {
    private let transport: HTTPTransport
    private let paths = Mutex<[String]>([])
    private let longAnswers = Atomic(0)
    private let beforeLongAnswer = Mutex<(@Sendable () -> Void)?>(nil)
    private let openStreams = Atomic(0)
    private let largest = Mutex(0)
    private let flip = Mutex<(text: Data, flipped: Data)?>(nil)
    private let pieces = Mutex("")
    private let lostPath = Mutex<String?>(nil)
    private let remaining = Atomic(0)
    private let lostKey = Mutex<Data?>(nil)
    private let bodies = Mutex<[String]>([])
    private let isWithholding = Atomic(false)
    private let longestAnswer: Int

    /// Records what goes over another transport; an answer of more bytes than the longest one doesn't come in time.
    init(_ transport: HTTPTransport, longestAnswer: Int = .max) {
        self.transport = transport
        self.longestAnswer = longestAnswer
    }

    /// The paths of the requests that were sent, except for streams.
    var sent: [String] { paths.withLock { $0 } }

    /// The requests that were sent, as JSON, except for streams.
    var requests: [String] { bodies.withLock { $0 } }

    /// Makes the streams that are open now deliver nothing more, without ending them.
    func withholdStreams() {
        isWithholding.store(true, ordering: .sequentiallyConsistent)
    }

    /// How many requests may have had long answers.
    var listings: Int { longAnswers.load(ordering: .relaxed) }

    /// Calls a body before each request that may have a long answer.
    func beforeLongAnswers(_ body: @escaping @Sendable () -> Void) {
        beforeLongAnswer.withLock { $0 = body }
    }

    /// How many listings were begun.
    var firstPages: Int {
        requests.count { $0.contains("\"limit\":\(StoreReader.firstPageSize)") && !$0.contains("\"revision\"") }
    }

    /// The number of streams that have not ended.
    var streamCount: Int { openStreams.load(ordering: .relaxed) }

    /// The number of bytes of the largest request.
    var largestRequest: Int { largest.withLock { $0 } }

    /// Changes a bit of a text in the next answer that has it.
    func flipBit(of text: Data) {
        var flipped = text
        flipped[flipped.startIndex + flipped.count / 2] ^= 1
        flip.withLock { $0 = (text, flipped) }
    }

    /// Whether a bit is still to be changed.
    var isFlipping: Bool { flip.withLock { $0 != nil } }

    /// All that streams have delivered.
    var streamed: String { pieces.withLock { $0 } }

    /// Loses requests with a path from now on, or after some more of them, or none.
    func lose(_ path: String?, after count: Int = 0) {
        remaining.store(count, ordering: .relaxed)
        lostPath.withLock { $0 = path }
    }

    /// Loses the next request that has a key.
    func loseNext(with key: Data) {
        lostKey.withLock { $0 = key }
    }

    /// Whether this is the request to lose.
    private func isLost(_ request: EtcdRequest) -> Bool {
        lostKey.withLock { key in
            guard let text = key?.base64EncodedString(), request.body.firstRange(of: Data(text.utf8)) != nil else {
                return false
            }
            key = nil
            return true
        }
    }

    func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer {
        paths.withLock { $0.append(request.path) }
        bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
        if request.isLong {
            longAnswers.add(1, ordering: .relaxed)
            beforeLongAnswer.withLock { $0 }?()
        }
        if lostPath.withLock({ $0 }) == request.path, remaining.subtract(1, ordering: .relaxed).newValue < 0 {
            throw .unanswered("lost by the test")
        }
        guard !isLost(request) else { throw .unanswered("lost by the test") }
        largest.withLock { $0 = max($0, request.body.count) }
        var answer = try transport.send(request, until: deadline)
        if let (text, flipped) = flip.withLock({ $0 }),
            let place = answer.body.firstRange(of: Data(text.base64EncodedString().utf8))
        {
            flip.withLock { $0 = nil }
            answer.body.replaceSubrange(place, with: Data(flipped.base64EncodedString().utf8))
        }
        guard answer.body.count <= longestAnswer else { throw .unanswered("too slow for the test") }
        return answer
    }

    func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
        openStreams.add(1, ordering: .relaxed)
        isWithholding.store(false, ordering: .sequentiallyConsistent)
        return transport.stream(request) { [self] piece in
            guard !isWithholding.load(ordering: .sequentiallyConsistent) else { return }
            switch piece {
            case .bytes(let bytes, _): pieces.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            case .ended: openStreams.subtract(1, ordering: .relaxed)
            }
            receive(piece)
        }
    }
}

internal import Foundation

/// A connection to the members of a cluster: HTTP in programs, and whatever a test needs.
///
/// Its calls block. They must not need the threads of Swift's concurrency, of which blocked callers may hold all.
protocol EtcdTransport: Sendable {
    /// Sends a request and waits for the answer; where there is none, it was not sent, or is unanswered.
    func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer

    /// Sends a request, and hands over the pieces of the answer as they come.
    ///
    /// That is on any thread, one call after the other; the last one is with ``StreamPiece/ended(_:)``.
    func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream
}

struct EtcdRequest: Sendable {
    let endpoint: URL
    /// After the endpoint's own: `v3/kv/range`.
    let path: String
    let headers: [(name: String, value: String)]
    let body: Data
    /// Whether the answer may be so long that it takes any time; it has to go on arriving then.
    var isLong = false
}

struct EtcdAnswer: Sendable {
    let status: Int
    var body: Data
}

enum StreamPiece: Sendable {
    /// The next piece comes when the receipt has been released: what is not used yet stays with the member, and not in
    /// memory.
    case bytes([UInt8], Receipt)
    /// The last piece: nil where the member ended the answer.
    case ended(EtcdClient.Failure?)
}

/// Calls back when nothing refers to it any more.
final class Receipt: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = onRelease
    }

    deinit {
        onRelease()
    }
}

protocol EtcdStream: Sendable {
    /// Ends the stream; pieces may still come.
    func cancel()
}

internal import Foundation

/// A connection to the members of a cluster: HTTP in programs, and whatever a test needs.
///
/// Its calls block. They must not need the threads of Swift's concurrency, of which blocked callers may hold all.
protocol EtcdTransport: Sendable {
    /// Sends a request and waits for the answer.
    func send(_ request: EtcdRequest, until deadline: Deadline) throws(TransportError) -> EtcdAnswer

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

/// Why the answer is missing.
enum TransportError: Error, Sendable {
    /// Nothing was sent: the member has not seen the request.
    case notSent(String)
    /// The request was sent, at least in part: the member may have seen it.
    case unanswered(String)
}

enum StreamPiece: Sendable {
    case bytes([UInt8])
    /// The last piece: nil where the member ended the answer.
    case ended(TransportError?)
}

protocol EtcdStream: Sendable {
    /// Ends the stream; pieces may still come.
    func cancel()
}

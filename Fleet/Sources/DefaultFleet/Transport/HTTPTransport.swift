internal import AsyncHTTPClient
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import Synchronization

/// Requests to etcd's JSON gateway, on the threads of NIO.
final class HTTPTransport: EtcdTransport {
    private let calls: HTTPClient
    /// For long answers.
    private let readings: HTTPClient
    /// A client of its own: each watch takes a connection for as long as it lasts.
    private let streams: HTTPClient

    /// - Throws: `NIOSSLError`, or an error of Foundation, when a file of the cluster's certificates can't be used.
    init(_ cluster: EtcdCluster) throws {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try cluster.tls?.configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(2))
        // A member that can't be reached is an answer: another one is asked then.
        configuration.connectionPool.retryConnectionEstablishment = false
        calls = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        streams = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        configuration.timeout.read = .nanoseconds(Int64(Self.longestSilence.seconds * 1e9))
        readings = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// In bytes.
    ///
    /// What is asked for in pages comes in smaller ones then.
    private static let longestAnswer = 64 << 20
    /// How long nothing may arrive of a long answer.
    private static let longestSilence = Duration.seconds(3)

    deinit {
        // The client lives on until it has been shut down.
        calls.shutdown { _ in }
        readings.shutdown { _ in }
        streams.shutdown { _ in }
    }

    func send(_ request: EtcdRequest, until deadline: Deadline) throws(TransportError) -> EtcdAnswer {
        let collected = Mutex((status: 0, body: Data()))
        let delegate = PieceDelegate(longest: Self.longestAnswer) { head in
            collected.withLock { $0.status = Int(head.status.code) }
        } receive: { bytes in
            collected.withLock { $0.body.append(contentsOf: bytes) }
        }
        do {
            let limit = NIODeadline.now() + .nanoseconds(Int64(deadline.remaining.seconds * 1e9))
            let client = request.isLong ? readings : calls
            try client.execute(request: request.httpRequest(), delegate: delegate, deadline: limit).wait()
        } catch {
            throw delegate.error(error)
        }
        return collected.withLock { EtcdAnswer(status: $0.status, body: $0.body) }
    }

    func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
        let delegate = PieceDelegate(longest: .max) { _ in
        } receive: { bytes in
            receive(.bytes(bytes))
        }
        do {
            let task = streams.execute(request: try request.httpRequest(), delegate: delegate)
            task.futureResult.whenComplete { result in
                switch result {
                case .success: receive(.ended(nil))
                case .failure(let error): receive(.ended(delegate.error(error)))
                }
            }
            return HTTPStream(task: task)
        } catch {
            receive(.ended(.notSent("\(error)")))
            return HTTPStream(task: nil)
        }
    }
}

private struct HTTPStream: EtcdStream {
    let task: HTTPClient.Task<Void>?

    func cancel() {
        task?.cancel()
    }
}

extension EtcdRequest {
    fileprivate func httpRequest() throws -> HTTPClient.Request {
        var headers = HTTPHeaders([("Content-Type", "application/json")])
        for (name, value) in self.headers {
            headers.add(name: name, value: value)
        }
        return try HTTPClient.Request(
            url: endpoint.appendingPathComponent(path),
            method: .POST,
            headers: headers,
            body: .byteBuffer(ByteBuffer(bytes: body))
        )
    }
}

/// Hands over what comes, and knows whether anything was sent.
private final class PieceDelegate: HTTPClientResponseDelegate {
    typealias Response = Void

    private let begin: @Sendable (HTTPResponseHead) -> Void
    private let receive: @Sendable ([UInt8]) -> Void
    private let wasSent = Atomic(false)
    private let longest: Int
    private let count = Atomic(0)

    struct AnswerTooLong: Error, CustomStringConvertible {
        let description: String
    }

    init(
        longest: Int,
        begin: @escaping @Sendable (HTTPResponseHead) -> Void,
        receive: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.longest = longest
        self.begin = begin
        self.receive = receive
    }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        wasSent.store(true, ordering: .sequentiallyConsistent)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        begin(head)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        guard count.add(buffer.readableBytes, ordering: .relaxed).newValue <= longest else {
            return task.eventLoop.makeFailedFuture(
                AnswerTooLong(description: "An answer is longer than \(longest) bytes.")
            )
        }
        receive(Array(buffer.readableBytesView))
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    func error(_ error: any Error) -> TransportError {
        wasSent.load(ordering: .sequentiallyConsistent) ? .unanswered("\(error)") : .notSent("\(error)")
    }
}

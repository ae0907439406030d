internal import AsyncHTTPClient
internal import Default
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
    private let tls: EtcdCluster.TLS?
    /// What connections are made with, and what the files were that it was read from.
    private let certificates: Mutex<(stamp: FileStamp, configuration: TLSConfiguration)?>
    /// A client of its own: each watch takes a connection for as long as it lasts.
    private let streams: HTTPClient

    /// - Throws: `NIOSSLError`, or an error of Foundation, when a file of the cluster's certificates can't be used.
    init(_ cluster: EtcdCluster) throws {
        var configuration = HTTPClient.Configuration()
        tls = cluster.tls
        certificates = Mutex(try cluster.tls.map { ($0.stamp, try $0.configuration()) })
        configuration.redirectConfiguration = .disallow
        // With HTTP/2, which TLS would choose, async-http-client 1.37 has ended the process when a member closed its
        // connection.
        configuration.httpVersion = .http1Only
        configuration.timeout = .init(connect: .seconds(2))
        // A member that can't be reached is an answer: another one is asked then.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { $0.endWhenUnanswered() }
        calls = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        streams = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        configuration.timeout.read = .nanoseconds(Int64(Self.longestSilence.seconds * 1e9))
        readings = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    convenience init(to cluster: EtcdCluster, for store: String) throws(DefaultsError) {
        let isValid = cluster.endpoints.allSatisfy { ["http", "https"].contains($0.scheme) && $0.host != nil }
        guard isValid, !cluster.endpoints.isEmpty else {
            throw .unavailable("The cluster needs at least one endpoint, each with http or https.", store: store)
        }
        do {
            try self.init(cluster)
        } catch {
            throw .unavailable("A file of certificates can't be used. Check EtcdCluster.tls: \(error)", store: store)
        }
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

    /// What connections are made with from now on: what is in the files, or was before they were changed to what can't
    /// be used.
    private var configuration: TLSConfiguration? {
        guard let tls else { return nil }
        let stamp = tls.stamp
        return certificates.withLock { known in
            if known?.stamp != stamp, let configuration = try? tls.configuration() {
                known = (stamp, configuration)
            }
            return known?.configuration
        }
    }

    func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer {
        let collected = Mutex((status: 0, body: Data()))
        let delegate = PieceDelegate(longest: Self.longestAnswer) { head in
            collected.withLock { $0.status = Int(head.status.code) }
        } receive: { bytes, _ in
            collected.withLock { $0.body.append(contentsOf: bytes) }
        }
        do {
            let limit = NIODeadline.now() + .nanoseconds(Int64(deadline.remaining.seconds * 1e9))
            let client = request.isLong ? readings : calls
            try client.execute(request: request.httpRequest(with: configuration), delegate: delegate, deadline: limit)
                .wait()
        } catch {
            throw delegate.error(error)
        }
        return collected.withLock { EtcdAnswer(status: $0.status, body: $0.body) }
    }

    func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
        let delegate = PieceDelegate(longest: .max) { _ in
        } receive: { bytes, receipt in
            receive(.bytes(bytes, receipt))
        }
        do {
            let task = streams.execute(request: try request.httpRequest(with: configuration), delegate: delegate)
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
    fileprivate func httpRequest(with configuration: TLSConfiguration?) throws -> HTTPClient.Request {
        var headers = HTTPHeaders([("Content-Type", "application/json")])
        for (name, value) in self.headers {
            headers.add(name: name, value: value)
        }
        return try HTTPClient.Request(
            url: endpoint.appendingPathComponent(path),
            method: .POST,
            headers: headers,
            body: .byteBuffer(ByteBuffer(bytes: body)),
            // Connections are used again for equal configurations only.
            tlsConfiguration: configuration
        )
    }
}

/// Hands over what comes, and knows whether anything was sent.
private final class PieceDelegate: HTTPClientResponseDelegate {
    typealias Response = Void

    private let begin: @Sendable (HTTPResponseHead) -> Void
    private let receive: @Sendable ([UInt8], Receipt) -> Void
    private let wasSent = Atomic(false)
    private let longest: Int
    private let count = Atomic(0)

    struct AnswerTooLong: Error, CustomStringConvertible {
        let description: String
    }

    init(
        longest: Int,
        begin: @escaping @Sendable (HTTPResponseHead) -> Void,
        receive: @escaping @Sendable ([UInt8], Receipt) -> Void
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
        let next = task.eventLoop.makePromise(of: Void.self)
        receive(Array(buffer.readableBytesView), Receipt { next.succeed() })
        return next.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    func error(_ error: any Error) -> EtcdClient.Failure {
        wasSent.load(ordering: .sequentiallyConsistent) ? .unanswered("\(error)") : .notSent("\(error)")
    }
}

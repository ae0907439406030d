import DefaultFleet
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Answers `/healthz` and `/metrics`, to programs of this host only.
///
/// NIO limits the head of a request; its body is read and dropped.
struct StatusServer: Service {
    /// Where it listens: a port of the loopback address, or a socket in the file system.
    enum Address: Sendable {
        case loopback(host: String, port: Int)
        case socket(path: String)

        /// Reads `127.0.0.1:9100`, `[::1]:9100` or `unix:/run/fleet-agent.sock`; nil for another text, or for an
        /// address that other hosts can reach.
        init?(_ text: String) {
            if text.hasPrefix("unix:/") {
                self = .socket(path: String(text.dropFirst("unix:".count)))
                return
            }
            for host in ["127.0.0.1", "[::1]", "localhost"] where text.hasPrefix(host + ":") {
                guard let port = Int(text.dropFirst(host.count + 1)), (0...65535).contains(port) else { return nil }
                self = .loopback(host: host == "[::1]" ? "::1" : host, port: port)
                return
            }
            return nil
        }

        /// Whether a request's host means this server; a page of the web can have its own name lead to the loopback
        /// address, and read what a browser gets from there.
        func isMeant(by host: String?) -> Bool {
            guard case .loopback = self, let host else { return true }
            let name = host.lowercased().replacing(/:[0-9]*$/, with: "")
            return ["127.0.0.1", "[::1]", "localhost"].contains(name)
        }
    }

    struct Answer: Sendable {
        var status: HTTPResponseStatus
        var text: String
    }

    let address: Address
    let answer: @Sendable (_ path: String) -> Answer

    /// How many connections there may be at the same time.
    private static let connectionLimit = 64
    /// How long a connection may last, which is for one request.
    private static let connectionTime = TimeAmount.seconds(10)

    func run() async throws {
        let connectionCount = Atomic(0)
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let count = connectionCount.add(1, ordering: .relaxed).newValue
                let end = channel.eventLoop.scheduleTask(in: Self.connectionTime) { channel.close(promise: nil) }
                channel.closeFuture.whenComplete { _ in
                    connectionCount.subtract(1, ordering: .relaxed)
                    end.cancel()
                }
                guard count <= Self.connectionLimit else { return channel.close() }
                return channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(answer: answer(to:)))
                }
            }
        let channel: any Channel
        switch address {
        case .loopback(let host, let port): channel = try await bootstrap.bind(host: host, port: port).get()
        case .socket(let path):
            channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
        }
        try? await gracefulShutdown()
        try await channel.close()
    }

    private func answer(to request: HTTPRequestHead) -> Answer {
        guard request.method == .GET || request.method == .HEAD else {
            return Answer(status: .methodNotAllowed, text: "")
        }
        guard address.isMeant(by: request.headers.first(name: "Host")) else {
            return Answer(status: .misdirectedRequest, text: "Ask for 127.0.0.1, [::1] or localhost.\n")
        }
        return answer(request.uri)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: @Sendable (HTTPRequestHead) -> Answer
        private var request: HTTPRequestHead?

        init(answer: @escaping @Sendable (HTTPRequestHead) -> Answer) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): request = head
            case .body: break
            case .end:
                guard let request else { return }
                let answer = answer(request)
                let body = ByteBuffer(string: answer.text)
                let headers: HTTPHeaders = [
                    "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
                    "Content-Length": "\(body.readableBytes)",
                    "Connection": "close",
                ]
                let head = HTTPResponseHead(version: request.version, status: answer.status, headers: headers)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                if request.method != .HEAD {
                    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                }
                let channel = context.channel
                context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
            }
        }
    }
}

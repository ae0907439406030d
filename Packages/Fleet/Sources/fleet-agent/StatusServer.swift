import DefaultFleet
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// Answers `/healthz` and `/metrics`, to programs of this host only.
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
    }

    struct Answer: Sendable {
        var status: HTTPResponseStatus
        var text: String
    }

    let address: Address
    let answer: @Sendable (_ path: String) -> Answer

    func run() async throws {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [answer] channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(answer: answer))
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

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: @Sendable (String) -> Answer
        private var request: HTTPRequestHead?

        init(answer: @escaping @Sendable (String) -> Answer) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): request = head
            case .body: break
            case .end:
                guard let request else { return }
                let isRead = request.method == .GET || request.method == .HEAD
                let answer = isRead ? answer(request.uri) : Answer(status: .methodNotAllowed, text: "")
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

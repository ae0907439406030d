import Foundation
import Testing

/// A socket of systemd's kind, to which a service sends what it does.
final class NotificationSocket: Sendable {
    let url: URL
    private let descriptor: Int32

    init(in directory: URL) throws {
        url = directory.appendingPathComponent("notify")
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let bound = withSocketAddress(url.path) { bind(descriptor, $0, $1) }
        try #require(bound == 0)
    }

    deinit {
        close(descriptor)
    }

    /// The next message; nil while there is none.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
}

private func withSocketAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result
{
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

/// A connection to a server of this host.
final class LocalConnection: Sendable {
    private let descriptor: Int32

    /// Connects to a socket in the file system; nil when none listens.
    init?(toSocketAt path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard withSocketAddress(path, { connect(descriptor, $0, $1) }) == 0 else { return nil }
    }

    /// Connects to a port of the loopback address; nil when none listens.
    init?(toPort port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard Ports.call(connect, descriptor, port) == 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// What the server answers; nil when nothing can be sent.
    func get(_ path: String, host: String = "localhost") -> String? {
        let request = "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
        guard send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count else {
            return nil
        }
        return rest()
    }

    /// What comes until the server closes the connection.
    func rest() -> String {
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}

/// What a server at a socket in the file system answers; nil when none listens.
func get(_ path: String, from socketPath: String) -> String? {
    LocalConnection(toSocketAt: socketPath)?.get(path)
}

import Foundation
import Synchronization
import Testing

/// Ports of the loopback address that nothing uses.
enum Ports {
    struct Unavailable: Error {}

    static func free(_ count: Int) throws -> [UInt16] {
        // All are open until the last has been found, so that they differ.
        let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { sockets.forEach { close($0) } }
        return try sockets.map { descriptor in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
                }
            }
            guard result == 0 else { throw Unavailable() }
            return UInt16(bigEndian: address.sin_port)
        }
    }
}

extension Ports {
    /// Calls `bind` or `connect` with a port of the loopback address.
    static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        _ descriptor: Int32,
        _ port: UInt16
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A socket that connections to a port get to.
    static func listen(on port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // The system completes connections up to the number, also when none is accepted.
        guard call(bind, descriptor, port) == 0, Foundation.listen(descriptor, 512) == 0 else { throw Unavailable() }
        return descriptor
    }
}

/// A port of the loopback address that accepts connections and answers nothing, as behind a network that loses
/// everything.
final class SilentEndpoint: Sendable {
    private let descriptor: Int32
    let url: URL

    init() throws {
        let port = try #require(Ports.free(1).first)
        url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        descriptor = try Ports.listen(on: port)
    }

    deinit {
        close(descriptor)
    }
}

/// A port of the loopback address whose answers never end.
final class EndlessEndpoint: Sendable {
    private let descriptor: Int32
    private let sent = Mutex(0)
    let url: URL

    /// The number of bytes that it has sent.
    var sentCount: Int { sent.withLock { $0 } }

    init() throws {
        let port = try #require(Ports.free(1).first)
        url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        descriptor = try Ports.listen(on: port)
        Thread { [descriptor, weak self] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                // An answer before the request is no answer.
                var request = [UInt8](repeating: 0, count: 4_096)
                guard recv(client, &request, request.count, 0) > 0 else {
                    Foundation.close(client)
                    continue
                }
                var piece = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"result\":\"".utf8)
                while send(client, piece, piece.count, Int32(MSG_NOSIGNAL)) == piece.count {
                    self?.sent.withLock { $0 += piece.count }
                    piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
                }
                Foundation.close(client)
            }
        }.start()
    }

    /// Accepts no more connections.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

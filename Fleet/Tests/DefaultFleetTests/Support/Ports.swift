import Foundation
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

/// A port of the loopback address that accepts connections and answers nothing, as behind a network that loses everything.
final class SilentEndpoint: Sendable {
    private let descriptor: Int32
    let url: URL

    init() throws {
        let port = try #require(Ports.free(1).first)
        url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The system completes connections up to the number, also when none is accepted.
        guard result == 0, listen(descriptor, 512) == 0 else { throw Ports.Unavailable() }
    }

    deinit {
        close(descriptor)
    }
}

import Foundation
import Synchronization
import Testing

/// A port of the loopback address behind which a member is, with a limit of bytes per second for what the member
/// answers.
final class SlowLink: Sendable {
    let url: URL
    private let listener: Int32
    private let port: UInt16
    private let bytesPerSecond: Int
    /// All connections share the link.
    private let turn = NSLock()
    private let connections = Mutex<[Int32]>([])

    init(to member: URL, bytesPerSecond: Int) throws {
        self.bytesPerSecond = bytesPerSecond
        port = UInt16(try #require(member.port))
        let own = try #require(Ports.free(1).first)
        url = try #require(URL(string: "http://127.0.0.1:\(own)"))
        listener = try Ports.listen(on: own)
        Self.thread { [weak self, listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                relay(client)
            }
        }
    }

    /// Ends all connections, and accepts no more.
    func close() {
        for descriptor in connections.withLock({ $0 }) + [listener] {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        Thread(block: body).start()
    }

    private func relay(_ client: Int32) {
        let member = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard Ports.call(connect, member, port) == 0 else {
            shutdown(client, Int32(SHUT_RDWR))
            return
        }
        connections.withLock { $0 += [client, member] }
        Self.thread { self.copy(from: client, to: member, isSlow: false) }
        Self.thread { self.copy(from: member, to: client, isSlow: true) }
    }

    private func copy(from source: Int32, to target: Int32, isSlow: Bool) {
        var buffer = [UInt8](repeating: 0, count: isSlow ? 8_192 : 65_536)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0 else { break }
            if isSlow {
                // The time that the bytes take on the link.
                turn.withLock { Thread.sleep(forTimeInterval: Double(count) / Double(bytesPerSecond)) }
            }
            guard send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}

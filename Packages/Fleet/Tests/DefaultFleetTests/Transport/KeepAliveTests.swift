#if os(Linux)
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

@Suite("A connection")
struct KeepAliveTests {
    @Test("of a watch, which sends nothing, is looked after by the system")
    func timer() async throws {
        let endpoint = try SilentEndpoint()
        let transport = try HTTPTransport(EtcdCluster(endpoints: [endpoint.url]))
        let request = EtcdRequest(endpoint: endpoint.url, path: "v3/watch", headers: [], body: Data("{}".utf8))
        let streams = Mutex<[any EtcdStream]>([])
        let isOpen = Atomic(false)
        defer { streams.withLock { $0.forEach { $0.cancel() } } }
        let port = String(UInt16(try #require(endpoint.url.port)), radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - port.count) + port
        try await eventually("the system has a timer for an idle connection") {
            // On a busy machine it may take too long to connect.
            if !isOpen.exchange(true, ordering: .relaxed) {
                let stream = transport.stream(request) { piece in
                    if case .ended = piece {
                        isOpen.store(false, ordering: .relaxed)
                    }
                }
                streams.withLock { $0.append(stream) }
            }
            // proc(5): the third field is the other side's address, the sixth the timer; 2 is that of keepalive.
            // In pieces, until the end: the file doesn't say how long it is.
            let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/net/tcp"))
            defer { try? table.close() }
            let text = String(decoding: try table.readToEnd() ?? Data(), as: UTF8.self)
            return text.split(separator: "\n").contains { line in
                let fields = line.split(separator: " ")
                return fields.count > 5 && fields[2].hasSuffix(suffix) && fields[5].hasPrefix("02:")
            }
        }
    }
}
#endif

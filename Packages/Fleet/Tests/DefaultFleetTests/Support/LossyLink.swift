import Foundation
import Synchronization
import Testing

/// A port of the loopback address behind which a member is, on a network that loses answers or is late with requests.
///
/// It looks at what changes the cluster only: what is read by a client that has changed nothing passes.
final class LossyLink: Sendable {
    enum Fault: Sendable {
        case none
        /// A connection on which a change was sent gets no answer; others do.
        case losesAnswersToChanges
        /// Nothing is answered any more after a change was sent, on any connection.
        case losesAllAfterChange
        /// Changes get to the member when the fault is over, and not before.
        case holdsChanges
    }

    private struct State {
        var fault = Fault.none
        var hasChanged = false
        var connections: [Int32] = []
    }

    let url: URL
    private let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())

    init(to member: URL) throws {
        port = UInt16(try #require(member.port))
        let own = try #require(Ports.free(1).first)
        url = try #require(URL(string: "http://127.0.0.1:\(own)"))
        listener = try Ports.listen(on: own)
        Thread { [weak self, listener] in
            while case let client = accept(listener, nil, nil), client >= 0, let self {
                relay(client)
            }
        }.start()
    }

    /// What happens from now on.
    func set(_ fault: Fault) {
        state.withLock { state in
            state.fault = fault
            state.hasChanged = false
        }
    }

    /// Ends all connections, and accepts no more.
    func close() {
        set(.none)
        for descriptor in state.withLock({ $0.connections }) + [listener] {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private func relay(_ client: Int32) {
        let member = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard Ports.call(connect, member, port) == 0 else {
            shutdown(client, Int32(SHUT_RDWR))
            return
        }
        state.withLock { $0.connections += [client, member] }
        let connection = Connection(client: client, member: member)
        Thread { self.forwardRequests(of: connection) }.start()
        Thread { self.forwardAnswers(to: connection) }.start()
    }

    private final class Connection: Sendable {
        let client: Int32
        let member: Int32
        let hasChanged = Atomic(false)

        init(client: Int32, member: Int32) {
            self.client = client
            self.member = member
        }
    }

    private func forwardRequests(of connection: Connection) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(connection.client, &buffer, buffer.count), count > 0 {
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            if text.contains("request_put") || text.contains("request_delete_range") {
                connection.hasChanged.store(true, ordering: .sequentiallyConsistent)
                state.withLock { $0.hasChanged = true }
                while state.withLock({ if case .holdsChanges = $0.fault { true } else { false } }) {
                    Thread.sleep(forTimeInterval: 0.01)
                }
            }
            guard send(connection.member, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        // The member would give up what it has not done yet.
        if !connection.hasChanged.load(ordering: .sequentiallyConsistent) {
            shutdown(connection.member, Int32(SHUT_RDWR))
        }
    }

    private func forwardAnswers(to connection: Connection) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(connection.member, &buffer, buffer.count), count > 0 {
            let isLost = state.withLock { state in
                switch state.fault {
                case .none, .holdsChanges: false
                case .losesAnswersToChanges: connection.hasChanged.load(ordering: .sequentiallyConsistent)
                case .losesAllAfterChange: state.hasChanged
                }
            }
            if !isLost {
                send(connection.client, buffer, count, Int32(MSG_NOSIGNAL))
            }
        }
        shutdown(connection.client, Int32(SHUT_RDWR))
    }
}

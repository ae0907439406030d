import NIOCore
import Synchronization

/// Lets those who know the secret in, whatever others of this machine do.
///
/// A connection is a stranger's until a request on it has shown the secret. Strangers have few connections, of which
/// the oldest is closed for the next one, and little time. Those who have shown it have connections of their own.
final class ConnectionGate: Sendable {
    private struct Stranger {
        let channel: any Channel
        let end: Scheduled<Void>
    }

    private struct State {
        /// In the order in which they came.
        var strangers: [Stranger] = []
        var known: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())

    /// Takes a new connection, and closes the oldest stranger's if there are too many.
    fileprivate func admit(_ channel: any Channel) {
        let end = channel.eventLoop.scheduleTask(in: PageLimits.strangerTime) { [weak self] in
            channel.close(promise: nil)
            // Also of a connection that had ended before its handler was there.
            self?.forget(channel)
        }
        let oldest = state.withLock { state in
            state.strangers.append(Stranger(channel: channel, end: end))
            return state.strangers.count > PageLimits.strangers ? state.strangers.removeFirst() : nil
        }
        oldest?.end.cancel()
        oldest?.channel.close(promise: nil)
    }

    /// Notes that a request on a connection has shown the secret.
    ///
    /// - Returns: False if there are too many such connections.
    func recognize(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (stranger, isAllowed) = state.withLock { state -> (Stranger?, Bool) in
            let index = state.strangers.firstIndex { $0.channel === channel }
            let stranger = index.map { state.strangers.remove(at: $0) }
            if state.known.contains(id) { return (stranger, true) }
            guard state.known.count < PageLimits.connections else { return (stranger, false) }
            state.known.insert(id)
            return (stranger, true)
        }
        stranger?.end.cancel()
        return isAllowed
    }

    fileprivate func forget(_ channel: any Channel) {
        let stranger = state.withLock { state in
            state.known.remove(ObjectIdentifier(channel))
            return state.strangers.firstIndex { $0.channel === channel }.map { state.strangers.remove(at: $0) }
        }
        stranger?.end.cancel()
    }

    /// A handler for one connection, which tells this of its begin and its end.
    var handler: any RemovableChannelHandler { Handler(self) }

    private final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        private let gate: ConnectionGate

        init(_ gate: ConnectionGate) { self.gate = gate }

        func handlerAdded(context: ChannelHandlerContext) { gate.admit(context.channel) }

        func channelInactive(context: ChannelHandlerContext) {
            gate.forget(context.channel)
            context.fireChannelInactive()
        }
    }
}

internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
#error("This system's socket options are unknown.")
#endif

extension Channel {
    /// Lets the system end the connection when the other side's system has not answered for about six seconds.
    ///
    /// A watch has nothing to send, so nothing else shows that what the member sends gets lost. It costs the member
    /// nothing, since its system answers.
    func endWhenUnanswered() -> EventLoopFuture<Void> {
        #if canImport(Darwin)
        let idle = TCP_KEEPALIVE
        #else
        let idle = TCP_KEEPIDLE
        #endif
        let options: [(NIOBSDSocket.OptionLevel, NIOBSDSocket.Option, value: Int)] = [
            (.tcp, NIOBSDSocket.Option(rawValue: idle), 2),
            (.tcp, NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL), 1),
            (.tcp, NIOBSDSocket.Option(rawValue: TCP_KEEPCNT), 4),
            (.socket, .so_keepalive, 1),
        ]
        let results = options.map { level, name, value in
            setOption(ChannelOptions.Types.SocketOption(level: level, name: name), value: value)
        }
        return EventLoopFuture.andAllSucceed(results, on: eventLoop)
    }
}

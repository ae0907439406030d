#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

#if os(Linux)
/// Waits for changes in a directory, without polling: inotify, and a pair of sockets for wake-ups.
struct DirectoryEvents: ~Copyable {
    private let events: OwnedDescriptor
    private let wakeUps: OwnedDescriptor
    private let wakeUpEnd: OwnedDescriptor

    /// Nil when the system has no descriptors or watches left.
    static func make() -> DirectoryEvents? {
        let events = OwnedDescriptor(inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        var pair: [Int32] = [-1, -1]
        let type = bits(of: SOCK_STREAM) | bits(of: SOCK_CLOEXEC) | bits(of: SOCK_NONBLOCK)
        guard events.raw >= 0, socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        return DirectoryEvents(
            events: events,
            wakeUps: OwnedDescriptor(pair[0]),
            wakeUpEnd: OwnedDescriptor(pair[1])
        )
    }

    /// The descriptor for ``wakeUp(_:)``.
    var wakeUpDescriptor: Int32 { wakeUpEnd.raw }

    /// Watches an open directory: writes to its files, and files that are created in it or renamed into it.
    func watch(_ directory: Int32) {
        // By its descriptor: its path may lead to another directory already. Watching it again has no effect.
        let mask = UInt32(IN_MODIFY) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE)
        _ = inotify_add_watch(events.raw, "/proc/self/fd/\(directory)", mask)
    }

    /// Returns once something has changed or ``wakeUp(_:)`` was called.
    func wait() {
        var descriptors = [
            pollfd(fd: events.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUps.raw, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, nfds_t(descriptors.count), -1)
        // The events' content doesn't matter, and several events at once count as one.
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            while read(events.raw, buffer.baseAddress, buffer.count) > 0 {}
            while read(wakeUps.raw, buffer.baseAddress, buffer.count) > 0 {}
        }
    }

    static func wakeUp(_ descriptor: Int32) {
        // A full socket is readable, and so wakes up as well.
        _ = send(descriptor, "!", 1, Int32(MSG_NOSIGNAL))
    }

    #if canImport(Glibc)
    private static func bits(of type: __socket_type) -> Int32 { Int32(bitPattern: type.rawValue) }
    #else
    private static func bits(of type: Int32) -> Int32 { type }
    #endif
}
#else
/// On other systems there are no events: changes of other processes are noticed by the next read.
struct DirectoryEvents: ~Copyable {
    static func make() -> DirectoryEvents? {
        nil
    }

    var wakeUpDescriptor: Int32 { -1 }

    func watch(_ directory: Int32) {}

    func wait() {}

    static func wakeUp(_ descriptor: Int32) {}
}
#endif

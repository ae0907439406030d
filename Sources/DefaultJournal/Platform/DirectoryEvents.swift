#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

#if os(Linux)
/// Reports changes in directories, without polling: inotify, and a pair of sockets for wake-ups.
final class DirectoryEvents: Sendable {
    static let isSupported = true

    private let events: OwnedDescriptor
    private let wakeUps: OwnedDescriptor
    private let wakeUpEnd: OwnedDescriptor

    /// Creates them without watching a directory; the system may have no descriptors left, or none of this kind for this user.
    init(calls: SystemCalls) throws(JournalError) {
        events = try calls.makeDirectoryEvents()
        let pair = try calls.makeSocketPair()
        wakeUps = OwnedDescriptor(pair.0)
        wakeUpEnd = OwnedDescriptor(pair.1)
    }

    /// Watches an open directory: writes to its files, and files that are created in it or renamed into it.
    ///
    /// - Returns: The number under which ``wait(until:)`` reports it. It is the same each time as long as the directory is
    ///   watched.
    func add(_ directory: Int32, calls: SystemCalls) throws(JournalError) -> Int32 {
        try calls.watch(directory, with: events.raw)
    }

    /// Ends the watch of a directory, which may have been deleted; what it has reported may still be returned once.
    func remove(_ number: Int32) { _ = inotify_rm_watch(events.raw, number) }

    /// What ``wait(until:)`` found.
    struct Changes: Equatable {
        /// The numbers of directories that have changed.
        var directories: Set<Int32> = []
        /// Whether any directory may have changed, because there were more events than the system keeps.
        var areIncomplete = false
    }

    /// Waits for changes, until ``wakeUp()`` is called or ``Clock/monotonic()`` reaches a deadline.
    ///
    /// - Returns: The changes, some of which may only be returned by the next call.
    func wait(until deadline: UInt64? = nil) -> Changes {
        var descriptors = [
            pollfd(fd: events.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUps.raw, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = deadline.map { deadline -> Int32 in
            let now = Clock.monotonic()
            return deadline > now ? Int32(clamping: (deadline - now) / 1_000_000 + 1) : 0
        }
        _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1)
        // Several events of a directory at once count as one.
        return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while read(wakeUps.raw, buffer.baseAddress, buffer.count) > 0 {}
            let count = read(events.raw, buffer.baseAddress, buffer.count)
            return Self.changes(in: UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)]))
        }
    }

    private static func changes(in bytes: UnsafeRawBufferPointer) -> Changes {
        var changes = Changes()
        let size = MemoryLayout<inotify_event>.size
        var offset = 0
        while offset + size <= bytes.count {
            let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                changes.areIncomplete = true
            } else {
                changes.directories.insert(event.wd)
            }
            offset += size + Int(event.len)
        }
        return changes
    }

    func wakeUp() {
        // A full socket is readable, and so wakes up as well.
        _ = send(wakeUpEnd.raw, "!", 1, Int32(MSG_NOSIGNAL))
    }
}
#else
/// On other systems there are no events: changes of other processes are noticed by the next read.
final class DirectoryEvents: Sendable {
    static let isSupported = false

    init(calls: SystemCalls) throws(JournalError) {}

    func add(_ directory: Int32, calls: SystemCalls) throws(JournalError) -> Int32 { -1 }

    func remove(_ number: Int32) {}

    struct Changes: Equatable {
        var directories: Set<Int32> = []
        var areIncomplete = false
    }

    func wait(until deadline: UInt64? = nil) -> Changes { Changes() }

    func wakeUp() {}
}
#endif

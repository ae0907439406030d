#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Reports changes in directories; on systems other than Linux the next read notices the changes of other processes.
final class DirectoryEvents: Sendable {
    struct Changes: Equatable {
        var directories: [Int32] = []
        /// Whether any directory may have changed, because there were more events than the system keeps.
        var areIncomplete = false
    }

    #if os(Linux)
    static let isSupported = true

    private let events: OwnedDescriptor

    /// Creates them without watching a directory; the system may have no descriptors left, or none of this kind for
    /// this user.
    init(calls: SystemCalls) throws(JournalError) { events = try calls.makeDirectoryEvents() }

    /// Watches an open directory: writes to its files, and files that are created in it or renamed into it.
    ///
    /// Returns the number under which ``wait(until:)`` reports it, the same as long as it is watched.
    func add(_ directory: Int32, calls: SystemCalls) throws(JournalError) -> Int32 {
        try calls.watch(directory, with: events.raw)
    }

    /// Ends the watch of a directory, which may have been deleted.
    ///
    /// That is an event as well, which ends a ``wait(until:)``.
    func remove(_ number: Int32) { _ = inotify_rm_watch(events.raw, number) }

    /// Waits for changes until ``Clock/monotonic()`` reaches a deadline.
    ///
    /// - Returns: The changes, some of which may only be returned by the next call.
    func wait(until deadline: UInt64) -> Changes {
        var descriptor = pollfd(fd: events.raw, events: Int16(POLLIN), revents: 0)
        let now = Clock.monotonic()
        _ = poll(&descriptor, 1, deadline > now ? Int32(clamping: (deadline - now) / 1_000_000 + 1) : 0)
        // Several events of a directory count as one.
        return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
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
            } else if !changes.directories.contains(event.wd) {
                changes.directories.append(event.wd)
            }
            offset += size + Int(event.len)
        }
        return changes
    }
    #else
    static let isSupported = false

    init(calls: SystemCalls) throws(JournalError) {}

    func add(_ directory: Int32, calls: SystemCalls) throws(JournalError) -> Int32 { -1 }

    func remove(_ number: Int32) {}

    func wait(until deadline: UInt64) -> Changes { Changes() }
    #endif
}

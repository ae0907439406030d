#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
internal import CDefaultSystem
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

#if DEBUG
/// One system call, for tests that observe the calls.
package struct SystemCallEvent {
    let call: SystemCall
    let descriptor: Int32?
    let directory: Int32?
    let name: String
    let target: String
    let offset: UInt64
    let bytes: UnsafeRawBufferPointer?
}

/// Observes the system calls of one engine, and can make them fail.
package protocol SystemCallObserver: AnyObject, Sendable {
    /// Makes a call by its body, which writes at most `limit` bytes, or makes it fail.
    func intercept(_ event: SystemCallEvent, body: (_ limit: Int) -> Int) -> Int
    /// The time to use instead of that of the clock of file times.
    func fileTime(_ time: UInt64) -> UInt64
}
#endif

/// All file system calls of the engine.
///
/// Interrupted calls are repeated, and every failure becomes a ``JournalError`` that names the call, and the file by
/// the name that the caller used: see ``JournalError/path``. In release builds the type is empty.
package struct SystemCalls: Sendable {
    #if DEBUG
    var probe: (any SystemCallObserver)?
    #endif

    /// The effective user, to whom every file must belong.
    static var user: UInt32 { geteuid() }

    /// A user in the middle of a sentence, by name if the system knows it.
    static func name(ofUser id: UInt32) -> String {
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String? in
            guard let memory = buffer.baseAddress, default_user_name(id, memory, buffer.count) else { return nil }
            return String(cString: memory)
        }
        return name.map { "the user \($0)" } ?? "the user with the number \(id)"
    }

    static var process: Int32 { getpid() }

    /// Repeats a call until it isn't interrupted, and throws when its result is negative.
    ///
    /// An observer gets the other arguments as well.
    @discardableResult
    private func perform(
        _ call: SystemCall,
        descriptor: Int32? = nil,
        directory: Int32? = nil,
        name: String = "",
        target: String = "",
        offset: UInt64 = 0,
        bytes: UnsafeRawBufferPointer? = nil,
        body: (_ limit: Int) -> Int
    ) throws(JournalError) -> Int {
        while true {
            #if DEBUG
            let event = SystemCallEvent(
                call: call,
                descriptor: descriptor,
                directory: directory,
                name: name,
                target: target,
                offset: offset,
                bytes: bytes
            )
            let result = probe.map { $0.intercept(event, body: body) } ?? body(Int.max)
            #else
            let result = body(Int.max)
            #endif
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw JournalError(.system(call, code: code), path: name) }
        }
    }
}

extension SystemCalls {
    /// ``Clock/fileTime()``, or the time that an observer gives instead.
    var fileTime: UInt64 {
        #if DEBUG
        probe?.fileTime(Clock.fileTime()) ?? Clock.fileTime()
        #else
        Clock.fileTime()
        #endif
    }

    struct Access {
        fileprivate let flags: Int32
        fileprivate var followsLinks = false

        static var read: Access { Access(flags: O_RDONLY) }
        static var readWrite: Access { Access(flags: O_RDWR) }
        static var create: Access { Access(flags: O_RDWR | O_CREAT) }
        static var createNew: Access { Access(flags: O_RDWR | O_CREAT | O_EXCL) }
        static var directory: Access { Access(flags: O_RDONLY | O_DIRECTORY) }
        static var linkedFile: Access { Access(flags: O_RDONLY, followsLinks: true) }
        static var linkedDirectory: Access { Access(flags: O_RDONLY | O_DIRECTORY, followsLinks: true) }
    }

    /// Opens `name` in an open directory, or at a path when `directory` is nil.
    ///
    /// Links aren't followed unless the access says so, and opening never waits, not even for a FIFO.
    func open(_ name: String, in directory: Int32? = nil, _ access: Access) throws(JournalError) -> OwnedDescriptor {
        let flags = access.flags | O_CLOEXEC | O_NONBLOCK | (access.followsLinks ? 0 : O_NOFOLLOW)
        let raw = try perform(.open, directory: directory, name: name) { _ in
            Int(openat(directory ?? AT_FDCWD, name, flags, 0o600))
        }
        return try ownedDescriptor(raw, named: name)
    }

    /// A new descriptor, or another one for the same file if it has the place of a standard stream.
    ///
    /// A program that was started without its standard streams prints to them all the same, and would do so into this
    /// file. As in SQLite, /dev/null takes the stream's place, opened for reading, so that printing still fails.
    private func ownedDescriptor(_ raw: Int, named name: String) throws(JournalError) -> OwnedDescriptor {
        let raw = Int32(truncatingIfNeeded: raw)
        guard raw <= STDERR_FILENO else { return OwnedDescriptor(raw: raw) }
        let moved = fcntl(raw, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let code = errno
        let nothing = openat(AT_FDCWD, "/dev/null", O_RDONLY, 0)
        if nothing < 0 || dup2(nothing, raw) != raw { _ = close(raw) }
        // If it has got the place of another closed stream, it stays there.
        if nothing > STDERR_FILENO { _ = close(nothing) }
        guard moved >= 0 else { throw JournalError(.system(.open, code: code), path: name) }
        return OwnedDescriptor(raw: moved)
    }

    func status(_ descriptor: Int32) throws(JournalError) -> FileStatus {
        var status = stat()
        try perform(.fstat, descriptor: descriptor) { _ in Int(fstat(descriptor, &status)) }
        return FileStatus(status)
    }

    /// The status of the file with a name, or of the one that it leads to if links are followed; nil when there is
    /// none.
    func status(
        of name: String,
        in directory: Int32? = nil,
        followsLinks: Bool = false
    ) throws(JournalError) -> FileStatus? {
        var status = stat()
        do throws(JournalError) {
            try perform(.stat, directory: directory, name: name) { _ in
                Int(fstatat(directory ?? AT_FDCWD, name, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW))
            }
        } catch  where error.isNotFound {
            return nil
        }
        return FileStatus(status)
    }

    /// The path that a link has as its content.
    func target(ofLink path: String) throws(JournalError) -> String {
        // The longest path that Linux takes; Apple platforms take less.
        let capacity = 4_096
        let buffer = try Buffer(capacity: capacity)
        let bytes = buffer.memory.assumingMemoryBound(to: CChar.self)
        let count = try perform(.readlink, name: path) { _ in readlink(path, bytes, capacity) }
        return String(decoding: UnsafeRawBufferPointer(start: buffer.memory, count: count), as: UTF8.self)
    }

    /// Makes a directory for this user alone, whatever the process's umask is.
    func makeDirectory(_ path: String) throws(JournalError) {
        try perform(.mkdir, name: path) { _ in Int(mkdir(path, 0o700)) }
        if let made = try status(of: path), !made.allowsOwner(0o700) {
            try perform(.chmod, name: path) { _ in Int(chmod(path, 0o700)) }
        }
    }

    /// Lets the owner read and write a file that was created with an umask that takes these permissions away.
    func allowOwner(_ file: Int32) throws(JournalError) {
        try perform(.chmod, descriptor: file) { _ in Int(fchmod(file, 0o600)) }
    }

    func rename(_ name: String, to target: String, in directory: Int32) throws(JournalError) {
        try perform(.rename, directory: directory, name: name, target: target) { _ in
            Int(renameat(directory, name, directory, target))
        }
    }

    func unlink(_ name: String, in directory: Int32? = nil, isDirectory: Bool = false) throws(JournalError) {
        try perform(.unlink, directory: directory, name: name) { _ in
            Int(unlinkat(directory ?? AT_FDCWD, name, isDirectory ? AT_REMOVEDIR : 0))
        }
    }

    func names(in directory: Int32) throws(JournalError) -> [String] {
        let copy = try open(".", in: directory, .directory)
        // The stream takes over its descriptor, and the owned one is closed here.
        let raw = try perform(.opendir, descriptor: directory, name: ".") { _ in
            Int(fcntl(copy.raw, F_DUPFD_CLOEXEC, STDERR_FILENO + 1))
        }
        let descriptor = Int32(truncatingIfNeeded: raw)
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            _ = close(descriptor)
            throw JournalError(.system(.opendir, code: code), path: ".")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }

    func currentDirectory() throws(JournalError) -> String {
        guard let path = getcwd(nil, 0) else { throw JournalError(.system(.getcwd, code: errno), path: ".") }
        defer { free(path) }
        return String(cString: path)
    }
}

extension SystemCalls {
    /// Writes all of `bytes` at `offset`, however many calls that takes.
    @inline(__always)  // See Journal.acquire.
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: UInt64) throws(JournalError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = offset &+ UInt64(done)
            let count = try perform(.pwrite, descriptor: descriptor, offset: position, bytes: rest) { limit in
                pwrite(descriptor, rest.baseAddress, min(rest.count, limit), off_t(truncatingIfNeeded: position))
            }
            // A device that accepts nothing and reports no error would make this loop endless.
            guard count > 0 else { throw JournalError(.system(.pwrite, code: ENOSPC)) }
            done += count
        }
    }

    /// Reads up to `buffer.count` bytes at `offset`, fewer only at the end of the file.
    func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from descriptor: Int32,
        at offset: UInt64
    ) throws(JournalError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let position = off_t(truncatingIfNeeded: offset &+ UInt64(done))
            let count = try perform(.pread, descriptor: descriptor) { _ in
                pread(descriptor, rest.baseAddress, rest.count, position)
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads some words of a file, in the processor's byte order; words behind the file's end keep their value.
    func readWords<Words: BitwiseCopyable>(
        _ before: Words,
        from descriptor: Int32,
        at offset: UInt64
    ) throws(JournalError) -> Words {
        var words = before
        _ = try withUnsafeMutableBytes(of: &words) { bytes throws(JournalError) in
            try read(into: bytes, from: descriptor, at: offset)
        }
        return words
    }

    /// The size of an open file, for less than half the time of ``status(_:)``.
    func size(of descriptor: Int32) throws(JournalError) -> UInt64 {
        let size = try perform(.lseek, descriptor: descriptor) { _ in Int(lseek(descriptor, 0, SEEK_END)) }
        return UInt64(clamping: size)
    }

    /// The first offset from `offset` on that isn't in a hole of the file; nil when there is none.
    ///
    /// Bytes that aren't in a hole may be zeros all the same.
    func nextData(_ descriptor: Int32, from offset: UInt64) throws(JournalError) -> UInt64? {
        do throws(JournalError) {
            let data = try perform(.lseek, descriptor: descriptor, offset: offset) { _ in
                Int(lseek(descriptor, off_t(truncatingIfNeeded: offset), Self.seekData))
            }
            return max(UInt64(data), offset)
        } catch {
            // Not every file system knows its holes; ENXIO means that nothing but a hole follows.
            return error.code == ENXIO ? nil : offset
        }
    }

    // Not imported, since the C libraries declare it on request only.
    #if canImport(Darwin)
    private static let seekData: Int32 = 4
    #else
    private static let seekData: Int32 = 3
    #endif

    func truncate(_ descriptor: Int32, to size: UInt64) throws(JournalError) {
        try perform(.ftruncate, descriptor: descriptor, offset: size) { _ in
            Int(ftruncate(descriptor, off_t(truncatingIfNeeded: size)))
        }
    }

    /// Puts a file's content and metadata, or a directory's entries, on the disk; or the content, and no more of the
    /// metadata than is needed to read it back.
    func sync(_ descriptor: Int32, isDataOnly: Bool = false, name: String = "") throws(JournalError) {
        let call = isDataOnly ? SystemCall.fdatasync : .fsync
        try perform(call, descriptor: descriptor, name: name) { _ in
            #if canImport(Darwin)
            Self.fullSync(descriptor)
            #else
            Int(isDataOnly ? fdatasync(descriptor) : fsync(descriptor))
            #endif
        }
    }

    /// Puts the names in a directory on the disk.
    ///
    /// - Returns: The refusal of a file system that syncs files only, such as that of folders shared with a virtual
    ///   machine's host.
    @discardableResult
    func syncNames(in directory: Int32, name: String = ".") throws(JournalError) -> JournalError? {
        do throws(JournalError) {
            try sync(directory, name: name)
            return nil
        } catch  where error.code == EINVAL || error.code == ENOTSUP {
            return error
        }
    }

    #if canImport(Darwin)
    /// Flushes a file and the drive's cache, in which `fsync` alone leaves the data on Apple platforms (`man 2 fsync`).
    ///
    /// File systems that can't flush the drive's cache, such as those on a network, are flushed as far as they can. Any
    /// other refusal is an error.
    private static func fullSync(_ descriptor: Int32) -> Int {
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        return [ENOTSUP, EOPNOTSUPP, ENOTTY, EINVAL].contains(errno) ? Int(fsync(descriptor)) : -1
    }
    #endif

    /// Takes the exclusive lock of an open file or directory if it is free.
    func tryLock(_ descriptor: Int32) throws(JournalError) -> Bool {
        do throws(JournalError) {
            try perform(.flock, descriptor: descriptor) { _ in Int(flock(descriptor, LOCK_EX | LOCK_NB)) }
            return true
        } catch  where error.code == EWOULDBLOCK {
            return false
        }
    }

    /// Releases the lock, as closing the descriptor does.
    func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

    /// Takes a second lock of an open file if it is free, independent of the one of ``tryLock(_:)``.
    ///
    /// Returns nil where the system has no such lock: on some network file systems, and on Apple platforms.
    func tryEnterTurnstile(_ descriptor: Int32) -> Bool? {
        do throws(JournalError) {
            try perform(.fcntl, descriptor: descriptor) { _ in Int(default_lock_open_file(descriptor, true)) }
            return true
        } catch {
            return error.code == EAGAIN || error.code == EACCES ? false : nil
        }
    }

    func leaveTurnstile(_ descriptor: Int32) { _ = default_lock_open_file(descriptor, false) }

    /// Reserves memory for mapped parts of files; see ``MappedWindowPool``.
    func reserveGuardedMemory(_ size: Int) throws(JournalError) -> UInt {
        let address = try perform(.mmap) { _ in
            default_reserve_guarded_memory(size).map { Int(bitPattern: $0) } ?? -1
        }
        return UInt(bitPattern: address)
    }

    /// Maps a part of an open file for reading, shared with other processes, at an address of the ``MappedWindowPool``.
    func map(
        _ descriptor: Int32,
        from offset: UInt64,
        at memory: UnsafeMutableRawPointer,
        size: Int
    ) throws(JournalError) {
        try perform(.mmap, descriptor: descriptor, offset: offset) { _ in
            default_map_guarded(memory, size, descriptor, offset) ? 0 : -1
        }
    }

    #if os(Linux)
    func makeDirectoryEvents() throws(JournalError) -> OwnedDescriptor {
        let raw = try perform(.inotifyInit, name: ".") { _ in
            Int(inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        }
        return try ownedDescriptor(raw, named: ".")
    }

    /// Has an inotify descriptor report writes to an open directory's files, and new names in the directory.
    ///
    /// - Returns: The number of the directory; the same if it is watched already.
    func watch(_ directory: Int32, with events: Int32) throws(JournalError) -> Int32 {
        let number = try perform(.inotifyAddWatch, descriptor: directory, name: ".") { _ in
            // By its descriptor: its path may lead to another directory already.
            let mask = UInt32(IN_MODIFY) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE)
            return Int(inotify_add_watch(events, "/proc/self/fd/\(directory)", mask))
        }
        return Int32(truncatingIfNeeded: number)
    }
    #endif

    /// The memory of a ``Buffer``.
    static func allocate(_ count: Int) throws(JournalError) -> UnsafeMutableRawPointer {
        let memory =
            count < mappedSize ? malloc(count) : mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let memory, memory != MAP_FAILED else { throw JournalError(.system(.malloc, code: ENOMEM)) }
        return memory
    }

    private static let mappedSize = 1 << 16

    /// Frees the memory that ``allocate(_:)`` returned for the same size.
    static func deallocate(_ memory: UnsafeMutableRawPointer, count: Int) {
        if count < mappedSize { free(memory) } else { munmap(memory, count) }
    }

    /// Memory whose size a file may claim, so that a failure must not end the process; ``freeBlock(_:)`` needs no size.
    static func allocateBlock(_ count: Int) throws(JournalError) -> UnsafeMutableRawPointer {
        guard let memory = malloc(count) else { throw JournalError(.system(.malloc, code: ENOMEM)) }
        return memory
    }

    static func freeBlock(_ memory: UnsafeMutableRawPointer) { free(memory) }

    static func message(for code: Int32) -> String {
        // strerror_r has two forms; this buffer-free one is safe for the known codes, whose texts are constants.
        String(cString: strerror(code))
    }
}
#endif

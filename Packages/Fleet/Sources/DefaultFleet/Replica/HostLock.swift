internal import Foundation
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
#error("This system's file locks are unknown.")
#endif

/// Decides which of a host's processes follows the cluster, and lets the others know when it last heard from it.
///
/// The lock is a `flock`, which the system releases when the process ends, however it ends. The file's content is the
/// time of the last confirmation: in monotonic time, and so with the identity of the system's start.
final class HostLock: Sendable {
    private let path: String
    /// Whether nothing is created or changed.
    private let isReadOnly: Bool
    private let boot = SystemBoot.identity
    /// `flock` is called with it only: the lock is the descriptor's, so a thread that looks would release what another
    /// one acquired.
    private let state: Mutex<State>

    private struct State {
        var descriptor: Int32
        /// Whether this object has the lock.
        var isOwner = false
    }

    /// Opens the lock's file, and creates it if it doesn't exist, unless it is for reading only.
    ///
    /// - Throws: `POSIXError`.
    init(at path: String, isReadOnly: Bool = false) throws {
        self.path = path
        self.isReadOnly = isReadOnly
        state = Mutex(
            State(descriptor: try Self.openFile(at: path, O_CLOEXEC | (isReadOnly ? O_RDONLY : O_RDWR | O_CREAT)))
        )
    }

    deinit {
        // Also releases the lock.
        state.withLock { _ = close($0.descriptor) }
    }

    private static func openFile(at path: String, _ flags: Int32 = O_CLOEXEC | O_RDWR | O_CREAT) throws -> Int32 {
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return descriptor
    }

    /// Whether this object has the lock, in the file that the others look at.
    ///
    /// When the replica's directory was deleted or replaced, the lock in the earlier file keeps nobody out.
    var isAcquired: Bool { state.withLock { $0.isOwner && isInPlace($0.descriptor) } }

    private func isInPlace(_ descriptor: Int32) -> Bool {
        var (mine, present) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && stat(path, &present) == 0
            && mine.st_dev == present.st_dev && mine.st_ino == present.st_ino
    }

    /// Opens the file that is at the path now, if it is another one; its directory is created if it is missing.
    private func reopenIfReplaced(_ state: inout State) {
        guard !isReadOnly, !isInPlace(state.descriptor) else { return }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        // Where it can't be created, opening fails too, and is tried again soon.
        try? FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        if let descriptor = try? Self.openFile(at: path) {
            close(state.descriptor)
            state.descriptor = descriptor
        }
    }

    /// Acquires the lock, unless another process has it, or another thread with this object.
    func tryAcquire() -> Bool {
        state.withLock { state in
            guard !state.isOwner else { return false }
            reopenIfReplaced(&state)
            guard flock(state.descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
            state.isOwner = isInPlace(state.descriptor)
            if !state.isOwner {
                flock(state.descriptor, LOCK_UN)
            }
            return state.isOwner
        }
    }

    func release() {
        state.withLock { state in
            state.isOwner = false
            flock(state.descriptor, LOCK_UN)
        }
    }

    /// Whether any process has the lock.
    ///
    /// To find out, this takes it for a moment if it is free; a process that wants it then finds it taken, and tries
    /// again soon.
    var isHeld: Bool {
        state.withLock { state in
            guard !state.isOwner else { return isInPlace(state.descriptor) }
            reopenIfReplaced(&state)
            guard flock(state.descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
            flock(state.descriptor, LOCK_UN)
            return false
        }
    }

    /// Records that the replica was found to have everything that the cluster had some time ago.
    func confirm(asOf age: Duration) {
        let past = UInt64(max(0, age.seconds) * 1e9)
        let now = SystemBoot.nanoseconds
        var text = Array("\(now - min(now, past)) \(boot)\n".utf8)
        text += Array(repeating: UInt8(ascii: " "), count: max(0, 80 - text.count))
        // The time is needed for what `Freshness` says only. Where the disk is full, it says that the time is long ago.
        state.withLock { state in
            _ = text.withUnsafeBytes { pwrite(state.descriptor, $0.baseAddress, $0.count, 0) }
        }
    }

    /// How long ago the replica was last found to be current; nil if it wasn't since the system was started.
    var timeSinceConfirmation: Duration? {
        var buffer = [UInt8](repeating: 0, count: 80)
        let count = state.withLock { state in
            if !state.isOwner {
                reopenIfReplaced(&state)
            }
            return buffer.withUnsafeMutableBytes { pread(state.descriptor, $0.baseAddress, $0.count, 0) }
        }
        guard count > 0 else { return nil }
        let words = String(decoding: buffer[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let now = SystemBoot.nanoseconds
        guard words.count == 2, let then = UInt64(words[0]), words[1] == boot, then <= now else { return nil }
        return .nanoseconds(Int64(clamping: now - then))
    }
}

/// The system's start, since which monotonic time counts.
private enum SystemBoot {
    /// Nanoseconds since the start, those asleep included.
    static var nanoseconds: UInt64 {
        #if canImport(Darwin)
        return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)
        #else
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        #endif
    }

    /// Another one after each start; a fixed word where the system has none.
    static var identity: String {
        #if canImport(Darwin)
        var buffer = [CChar](repeating: 0, count: 64)
        var count = buffer.count
        guard sysctlbyname("kern.bootsessionuuid", &buffer, &count, nil, 0) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
            return "unknown"
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
    }
}

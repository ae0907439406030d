#if !(canImport(Darwin) || canImport(Glibc) || canImport(Musl))
internal import CDefaultSystem
#if canImport(Android)
package import Android
#elseif canImport(CRT)
package import CRT
#elseif canImport(WASILibc)
package import WASILibc
#endif
internal import Synchronization

// The declarations of FileStatus.swift, SystemCalls.swift, SystemErrors.swift and Threads.swift, for systems on which
// the engine doesn't run. Locks and the current thread work there. Every other call throws, so that no suite is ever
// opened. `.ci/run ports` builds and runs this form on Linux, and type-checks it for Windows and WASI. A port replaces
// this file, and needs:
//
// - a C library with `openat`, `renameat`, `pread`, `pwrite`, `fsync`, `fstat` with nanoseconds, `mmap` and threads,
//   an exclusive lock of a file that ends with its process, and what the C target asks of signals;
// - `rename` and a lock that hold for what a suite is stored on, and a directory for suites in `SuiteLocation`;
// - the tests on the system itself, those with `SIGKILL` included.
//
// Android has all of these functions. What to look at there first:
//
// - `import Android` beside Glibc and Musl in `Platform`, and the conditions beside it. `os(Linux)` doesn't include
//   Android: the coarse clocks, `inotify`, `/proc/locks`. Its headers state what may be null, so `baseAddress` needs
//   unwrapping before a call;
// - what apps may read of `/proc`. Without `/proc/self/fd` no directory can be watched, and without `/proc/locks`
//   `JournalError.Kind.busy` names no process;
// - `flock` and mapped files on the internal storage. Shared storage is behind FUSE, and no place for a suite;
// - apps have no home directory, so the app has to pass one before there can be a standard store.

struct OwnedDescriptor: ~Copyable {
    let raw: Int32

    static var none: OwnedDescriptor { OwnedDescriptor(raw: -1) }
}

struct FileStatus {
    let device, inode, links, size, changed, modified: UInt64
    let owner, group: UInt32
    let isRegular, isDirectory, isLink, isWritableByOwner, isWritableByGroup, isWritableByOthers, isSticky: Bool

    func allowsOwner(_: UInt16) -> Bool { false }
}

package struct SystemCalls: Sendable {
    enum Access { case read, readWrite, create, createNew, directory, linkedFile, linkedDirectory }
    typealias Bytes = UnsafeRawBufferPointer

    package init() {}

    static var user: UInt32 { 0 }
    static var process: Int32 { 0 }
    var fileTime: UInt64 { 0 }

    func open(_: String, in _: Int32? = nil, _: Access) throws(JournalError) -> OwnedDescriptor { throw .unsupported }
    func status(_: Int32) throws(JournalError) -> FileStatus { throw .unsupported }
    func status(of _: String, in _: Int32? = nil, followsLinks _: Bool = false) throws(JournalError) -> FileStatus? {
        throw .unsupported
    }
    func target(ofLink _: String) throws(JournalError) -> String { throw .unsupported }
    func allowOwner(_: Int32) throws(JournalError) { throw .unsupported }
    static func name(ofUser _: UInt32) -> String { "another user" }
    func makeDirectory(_: String) throws(JournalError) { throw .unsupported }
    func rename(_: String, to _: String, in _: Int32) throws(JournalError) { throw .unsupported }
    func unlink(_: String, in _: Int32? = nil, isDirectory: Bool = false) throws(JournalError) { throw .unsupported }
    func names(in _: Int32) throws(JournalError) -> [String] { throw .unsupported }
    func currentDirectory() throws(JournalError) -> String { throw .unsupported }
    func write(_: Bytes, to _: Int32, at _: UInt64) throws(JournalError) { throw .unsupported }
    func read(into _: UnsafeMutableRawBufferPointer, from _: Int32, at _: UInt64) throws(JournalError) -> Int {
        throw .unsupported
    }
    func readWords<Words>(_: Words, from _: Int32, at _: UInt64) throws(JournalError) -> Words { throw .unsupported }
    func size(of _: Int32) throws(JournalError) -> UInt64 { throw .unsupported }
    func nextData(_: Int32, from _: UInt64) throws(JournalError) -> UInt64? { throw .unsupported }
    func truncate(_: Int32, to _: UInt64) throws(JournalError) { throw .unsupported }
    func sync(_: Int32, isDataOnly: Bool = false, name _: String = "") throws(JournalError) { throw .unsupported }
    @discardableResult
    func syncNames(in _: Int32, name _: String = "") throws(JournalError) -> JournalError? { throw .unsupported }
    func tryLock(_: Int32) throws(JournalError) -> Bool { throw .unsupported }
    func tryEnterTurnstile(_: Int32) -> Bool? { nil }
    func leaveTurnstile(_: Int32) {}
    func unlock(_: Int32) {}
    func reserveGuardedMemory(_: Int) throws(JournalError) -> UInt { throw .unsupported }
    func map(_: Int32, from _: UInt64, at _: UnsafeMutableRawPointer, size: Int) throws(JournalError) {
        throw .unsupported
    }
    static func allocate(_: Int) throws(JournalError) -> UnsafeMutableRawPointer { throw .unsupported }
    static func deallocate(_: UnsafeMutableRawPointer, count: Int) {}
    static func allocateBlock(_ count: Int) throws(JournalError) -> UnsafeMutableRawPointer {
        .allocate(byteCount: count, alignment: 8)
    }
    static func freeBlock(_ memory: UnsafeMutableRawPointer) { memory.deallocate() }
    static let notFound: Int32 = 0
    static func message(for _: Int32) -> String { "FileDefaults doesn't run on this system" }
    static func advice(for _: Int32, of _: SystemCall? = nil) -> String {
        "Nothing was stored; use a MemoryDefaults, or a store of your own."
    }
}

extension JournalError {
    fileprivate static var unsupported: JournalError { JournalError(.system(.open, code: 0)) }

    package var systemErrorCode: POSIXErrorCode? { nil }
    package var isReadOnlyDisk: Bool { false }
    package var isUnusablePlace: Bool { false }
    var isReadOnlyPlace: Bool { false }
    var isUnlockable: Bool { false }
    var isNotFound: Bool { false }
    var isExisting: Bool { false }
    var isDirectory: Bool { false }
    var isWrongType: Bool { false }
    static func noPermission(path: String) -> JournalError { unsupported }
}

/// A mutex that the thread that holds it may take again, out of the standard library's, which all versions of these
/// systems have.
public final class ThreadLock: @unchecked Sendable {
    private let mutex = Mutex(())
    private let owner = Atomic<UInt>(0)
    // Used by the owner only.
    private var depth = 0

    /// - Parameter isRecursive: Without a meaning, since every lock is.
    public init(isRecursive: Bool = false) {}

    /// Waits for the lock and takes it.
    public func lock() {
        if owner.load() != Threads.current {
            mutex._unsafeLock()
            owner.store(Threads.current)
        }
        depth += 1
    }

    /// Releases the lock; called by the thread that has it.
    public func unlock() {
        depth -= 1
        if depth == 0 {
            owner.store(0)
            mutex._unsafeUnlock()
        }
    }

    package var isHeldByThisThread: Bool { owner.load() == Threads.current }

    func tryLock() -> Bool { false }
    func lockSpinning() { lock() }
}

final class ThreadCondition: Sendable {
    func signal() {}
    func broadcast() {}
    func wait(_: ThreadLock, until _: UInt64? = nil) {}
}

package enum Threads {
    package static var current: UInt { default_current_thread() }
    static var processor: Int { Int(default_processor_number()) }

    static func sleep(nanoseconds: UInt64) {}
    static func yield() {}
    static func name(_: String) {}
    static func start(_: @Sendable () -> Void) -> Int32 { -1 }
}

enum Clock {
    static func monotonic() -> UInt64 { 0 }
    static func monotonicTick() -> UInt64 { 0 }
    static func stamp() -> String { "" }
}
#endif

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
internal import CDefaultSystem
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A file descriptor that is closed at the end of its lifetime, and in children made with `fork`.
struct OwnedDescriptor: ~Copyable {
    let raw: Int32
    private let forkCount = ForkCount.current

    static var none: OwnedDescriptor { OwnedDescriptor(raw: -1) }

    init(raw: Int32) {
        self.raw = raw
        default_own_descriptor(raw)
    }

    deinit {
        // An error needs no handling: the descriptor is closed in any case, and all that has to be on the disk was
        // synced before. In a child, the number of a parent's descriptor may be that of another file by now.
        if raw >= 0, forkCount == ForkCount.current { default_close_descriptor(raw) }
    }
}

/// The result of `fstat` and `stat`, as far as the engine needs it.
struct FileStatus {
    var device: UInt64
    var inode: UInt64
    var links: UInt64
    var size: UInt64
    var owner: UInt32
    var group: UInt32
    private var mode: UInt32
    /// Time of the last change of the inode, in nanoseconds since 1970.
    var changed: UInt64
    /// Time of the last change of the content, in the same unit.
    var modified: UInt64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        links = UInt64(truncatingIfNeeded: status.st_nlink)
        size = UInt64(clamping: status.st_size)
        owner = status.st_uid
        group = status.st_gid
        mode = UInt32(status.st_mode)
        #if canImport(Darwin)
        changed = Clock.nanoseconds(status.st_ctimespec)
        modified = Clock.nanoseconds(status.st_mtimespec)
        #else
        changed = Clock.nanoseconds(status.st_ctim)
        modified = Clock.nanoseconds(status.st_mtim)
        #endif
    }

    var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
    var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
    var isLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
    var isWritableByOwner: Bool { mode & 0o200 != 0 }
    var isWritableByGroup: Bool { mode & 0o020 != 0 }
    var isWritableByOthers: Bool { mode & 0o002 != 0 }
    /// Whether a name in a directory can be changed by the owner of its file and of the directory only, as in `/tmp`.
    var isSticky: Bool { mode & UInt32(S_ISVTX) != 0 }

    /// Whether the owner has these permissions.
    func allowsOwner(_ permissions: UInt16) -> Bool { mode & UInt32(permissions) == UInt32(permissions) }
}
#endif

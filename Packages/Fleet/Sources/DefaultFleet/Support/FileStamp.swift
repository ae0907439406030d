#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
#error("This system's files are unknown.")
#endif

/// What files were at a moment; another one when one of them was changed or replaced.
struct FileStamp: Hashable, Sendable {
    private let files: [File?]

    private struct File: Hashable {
        let device, inode, size, seconds, nanoseconds: Int64
    }

    init(of paths: [String?]) {
        files = paths.map { path in
            var found = stat()
            guard let path, stat(path, &found) == 0 else { return nil }
            #if canImport(Darwin)
            let time = found.st_mtimespec
            #else
            let time = found.st_mtim
            #endif
            return File(
                device: Int64(truncatingIfNeeded: found.st_dev),
                inode: Int64(truncatingIfNeeded: found.st_ino),
                size: Int64(found.st_size),
                seconds: Int64(time.tv_sec),
                nanoseconds: Int64(time.tv_nsec)
            )
        }
    }
}

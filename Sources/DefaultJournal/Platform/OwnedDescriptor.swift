#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A file descriptor that is closed when its owner goes away, on every path out.
struct OwnedDescriptor: ~Copyable {
    let raw: Int32

    init(_ raw: Int32) {
        self.raw = raw
    }

    /// Stands for no file.
    static var none: OwnedDescriptor { OwnedDescriptor(-1) }

    deinit {
        guard raw >= 0 else { return }
        // Nothing useful can be done about an error: on Linux the descriptor is gone in any case, and what had to reach
        // the disk was synchronized before.
        _ = close(raw)
    }
}

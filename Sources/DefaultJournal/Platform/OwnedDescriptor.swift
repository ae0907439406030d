#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A file descriptor that is closed at the end of its lifetime.
struct OwnedDescriptor: ~Copyable {
    let raw: Int32

    init(_ raw: Int32) {
        self.raw = raw
    }

    /// No file.
    static var none: OwnedDescriptor { OwnedDescriptor(-1) }

    deinit {
        guard raw >= 0 else { return }
        // An error needs no handling: on Linux the descriptor is closed in any case, and data that has to be on the disk
        // was synchronized before.
        _ = close(raw)
    }
}

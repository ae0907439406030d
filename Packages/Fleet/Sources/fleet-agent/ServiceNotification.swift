#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Foundation

/// Notifies systemd of what the service does, if it has started the process.
///
/// https://www.freedesktop.org/software/systemd/man/sd_notify.html
enum ServiceNotification {
    /// Sends lines like `READY=1` to the socket that `NOTIFY_SOCKET` names; nothing happens without it.
    static func send(_ text: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard let first = bytes.first, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        if first == UInt8(ascii: "@") {
            // A name that is no file.
            bytes[0] = 0
        }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        withUnsafeMutableBytes(of: &address) { $0[offset...].copyBytes(from: bytes) }
        #if os(Linux)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // The agent goes on when the service manager doesn't listen.
                sendto(descriptor, text, text.utf8.count, 0, address, socklen_t(offset + bytes.count))
            }
        }
    }
}

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Who has a file lock.
enum LockHolder {
    /// The process that has the `flock` of an open file; nil where the system does not name it.
    ///
    /// Linux names it in `/proc/locks`. Some file systems have another device number there, and processes of other containers have none.
    static func process(of descriptor: Int32) -> Int32? {
        #if os(Linux)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let device = UInt64(truncatingIfNeeded: status.st_dev)
        // As the kernel's `MAJOR` and `MINOR`, of what glibc's `gnu_dev_major` and `gnu_dev_minor` decode.
        let major = (device >> 8) & 0xFFF | (device >> 32) & 0xFFFF_F000
        let minor = device & 0xFF | (device >> 12) & 0xFFFF_FF00
        // As the kernel prints it, with at least two digits.
        func twoDigits(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
        let place = "\(twoDigits(major)):\(twoDigits(minor)):\(status.st_ino)"
        let file = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0, text.count < 1 << 20 else { break }
            text += buffer[..<count]
        }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            // 7: FLOCK  ADVISORY  WRITE 4242 fe:01:393217 0 EOF
            let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5] == place, let process = Int32(fields[4]),
                process > 0
            else { continue }
            return process
        }
        #endif
        return nil
    }
}

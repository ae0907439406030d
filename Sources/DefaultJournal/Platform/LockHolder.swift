/// The process that is in the way, for messages.
enum LockHolder {
    /// The process that has the `flock` of an open file; nil where the system does not name it.
    ///
    /// Linux names it in `/proc/locks`. Some file systems have another device number there, and processes of other
    /// containers have none.
    static func process(of descriptor: Int32) -> Int32? {
        #if os(Linux)
        do throws(JournalError) {
            return try find(descriptor, SystemCalls())
        } catch {
            return nil
        }
        #else
        return nil
        #endif
    }

    private static func find(_ descriptor: Int32, _ calls: SystemCalls) throws(JournalError) -> Int32? {
        let status = try calls.status(descriptor)
        // The kernel's `MAJOR` and `MINOR`, decoded as in glibc's `gnu_dev_major` and `gnu_dev_minor`.
        let major = (status.device >> 8) & 0xFFF | (status.device >> 32) & 0xFFFF_F000
        let minor = status.device & 0xFF | (status.device >> 12) & 0xFFFF_FF00
        // As the kernel prints it, with at least two digits.
        func twoDigits(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
        let place = "\(twoDigits(major)):\(twoDigits(minor)):\(status.inode)"
        let file = try calls.open("/proc/locks", .read)
        let buffer = try Buffer(capacity: 1 << 20)
        let memory = UnsafeMutableRawBufferPointer(start: buffer.memory, count: buffer.capacity)
        let count = try calls.read(into: memory, from: file.raw, at: 0)
        // 7: FLOCK  ADVISORY  WRITE 4242 fe:01:393217 0 EOF
        var fields = [""]
        for byte in UnsafeRawBufferPointer(start: buffer.memory, count: count) {
            switch byte {
            case UInt8(ascii: " "):
                if fields.last != "" { fields.append("") }
            case UInt8(ascii: "\n"):
                if fields.count > 5, fields[1] == "FLOCK", fields[5] == place { return process(fields[4]) }
                fields = [""]
            default:
                fields[fields.count - 1].unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return nil
    }

    /// A number; nil if it isn't positive, as that of a process of another container.
    private static func process(_ text: String) -> Int32? {
        var number: Int32 = 0
        for digit in text.utf8 { number = number &* 10 &+ Int32(digit) - 48 }
        return number > 0 ? number : nil
    }
}

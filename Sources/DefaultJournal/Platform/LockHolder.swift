enum LockHolder {
    /// The process that has the `flock` of an open file; nil where the system does not name it.
    ///
    /// Linux names it in `/proc/locks`. Some file systems have another device number there, and processes of other containers have none.
    static func process(of descriptor: Int32) -> Int32? {
        #if os(Linux)
        do throws(JournalError) { return try find(descriptor, SystemCalls()) } catch {}
        #endif
        return nil
    }

    private static func find(_ descriptor: Int32, _ calls: SystemCalls) throws(JournalError) -> Int32? {
        let status = try calls.status(descriptor)
        // As the kernel's `MAJOR` and `MINOR`, of what glibc's `gnu_dev_major` and `gnu_dev_minor` decode.
        let major = (status.device >> 8) & 0xFFF | (status.device >> 32) & 0xFFFF_F000
        let minor = status.device & 0xFF | (status.device >> 12) & 0xFFFF_FF00
        // As the kernel prints it, with at least two digits.
        func twoDigits(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
        let place = "\(twoDigits(major)):\(twoDigits(minor)):\(status.inode)"
        let file = try calls.open("/proc/locks", .read)
        let buffer = try Buffer(capacity: 1 << 20)
        let memory = UnsafeMutableRawBufferPointer(start: buffer.memory, count: buffer.capacity)
        let text = memory[..<(try calls.read(into: memory, from: file.raw, at: 0))]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            // 7: FLOCK  ADVISORY  WRITE 4242 fe:01:393217 0 EOF
            let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5] == place, let process = Int32(fields[4]),
                process > 0
            else { continue }
            return process
        }
        return nil
    }
}

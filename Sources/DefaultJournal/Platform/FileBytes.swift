/// A part of a file, read into memory of its own, which is freed with it.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private let isMapped: Bool
    let count: Int

    /// From this size on, what is needed again and again comes from the system and goes back there.
    private static let minimumMapped = 1 << 18

    /// Reads the range, or as much of it as there is.
    ///
    /// - Parameters:
    ///   - range: The range.
    ///   - descriptor: The file.
    ///   - isRepeated: Whether the program will do so again and again, as compactions do: allocators keep much of what is
    ///     freed, and a suite must not take several times its size for good. It takes a little longer.
    ///   - calls: The system calls.
    ///   - path: The file, for errors.
    /// - Throws: The system call that failed, or that there is no memory.
    init(
        reading range: Range<UInt64>,
        of descriptor: Int32,
        isRepeated: Bool = false,
        calls: SystemCalls,
        path: @autoclosure () -> String
    ) throws(JournalError) {
        let wanted = Int(clamping: range.upperBound - range.lowerBound)
        let isMapped = isRepeated && wanted >= Self.minimumMapped
        let memory = try SystemCalls.allocate(wanted, isMapped: isMapped, path: path())
        let target = UnsafeMutableRawBufferPointer(start: memory, count: wanted)
        do throws(JournalError) {
            count = try calls.read(into: target, from: descriptor, at: range.lowerBound, path: path())
        } catch {
            SystemCalls.deallocate(memory, count: wanted, isMapped: isMapped)
            throw error
        }
        self.memory = memory
        self.isMapped = isMapped
        capacity = wanted
    }

    /// The bytes; not to be used after the owner is gone.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// The bytes from `offset` on, none if there are fewer.
    func buffer(from offset: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[min(offset, count)...])
    }

    deinit {
        SystemCalls.deallocate(memory, count: capacity, isMapped: isMapped)
    }
}

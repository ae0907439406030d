/// A part of a file, read into memory that it owns.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private let isMapped: Bool
    let count: Int

    /// From this size on, memory for repeated reads is mapped and unmapped.
    private static let minimumMapped = 1 << 18

    /// Reads the range, or as much of it as the file has.
    ///
    /// - Parameters:
    ///   - range: The range.
    ///   - descriptor: The file.
    ///   - isRepeated: Whether the program reads repeatedly, as compactions do: allocators retain much of what is freed, and
    ///     a suite must not occupy several times its size permanently. This is a little slower.
    ///   - calls: The system calls.
    ///   - path: The file, for errors.
    /// - Throws: The system call that failed, which may be the allocation.
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

    /// The bytes; not to be used after the owner's lifetime.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// The bytes from `offset` on, none if there are fewer.
    func buffer(from offset: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[min(offset, count)...])
    }

    deinit {
        SystemCalls.deallocate(memory, count: capacity, isMapped: isMapped)
    }
}

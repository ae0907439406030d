/// A part of a file, read into memory of its own, which is freed with it.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    let count: Int

    /// Reads the range, or as much of it as there is.
    init(
        reading range: Range<UInt64>,
        of descriptor: Int32,
        calls: SystemCalls,
        path: @autoclosure () -> String
    ) throws(JournalError) {
        let wanted = Int(clamping: range.upperBound - range.lowerBound)
        let memory = try SystemCalls.allocate(wanted, path: path())
        let target = UnsafeMutableRawBufferPointer(start: memory, count: wanted)
        do throws(JournalError) {
            count = try calls.read(into: target, from: descriptor, at: range.lowerBound, path: path())
        } catch {
            SystemCalls.deallocate(memory, count: wanted)
            throw error
        }
        self.memory = memory
        capacity = wanted
    }

    /// The bytes; not to be used after the owner is gone.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// The bytes from `offset` on, none if there are fewer.
    func buffer(from offset: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[min(offset, count)...])
    }

    deinit {
        SystemCalls.deallocate(memory, count: capacity)
    }
}

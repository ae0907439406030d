/// Memory for the content of files.
///
/// A file's size can't be trusted, so a failed allocation must not end the process. A large buffer is returned to the
/// system when it is freed.
struct Buffer: ~Copyable {
    private(set) var memory: UnsafeMutableRawPointer
    private(set) var capacity: Int

    init(capacity: Int) throws(JournalError) {
        memory = try SystemCalls.allocate(capacity)
        self.capacity = capacity
    }

    mutating func resize(to capacity: Int) throws(JournalError) {
        guard capacity != self.capacity else { return }
        let new = try SystemCalls.allocate(capacity)
        SystemCalls.deallocate(memory, count: self.capacity)
        memory = new
        self.capacity = capacity
    }

    deinit { SystemCalls.deallocate(memory, count: capacity) }
}

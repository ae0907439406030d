/// Memory for the content of files.
///
/// A file's size can't be trusted, so a failure must not end the process. Freeing much of it returns it to the system.
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
        (memory, self.capacity) = (new, capacity)
    }

    deinit { SystemCalls.deallocate(memory, count: capacity) }
}

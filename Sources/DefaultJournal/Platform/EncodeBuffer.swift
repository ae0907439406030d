/// Memory in which records are encoded, reused for each of them.
struct EncodeBuffer: ~Copyable {
    private(set) var memory: UnsafeMutableRawPointer
    private var capacity: Int

    /// A buffer that an unusually long record made larger than this is freed after use.
    private static let keptCapacity = 1 << 18

    init() {
        capacity = 4096
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Makes room for `count` bytes; the buffer's content is lost.
    mutating func reserve(_ count: Int) {
        if count > capacity { resize(to: count) }
    }

    /// Frees an unusually large buffer.
    mutating func trim() {
        if capacity > Self.keptCapacity { resize(to: 4096) }
    }

    private mutating func resize(to count: Int) {
        memory.deallocate()
        capacity = count
        memory = .allocate(byteCount: count, alignment: 16)
    }

    deinit { memory.deallocate() }
}

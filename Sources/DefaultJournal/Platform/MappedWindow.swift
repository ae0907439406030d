internal import CDefaultSystem

/// A part of a file that is mapped, to read one word of it at a time.
///
/// Where the file has become too short, the words read as ones.
struct MappedWindow: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private var base: UInt64 = .max
    /// Whether nothing is mapped of the file: its file system refuses, or a mapping wouldn't show each write
    /// immediately.
    private var isRefused = false
    private let forkCount = ForkCount.current

    /// Bytes that are mapped together: a multiple of the page size of every supported system.
    static let size: UInt64 = 1 << 16

    init(calls: SystemCalls) throws(JournalError) { memory = try MappedWindowPool.shared.reserve(calls: calls) }

    deinit {
        // A child made with `fork` reserves its own addresses, and those of its parent are not guarded in it.
        if forkCount == ForkCount.current { MappedWindowPool.shared.release(memory) }
    }

    /// The word at an offset of a file, a multiple of 8, as it is in the file whenever it is loaded, until the next
    /// call.
    ///
    /// After ``renew()`` the file may be another one.
    ///
    /// - Returns: nil if the file can't be mapped.
    mutating func word(at offset: UInt64, of file: Int32, calls: SystemCalls) -> AtomicWord? {
        let part = offset - offset % Self.size
        if part != base, !isRefused { map(part, of: file, calls: calls) }
        guard part == base else { return nil }
        return AtomicWord((memory + Int(offset - part)).assumingMemoryBound(to: UInt64.self))
    }

    /// The address of some bytes at an offset, if they are in the part that is mapped.
    func address(of offset: UInt64, count: UInt64) -> UnsafeRawPointer? {
        guard base != .max, offset >= base, offset + count <= base + Self.size else { return nil }
        return UnsafeRawPointer(memory + Int(offset - base))
    }

    private mutating func map(_ part: UInt64, of file: Int32, calls: SystemCalls) {
        // A window that has shown one part is of a file that has coherent mappings.
        isRefused = base == .max && !default_has_coherent_mappings(file)
        guard !isRefused else { return }
        do throws(JournalError) {
            try calls.map(file, from: part, at: memory, size: Int(Self.size))
            base = part
        } catch {
            isRefused = true
        }
    }

    /// Has the next call of ``word(at:of:calls:)`` map the file again: a page that it once lacked stays as it is
    /// otherwise.
    mutating func renew() {
        base = .max
        isRefused = false
    }
}

internal import CDefaultSystem

/// A part of a file, mapped for reading, in which one word at a time is looked at.
///
/// Where the file has become too short, the words read as ones.
struct LookWindow: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private var base: UInt64 = .max
    /// Whether nothing is mapped of the file: its file system refuses, or a mapping wouldn't show each write at once.
    private var isRefused = false
    private let forkCount = ForkCount.current

    /// Bytes that are mapped at once: a multiple of the page size of every supported system.
    static let size: UInt64 = 1 << 16

    init(calls: SystemCalls) throws(JournalError) { memory = try GuardedPages.shared.reserve(calls: calls) }

    deinit {
        // A child made with `fork` reserves addresses of its own, and those of its parent are not guarded in it.
        if forkCount == ForkCount.current { GuardedPages.shared.release(memory) }
    }

    /// The word at an offset of a file, a multiple of 8, as it is in the file whenever it is loaded, until the next
    /// call.
    ///
    /// After ``renew()`` the file may be another one.
    ///
    /// - Returns: nil if the file can't be looked at in this way.
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

/// Addresses for mapped parts of files that other programs may shorten at any time.
///
/// Reading a page that its file lacks would end the process with SIGBUS. A page that is mapped here reads as ones from
/// then on instead, until it is mapped again. The first one sets the process's handler of SIGBUS; it passes on what
/// isn't about these pages.
final class GuardedPages: Sendable {
    static let ofProcess = PerProcess { GuardedPages() }

    static var shared: GuardedPages { ofProcess.current }

    /// Addresses of windows without a mapping.
    private let free = Guarded<[UInt]>([])
    /// Windows whose addresses are reserved at once.
    private static let batch = 128

    /// An address for ``SystemCalls/map(_:from:at:size:)``, where ones are mapped until then.
    func reserve(calls: SystemCalls) throws(JournalError) -> UnsafeMutableRawPointer {
        let size = UInt(LookWindow.size)
        let address = try free.withLock { free throws(JournalError) -> UInt in
            if let address = free.popLast() { return address }
            let begin = try calls.reserveGuardedMemory(Self.batch * Int(size))
            free = (1..<UInt(Self.batch)).reversed().map { begin + $0 * size }
            return begin
        }
        guard let memory = UnsafeMutableRawPointer(bitPattern: address) else { throw JournalError(.unstable) }
        return memory
    }

    /// Ends the mapping of a window and frees its address.
    func release(_ memory: UnsafeMutableRawPointer) {
        // If the system refuses, the file stays mapped until the address is used again.
        _ = default_map_ones(memory, Int(LookWindow.size))
        free.withLock { $0.append(UInt(bitPattern: memory)) }
    }
}

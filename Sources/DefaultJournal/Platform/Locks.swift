/// A value behind a lock.
///
/// As the standard library's `Mutex`, but with the platform's mutex, which the thread sanitizer understands. Public for
/// the same reason as ``Atomic``: specialized, its uses in the layer above take 8 KB less.
public final class Guarded<Value>: @unchecked Sendable {
    // `value` is used under `lock` only, which also excludes overlapping accesses. Leaving the dynamic check for those
    // out takes 775 instead of 896 instructions for a look-up in a MemoryDefaults.
    @usableFromInline let lock = ThreadLock()
    @usableFromInline @exclusivity(unchecked) var value: Value

    /// - Parameter value: The first value.
    @inlinable public init(_ value: Value) { self.value = value }

    /// Calls a body that may change the value, with the lock.
    ///
    /// - Throws: What the body throws.
    @inlinable public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result)
        throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// The value, unless a thread has the lock.
    public func copyIfFree() -> Value? {
        guard lock.tryLock() else { return nil }
        defer { lock.unlock() }
        return value
    }

    /// Replaces the value, and returns the one before.
    @inlinable public func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}

/// A lock that readers share, for many short reads on several processors.
///
/// The cache line of a mutex, or of a single count of readers, would move between processors with each look-up, which
/// takes longer than the look-up. Here each processor counts its readers in a slot of its own, and only a writer checks
/// all slots. This is known as a distributed or "big-reader" lock.
///
/// Readers never wait for each other. They must be short, since a writer spins while it waits for them.
package final class SharedLock: @unchecked Sendable {
    private static let slotCount = 16
    /// Two cache lines: processors fetch them in pairs.
    private static let stride = 128

    private let writerMutex = ThreadLock()
    // The counts of readers, then the writer's word; only atomic operations access them.
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: (slotCount + 1) * stride, alignment: stride)

    package init() {
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: (Self.slotCount + 1) * Self.stride)
    }

    deinit { memory.deallocate() }

    private func word(_ index: Int) -> AtomicWord {
        AtomicWord((memory + index &* Self.stride).assumingMemoryBound(to: UInt64.self))
    }

    /// Not 0 while a writer has the lock or waits for readers.
    private var writerActive: AtomicWord { word(Self.slotCount) }

    private var haveReaders: Bool {
        for index in 0..<Self.slotCount where word(index).load() != 0 { return true }
        return false
    }

    static func slot(ofProcessor number: Int) -> Int { number % slotCount }

    /// Takes the lock exclusively.
    package func lock() {
        writerMutex.lock()
        // New readers are refused from here on, and earlier ones are waited for. Both sides store before they load, so
        // at least one of them sees the other.
        writerActive.store(1)
        var rounds = 0
        while haveReaders {
            rounds += 1
            // A preempted reader may need the processor of a thread with higher priority, such as this one.
            if rounds < 1_000 { Threads.yield() } else { Threads.sleep(nanoseconds: 100_000) }
        }
    }

    package func unlock() {
        writerActive.store(0)
        writerMutex.unlock()
    }

    func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Takes the lock for reading, or exclusively if a writer is active; returns the slot for ``unlockShared(_:)``.
    package func lockShared() -> Int? {
        if let slot = tryLockShared() { return slot }
        lock()
        return nil
    }

    package func unlockShared(_ slot: Int?) {
        if let slot { word(slot).wrappingAdd(0 &- 1) } else { unlock() }
    }

    /// The same, unless a writer is active: then it returns nil.
    func tryLockShared() -> Int? {
        let slot = Self.slot(ofProcessor: Threads.processor)
        word(slot).wrappingAdd(1)
        if writerActive.load() == 0 { return slot }
        word(slot).wrappingAdd(0 &- 1)
        return nil
    }
}

/// How long a thread may still wait for another process.
struct LockWait {
    private let start = Clock.monotonic()
    let limit: UInt64

    /// Nanoseconds since it began.
    var time: UInt64 { Clock.monotonic() - start }

    /// Nanoseconds to sleep before the next attempt, at most so many; nil when the time is over.
    func pause(atMost longest: UInt64) -> UInt64? {
        let time = time
        return time < limit ? min(limit - time, longest) : nil
    }
}

enum LockHolder {
    /// The process that has the `flock` of an open file; nil where the system does not name it.
    ///
    /// Linux names it in `/proc/locks`. Some file systems have another device number there, and processes of other
    /// containers have none.
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

import Foundation
import Testing

@testable import DefaultJournal

@Suite("The platform's layer")
struct PlatformTests {
    private let directory = TemporaryDirectory()

    @Test("finds a text wherever it is in bytes, and no text that isn't there as a whole")
    func texts() {
        func contains(_ text: String, _ bytes: String) -> Bool {
            Array(bytes.utf8).withUnsafeBytes { ByteSearch.contains(text, in: $0) }
        }
        for bytes in ["abc", "abcd", "xabc", "aabc", "ababc", "ab abc ab"] { #expect(contains("abc", bytes)) }
        for bytes in ["", "ab", "abab", "acb", "bca", "abd"] { #expect(!contains("abc", bytes)) }
        #expect(contains("a", "a") && contains("c", "abc") && !contains("d", "abc"))
        // An empty text is never found.
        #expect(!contains("", "abc") && !contains("", ""))
        #expect(!ByteSearch.contains("a", in: UnsafeRawBufferPointer(start: nil, count: 0)))
    }

    @Test("finds a byte, and knows what is zeros and what is the same")
    func bytes() {
        func with<Result>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            bytes.withUnsafeBytes { body($0) }
        }
        for index in 0..<3 {
            var bytes: [UInt8] = [0, 0, 0]
            bytes[index] = 7
            #expect(with(bytes) { ByteSearch.contains(7, in: $0) && !ByteSearch.contains(8, in: $0) })
            #expect(!with(bytes) { ByteSearch.isZero($0) })
        }
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(!ByteSearch.contains(0, in: nothing) && ByteSearch.isZero(nothing))
        #expect(ByteSearch.isSame(nothing, nothing))
        #expect(with([0]) { ByteSearch.isZero($0) } && with([0, 0, 0]) { ByteSearch.isZero($0) })
        #expect(!with([1]) { ByteSearch.isZero($0) } && !with([1, 1]) { ByteSearch.isZero($0) })
        with([1, 2, 3, 1, 2, 4]) { all in
            func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: all[range]) }
            #expect(ByteSearch.isSame(part(0..<2), part(3..<5)))
            if let start = all.baseAddress {
                #expect(ByteSearch.isSame(start, start + 3, count: 2) && !ByteSearch.isSame(start, start + 3, count: 3))
            }
            #expect(!ByteSearch.isSame(part(0..<3), part(3..<6)))
            #expect(!ByteSearch.isSame(part(0..<2), part(3..<6)) && !ByteSearch.isSame(part(0..<3), part(3..<5)))
            #expect(!ByteSearch.isSame(part(0..<1), nothing))
        }
    }

    @Test("sorts by an order, and leaves what is equal in it as it is")
    func order() {
        let values = [3, 11, 2, 13, 12, 1]
        #expect(positions(6) { values[$0] / 10 < values[$1] / 10 } == [0, 2, 5, 1, 3, 4])
    }

    @Test("changes values that threads share, and returns those that were there before")
    func shared() {
        let flag = Atomic<Bool>(false)
        let flags = [flag.exchange(true), flag.exchange(true), flag.load(), flag.exchange(false), flag.load()]
        #expect(flags == [false, true, true, true, false])
        let number = Atomic<Int>(-1)
        number.wrappingAdd(3)
        let before = number.exchange(-5)
        number.wrappingAdd(-1)
        let after = number.load()
        #expect(before == 2 && after == -6)
        let guarded = Locked(1)
        #expect(guarded.exchange(2) == 1 && guarded.withLock { $0 } == 2)
        #expect(
            guarded.withLock { value in
                value += 1
                return value
            } == 3
        )
        struct Failure: Error {}
        #expect(throws: Failure.self) { try guarded.withLock { _ in throw Failure() } }
        // The error has released the lock.
        #expect(guarded.exchange(0) == 3)
    }

    @Test("waits no longer than it may, half a millisecond at a time")
    func waits() {
        func pause(limit: UInt64) -> UInt64? {
            var wait = LockWait(limit: limit)
            return wait.pause(atMost: 500_000)
        }
        #expect(pause(limit: 0) == nil)
        #expect(pause(limit: .max) == 500_000)
        for limit: UInt64 in [1, 100_000] { #expect(pause(limit: limit) ?? 0 <= limit) }
    }

    #if os(Linux)
    @Test("names the process that has a file's lock, and none for a lock of another kind or without one")
    func holders() throws {
        let file = open(directory.path + "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        #expect(LockHolder.process(of: file) == nil)
        try #require(lockf(file, F_TLOCK, 0) == 0)
        #expect(LockHolder.process(of: file) == nil)
        try #require(flock(file, LOCK_EX) == 0)
        #expect(LockHolder.process(of: file) == getpid())
        try #require(flock(file, LOCK_UN) == 0)
        #expect(LockHolder.process(of: file) == nil)
        #expect(LockHolder.process(of: -1) == nil)
    }
    #endif

    @Test("reads variables of the environment")
    func environment() {
        let name = "DEFAULT_TEST_" + UUID().uuidString.filter { $0 != "-" }
        #expect(ProgramEnvironment.variable(name) == nil)
        #expect(ProgramEnvironment.variable("PATH") == ProcessInfo.processInfo.environment["PATH"])
    }

    @Test("returns fewer bytes where a file ends, and leaves the value of a word beyond the end unchanged")
    func ends() throws {
        try directory.write([1, 2, 3, 4, 5, 6, 7, 8, 9], to: "file")
        let calls = SystemCalls()
        let file = try calls.open(directory.path + "/file", .read)
        let words = try calls.readWords((0, 7) as (UInt64, UInt64), from: file.raw, at: 1)
        #expect(words.0.littleEndian == 0x0908_0706_0504_0302 && words.1 == 7)
        var window = try FileWindow(of: file.raw, to: 100, calls: calls)
        let ranges: [Range<UInt64>] = [0..<4, 7..<20, 50..<60]
        let parts = try ranges.map { range in try Array(window.bytes(range)) }
        #expect(parts == [[1, 2, 3, 4], [8, 9], []])
        let piece = try Array(window.piece(from: 2, to: 5))
        #expect(piece == [3, 4, 5])
        #expect(try calls.size(of: file.raw) == 9)
    }

    #if os(Linux)
    @Test("A refused mapping leaves the addresses as they were mapped before")
    func refusedMapping() throws {
        let size = Int(MappedWindow.size)
        let calls = SystemCalls()
        let memory = try MappedWindowPool.shared.reserve(calls: calls)
        defer { MappedWindowPool.shared.release(memory) }
        // A socket refuses to be mapped after the addresses were released, as some FUSE file systems do.
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let error = #expect(throws: JournalError.self) { try calls.map(socket, from: 0, at: memory, size: size) }
        #expect(error?.code == ENODEV)
        var isPresent = [UInt8](repeating: 0, count: size / 4_096)
        #expect(mincore(memory, size, &isPresent) == 0, "Anybody's next mapping may get these addresses.")
    }
    #endif
}

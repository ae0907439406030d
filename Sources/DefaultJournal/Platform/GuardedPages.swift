internal import CDefaultSystem
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The first page of a file, mapped for reading.
struct GuardedPage: ~Copyable {
    private let memory: UnsafeMutableRawPointer

    /// Maps the first page of an open file.
    init(of file: Int32, calls: SystemCalls, path: @autoclosure () -> String) throws(JournalError) {
        let reserved = try GuardedPages.shared.reserve(path: path())
        do throws(JournalError) {
            try calls.map(file, at: reserved, path: path())
        } catch {
            GuardedPages.shared.release(reserved)
            throw error
        }
        memory = reserved
    }

    deinit {
        GuardedPages.shared.release(memory)
    }

    /// A word at a multiple of 8, as it is in the file now; 0 if the file is too short.
    func word(at offset: Int) -> UInt64 {
        AtomicWord((memory + offset).assumingMemoryBound(to: UInt64.self)).load(ordering: .acquiring)
    }
}

/// Addresses for mapped pages of files that other programs may shorten at any time.
///
/// Reading a page that its file lacks would end the process with SIGBUS. A page that is mapped here reads as zeros from then
/// on instead, until it is mapped again. The first page sets the process's handler of SIGBUS; it passes on what isn't about
/// these pages.
final class GuardedPages: Sendable {
    static let shared = GuardedPages()

    /// Addresses without a mapping.
    private let free = Guarded<[UInt]>([])
    /// Pages whose addresses are reserved at once.
    private static let batch = 1_024

    /// An address for ``SystemCalls/map(_:at:path:)``.
    ///
    /// - Throws: An error when the system refuses more addresses.
    func reserve(path: @autoclosure () -> String) throws(JournalError) -> UnsafeMutableRawPointer {
        let (address, code) = free.withLock { free -> (UInt?, Int32) in
            if free.isEmpty {
                guard let begin = default_reserve_guarded_pages(Self.batch) else { return (nil, errno) }
                let size = UInt(default_page_size())
                free = (0..<UInt(Self.batch)).reversed().map { UInt(bitPattern: begin) + $0 * size }
            }
            return (free.popLast(), 0)
        }
        guard let address, let page = UnsafeMutableRawPointer(bitPattern: address) else {
            throw JournalError(.system(.mmap, code: code), path: path())
        }
        return page
    }

    /// A page of zeros, without a file.
    func reserveZeros(path: @autoclosure () -> String) throws(JournalError) -> UnsafeMutableRawPointer {
        let page = try reserve(path: path())
        guard default_map_zeros(page) else {
            let code = errno
            release(page)
            throw JournalError(.system(.mmap, code: code), path: path())
        }
        return page
    }

    /// Ends the mapping of a page and frees its address, which stays readable.
    func release(_ page: UnsafeMutableRawPointer) {
        // If the system refuses, the file stays mapped until the address is used again.
        _ = default_map_zeros(page)
        free.withLock { $0.append(UInt(bitPattern: page)) }
    }
}

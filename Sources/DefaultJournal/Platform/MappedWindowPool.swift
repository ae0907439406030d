internal import CDefaultSystem

/// Addresses for mapped parts of files that other programs may shorten at any time.
///
/// Reading a page that its file lacks would end the process with SIGBUS. A page that is mapped here reads as ones from
/// then on instead, until it is mapped again. The first call of ``reserve(calls:)`` sets the process's handler of
/// SIGBUS, which passes signals about other pages on.
final class MappedWindowPool: Sendable {
    static let ofProcess = PerProcess { MappedWindowPool() }

    static var shared: MappedWindowPool { ofProcess.current }

    /// Addresses of windows without a mapping.
    private let free = Locked<[UInt]>([])
    /// Windows whose addresses are reserved together.
    private static let batch = 128

    /// An address for ``SystemCalls/map(_:from:at:size:)``, where nothing may be read until then.
    func reserve(calls: SystemCalls) throws(JournalError) -> UnsafeMutableRawPointer {
        let size = UInt(MappedWindow.size)
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
        _ = default_map_ones(memory, Int(MappedWindow.size))
        free.withLock { $0.append(UInt(bitPattern: memory)) }
    }
}

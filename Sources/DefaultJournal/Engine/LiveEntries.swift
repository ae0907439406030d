/// The live entries of a journal that is read in pieces: their keys, and where in the file they are.
///
/// A ``LiveTable`` is smaller and faster, but needs the whole file in memory.
struct LiveEntries: ReplayVisitor {
    private struct Place {
        var offset: UInt64
        var keyLength: Int
        var valueLength: Int
    }

    private var places: [[UInt8]: Place] = [:]
    private var payload = UnsafeRawBufferPointer(start: nil, count: 0)
    private var payloadOffset: UInt64 = 0

    /// How many there are.
    var count: Int { places.count }
    /// Bytes that a journal with only these entries has.
    private(set) var liveBytes = UInt64(JournalHeader.size)

    mutating func beginRecord(_ payload: UnsafeRawBufferPointer, at offset: UInt64) {
        self.payload = payload
        payloadOffset = offset
    }

    mutating func visit(_ operation: Operation) {
        switch operation {
        case .set(let key, let value):
            guard let start = payload.baseAddress, let keyStart = key.baseAddress else { return }
            let place = Place(
                offset: payloadOffset + UInt64(keyStart - start),
                keyLength: key.count,
                valueLength: value.count
            )
            liveBytes += Self.size(of: place)
            if let old = places.updateValue(place, forKey: Array(key)) { liveBytes -= Self.size(of: old) }
        case .remove(let key):
            if let old = places.removeValue(forKey: Array(key)) { liveBytes -= Self.size(of: old) }
        case .removeAll:
            places = [:]
            liveBytes = UInt64(JournalHeader.size)
        }
    }

    private static func size(of place: Place) -> UInt64 {
        UInt64(IndexVisitor.entryOverhead + place.keyLength + place.valueLength)
    }

    /// How many of the keys are settings, and not the library's own.
    var settingCount: Int { places.keys.count { $0.first != 0 } }

    /// Adds a record for each entry to a new journal.
    ///
    /// - Parameters:
    ///   - stream: The new journal.
    ///   - window: The file that was replayed.
    /// - Throws: The system call that failed, or `unstable` when the file has become shorter.
    func write(to stream: inout RecordStream, from window: inout FileWindow) throws(JournalError) {
        for place in places.values.sorted(by: { $0.offset < $1.offset }) {
            let count = place.keyLength + place.valueLength
            let bytes = try window.bytes(place.offset..<place.offset + UInt64(count))
            guard bytes.count == count else { throw JournalError(.unstable, path: window.path) }
            let key = UnsafeRawBufferPointer(rebasing: bytes[..<place.keyLength])
            let value = UnsafeRawBufferPointer(rebasing: bytes[place.keyLength...])
            try stream.append(.set(key: key, value: value))
        }
    }
}

extension Journal {
    /// The size from which on a journal is read in pieces: whatever is behind its records, or between them, doesn't end up in
    /// memory.
    ///
    /// A smaller one is read as a whole, which is faster.
    static let wholeFileLimit: UInt64 = 16 << 20

    /// A journal file that is read in pieces, from its beginning.
    func fileReplay(_ file: Int32, size: UInt64) throws(JournalError) -> FileReplay {
        FileReplay(try FileWindow(of: file, calls: calls, path: journalPath), size: size)
    }

    /// Adds a record for each live entry of a journal file to a new journal.
    ///
    /// - Returns: What was found in the file.
    @discardableResult
    func copyEntries(
        of file: Int32,
        size: UInt64,
        salt: UInt64,
        to stream: inout RecordStream
    ) throws(JournalError) -> ReplayReport {
        var replay = try fileReplay(file, size: size)
        var entries = LiveEntries()
        let report = try replay.run(salt: salt, visitor: &entries)
        var window = try FileWindow(of: file, calls: calls, path: journalPath)
        try entries.write(to: &stream, from: &window)
        return report
    }
}

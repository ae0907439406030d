/// Finds the records of a journal's tail that a compaction has to copy.
///
/// During a compaction, a fast writer may append the same keys many times; copying every record would leave a new journal
/// that needs compaction at once. A record with one `set` that a later operation of the tail overwrites is left out.
/// Records with several operations are copied whole, since they are atomic.
struct TailSurvey: ReplayVisitor {
    private struct Kept {
        var payload: Range<Int>
        /// The number of the record's only operation, if that is a `set`.
        var single: Int?
    }

    private var latest = LatestTable()
    private var kept: [Kept] = []
    private var payloadStart = 0
    private var operations = 0
    private var lastSet: Int?

    private let finds: Bool

    /// - Parameter finds: Whether to look for overwritten records; if not, everything is kept.
    init(finds: Bool = true) {
        self.finds = finds
    }

    mutating func visit(_ operation: Operation) {
        guard finds else { return }
        operations += 1
        lastSet = nil
        switch operation {
        case .set(let key, _): lastSet = latest.note(key)
        case .remove(let key): _ = latest.note(key)
        case .removeAll: latest.noteAll()
        }
    }

    mutating func finishRecord(at offset: UInt64, size: Int) {
        let payload = (payloadStart + Record.headerSize)..<(payloadStart + size)
        kept.append(Kept(payload: payload, single: operations == 1 ? lastSet : nil))
        payloadStart += size
        operations = 0
        lastSet = nil
    }

    /// The payloads to copy, as ranges of the tail.
    var keptPayloads: some Sequence<Range<Int>> {
        kept.lazy.filter { record in record.single.map(latest.isLatest) ?? true }.map(\.payload)
    }

    /// Which operation was the last on each key.
    private struct LatestTable {
        private var table: [KeyReference: Int] = [:]
        private var superseded: [Bool] = []

        mutating func note(_ key: UnsafeRawBufferPointer) -> Int {
            let number = superseded.count
            superseded.append(false)
            if let before = table.updateValue(number, forKey: KeyReference(bytes: key)) { superseded[before] = true }
            return number
        }

        mutating func noteAll() {
            for number in superseded.indices { superseded[number] = true }
            table.removeAll(keepingCapacity: true)
        }

        func isLatest(_ number: Int) -> Bool { !superseded[number] }
    }

    /// A key in the tail's memory, compared byte by byte.
    private struct KeyReference: Hashable {
        let bytes: UnsafeRawBufferPointer

        static func == (one: KeyReference, other: KeyReference) -> Bool { one.bytes.elementsEqual(other.bytes) }

        func hash(into hasher: inout Hasher) { hasher.combine(bytes: bytes) }
    }
}

@testable import DefaultJournal
import JournalProbe

/// A journal made in memory, with a salt of the test's choice.
struct SampleJournal {
    var bytes: [UInt8]
    /// The file range of each record.
    var records: [Range<Int>] = []
    let salt: UInt64

    init(salt: UInt64 = 0x1122_3344_5566_7788) {
        self.salt = salt
        bytes = [UInt8](repeating: 0, count: JournalHeader.size)
        bytes.withUnsafeMutableBytes { target in
            if let base = target.baseAddress { JournalHeader(salt: salt).encode(to: base) }
        }
    }

    /// Makes a journal of `count` records `key<n> = value<n>`.
    init(records count: Int, salt: UInt64 = 0x1122_3344_5566_7788) {
        self.init(salt: salt)
        for number in 0..<count { set("key\(number)", Array("value \(number)".utf8)) }
    }

    mutating func set(_ key: String, _ value: [UInt8]) {
        Array(key.utf8).withUnsafeBytes { key in
            value.withUnsafeBytes { value in append([.set(key: key, value: value)]) }
        }
    }

    mutating func append(_ operations: [DefaultJournal.Operation]) {
        var payload: [UInt8] = []
        for operation in operations {
            var encoded = [UInt8](repeating: 0, count: operation.encodedSize)
            encoded.withUnsafeMutableBytes { if let base = $0.baseAddress { operation.encode(to: base) } }
            payload += encoded
        }
        append(payload: payload)
    }

    mutating func append(payload: [UInt8]) {
        let start = bytes.count
        let padding = Record.size(payload: payload.count, at: UInt64(start)) - Record.headerSize - payload.count
        bytes += [UInt8](repeating: 0, count: Record.headerSize) + payload + [UInt8](repeating: 0, count: padding)
        bytes.withUnsafeMutableBytes { target in
            if let base = target.baseAddress {
                Record.seal(base + start, number: 0xBEAD, payload: payload.count, salt: salt, offset: UInt64(start))
            }
        }
        records.append(start..<bytes.count)
    }
}

/// The result of replayed operations, as a dictionary.
struct CollectedOperations {
    var entries: [String: [UInt8]] = [:]
    var operations = 0

    mutating func add(_ payload: UnsafeRawBufferPointer) { Operation.forEach(in: payload) { add($0) } }

    private mutating func add(_ operation: DefaultJournal.Operation) {
        operations += 1
        switch operation {
        case .set(let key, _, let value): entries[String(decoding: key, as: UTF8.self)] = Array(value)
        case .remove(let key): entries[String(decoding: key, as: UTF8.self)] = nil
        case .removeAll: entries = [:]
        case .moved: break
        }
    }
}

/// Replays the records of a whole journal.
func replay(_ journal: [UInt8], salt: UInt64 = 0x1122_3344_5566_7788) -> (CollectedOperations, ReplayReport) {
    journal.withUnsafeBytes { bytes in
        var collected = CollectedOperations()
        let records = UnsafeRawBufferPointer(rebasing: bytes[min(JournalHeader.size, bytes.count)...])
        let report = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt) { collected.add($0) }
        return (collected, report)
    }
}

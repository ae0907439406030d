internal import CDefaultSystem

/// The beginning of a journal: the same 32 bytes at offset 0 and at offset 4096.
///
/// No sector of a disk holds both, so that a lost one costs only the records that lie in it. Between the two are the
/// ``Word``s, and bytes that mean nothing and are written as 0.
///
/// | offset | size | content |
/// | --- | --- | --- |
/// | 0 | 8 | the magic bytes `DfJrnl\r\n` |
/// | 8 | 4 | format version |
/// | 12 | 4 | reserved, 0 |
/// | 16 | 8 | salt, random, never 0 |
/// | 24 | 4 | reserved, 0 |
/// | 28 | 4 | CRC-32C of the 28 bytes before |
///
/// Records follow the second copy.
struct JournalHeader: Equatable, Sendable {
    /// Bytes that the header takes, both copies and what is between them.
    static let size = offsets[1] + copySize
    /// The format that this version of the library writes.
    static let currentVersion: UInt32 = 1

    static let copySize = 32
    static let offsets = [0, 4096]
    static let saltOffset = 16
    /// The line ending catches a transfer that translated line endings, as in PNG's signature.
    static let magic: UInt64 = 0x0A0D_6C6E_724A_6644

    /// The first input of the checksums of the journal's records; also the journal's identity.
    let salt: UInt64

    /// A word that says something about the file while it is used, by its offset.
    ///
    /// Each is written by itself. No checksum covers them, since a wrong one costs a sync or leaves one out.
    enum Word: UInt64 {
        /// Whether the file's name may not be on the disk: 1 if so, 2 if those of its directory and of the directories
        /// above may not be there either.
        case unsyncedNames = 32
        /// 1 once a sync of the file has failed: what was written before it may never reach the disk.
        case syncFailed = 40
        /// 1 if a flush has returned since a compaction last asked.
        ///
        /// What it has promised must be in the new file's synced part.
        case isFlushed = 48
        /// The offset up to which a compaction has copied the file, and is about to sync what it has; 0 if none has.
        ///
        /// One that was killed leaves it.
        case copied = 56
    }

    /// Writes the header to `target`, which has room for ``size`` bytes, of a file whose name isn't on the disk.
    ///
    /// The first one of a suite is in a directory that may be new, too.
    func encode(to target: UnsafeMutableRawPointer, isFirst: Bool = false) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size)
        for offset in Self.offsets {
            let start = target + offset
            start.storeLittleEndian(Self.magic, at: 0)
            start.storeLittleEndian(Self.currentVersion, at: 8)
            start.storeLittleEndian(UInt32(0), at: 12)
            start.storeLittleEndian(salt, at: Self.saltOffset)
            start.storeLittleEndian(UInt32(0), at: 24)
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(start: start, count: 28))
            start.storeLittleEndian(checksum, at: 28)
        }
        target.storeLittleEndian(UInt64(isFirst ? 2 : 1), at: Int(Word.unsyncedNames.rawValue))
    }
}

extension JournalHeader {
    /// The result of reading the first bytes of a file.
    package enum Reading: Equatable, Sendable {
        /// A header of this format, with the ranges of those of its copies that are damaged.
        case valid(JournalHeader, damage: [Range<UInt64>])
        /// A header of a later format, which must not be changed.
        case newer(version: UInt32)
        /// No copy is usable.
        case unusable
    }

    /// Reads the header from the beginning of a file, however short.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> Reading {
        var header: JournalHeader?
        var damage: [Range<UInt64>] = []
        for start in offsets {
            guard bytes.count >= start + copySize,
                case let copy = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + copySize)]),
                copy.littleEndian(at: 0, as: UInt64.self) == magic,
                copy.littleEndian(at: 28, as: UInt32.self)
                    == CRC32C.checksum(UnsafeRawBufferPointer(rebasing: copy[0..<28])),
                // In the engine it means that no salt is known, and no journal is written with it.
                copy.littleEndian(at: saltOffset, as: UInt64.self) != 0
            else {
                damage.append(UInt64(start)..<UInt64(start + copySize))
                continue
            }
            let version = copy.littleEndian(at: 8, as: UInt32.self)
            guard version == currentVersion else { return .newer(version: version) }
            if header == nil {
                header = JournalHeader(salt: copy.littleEndian(at: saltOffset, as: UInt64.self))
            }
        }
        guard let header else { return .unusable }
        return .valid(header, damage: damage)
    }
}

/// A record: the unit of an append, which becomes visible as a whole or not at all.
///
/// | offset | size | content |
/// | --- | --- | --- |
/// | 0 | 2 | marker |
/// | 2 | 2 | number of its writing; see ``seal(_:number:payload:salt:offset:)`` |
/// | 4 | 4 | payload length, at least 1 |
/// | 8 | 4 | header CRC-32C over salt, file offset of the record, and the eight bytes before |
/// | 12 | 4 | payload CRC-32C: the header's checksum, continued over payload and padding |
/// | 16 | | payload: one or more operations, see ``Operation`` |
/// | | | zeros, up to the next multiple of 8, or to the one after it if that one is the end of a page |
///
/// Salt and offset are part of both checksums, so bytes that were copied from another journal, or from elsewhere in
/// this one, are never mistaken for a record; a value may hold a whole journal. The length in a header with a valid
/// checksum can be trusted, so that replay skips exactly one record when a payload is damaged.
///
/// The eight bytes after the last record are the word that every process looks at: they are aligned, in a page of which
/// the file has some bytes, and 0 until a record is written there, whose first word is not 0.
enum Record {
    static let headerSize = 16
    /// The bytes `F5 52`: the first of them appears in no UTF-8 text.
    static let marker: UInt16 = 0x52F5
    /// The longest payload; a header with a longer one is none.
    static let maximumPayload = 1 << 30
    static let alignment = 8
    /// What no record ends at a multiple of.
    static let page: UInt64 = 4_096

    /// The size of a record with a payload of this length that begins at this offset: a multiple of ``alignment``.
    static func size(payload: Int, at offset: UInt64) -> Int {
        let size = liveSize(payload: payload)
        return (offset &+ UInt64(size)) % page == 0 ? size + alignment : size
    }

    /// The size of a record that doesn't end at a page's end.
    static func liveSize(payload: Int) -> Int { (headerSize + payload + alignment - 1) & ~(alignment - 1) }

    /// The first offset from `offset` on at which a record may begin.
    static func start(from offset: UInt64) -> UInt64 {
        let step = UInt64(alignment)
        let start = (offset + step - 1) / step * step
        return start % page == 0 ? start + step : start
    }

    /// The checksum of a record header, over its fields, the salt and the offset.
    static func headerChecksum(salt: UInt64, offset: UInt64, number: UInt16, length: UInt32) -> UInt32 {
        let fields = UInt64(marker) | UInt64(number) << 16 | UInt64(length) << 32
        var words = (salt.littleEndian, offset.littleEndian, fields.littleEndian)
        return withUnsafeBytes(of: &words) { bytes in CRC32C.checksum(bytes) }
    }

    /// Fills in the header before a payload that is already at `start + headerSize`, and the padding after it.
    ///
    /// Nothing is read from the number. Each process begins with a random one and adds one for each record, so that
    /// two copies of a journal that were written to by different processes end in different bytes, even if the last
    /// change was the same one. That is how a process notices that one of them was copied over the other
    /// (``JournalMark``).
    ///
    /// - Returns: The record's size.
    @discardableResult
    static func seal(
        _ start: UnsafeMutableRawPointer,
        number: UInt16,
        payload: Int,
        salt: UInt64,
        offset: UInt64
    ) -> Int {
        let size = size(payload: payload, at: offset)
        let length = UInt32(truncatingIfNeeded: payload)
        let header = headerChecksum(salt: salt, offset: offset, number: number, length: length)
        for index in (headerSize + payload)..<size { start.storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
        let body = UnsafeRawBufferPointer(start: start + headerSize, count: size - headerSize)
        start.storeLittleEndian(marker, at: 0)
        start.storeLittleEndian(number, at: 2)
        start.storeLittleEndian(length, at: 4)
        start.storeLittleEndian(header, at: 8)
        start.storeLittleEndian(CRC32C.checksum(body, continuing: header), at: 12)
        return size
    }
}

/// CRC-32C, the checksum of every header and record.
///
/// The polynomial is Castagnoli's (G. Castagnoli, S. Bräuer, M. Herrmann, 1993) in the form of RFC 3720, appendix B.4:
/// reflected 0x1EDC6F41, initial value and final XOR all ones.
enum CRC32C {
    /// The checksum of `bytes`, continuing from `previous`, the checksum of the bytes before them.
    static func checksum(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
        guard isInHardware else { return checksumByTable(bytes, continuing: previous) }
        guard let start = bytes.baseAddress else { return previous }
        return ~default_crc32c_in_hardware(~previous, start, bytes.count)
    }

    private static let isInHardware = default_crc32c_is_in_hardware()

    /// The same for processors without an instruction for it, a byte at a time.
    static func checksumByTable(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
        var state = ~previous
        for byte in bytes { state = (state >> 8) ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] }
        return ~state
    }

    private static let table = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in (value >> 1) ^ (value & 1 == 1 ? 0x82F6_3B78 : 0) }
    }
}

/// Integers in the byte order of the file, at any alignment.
extension UnsafeRawBufferPointer {
    /// The integer at `offset`, which the caller has checked to lie within the bytes.
    func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension UnsafeMutableRawPointer {
    /// Stores `value` in the file's byte order.
    func storeLittleEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
}

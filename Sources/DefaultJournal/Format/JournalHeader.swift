/// The beginning of a journal: the same 32 bytes at offset 0 and at offset 4096.
///
/// No sector of a disk holds both, so that a lost sector loses only the records in it. Between the two are the
/// ``Word``s, and unused bytes that are written as 0.
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
    /// Bytes that the header takes: both copies and the bytes between them.
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
    /// Each is written by itself. No checksum covers them, since a wrong one causes a sync or leaves one out.
    enum Word: UInt64 {
        /// Whether the file's name may not be on the disk: 1 if so, 2 if those of its directory and of the directories
        /// above may not be there either.
        case unsyncedNames = 32
        /// 1 once a sync of the file has failed: records before it may never reach the disk.
        case syncFailed = 40
        /// 1 if a flush has returned since a compaction last asked.
        ///
        /// Everything that it has promised must be in the new file's synced part.
        case isFlushed = 48
        /// The offset up to which a compaction has copied the file, and is about to sync the copy; 0 if none has.
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

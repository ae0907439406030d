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
/// this one, are never mistaken for a record; a value may contain a whole journal. The length in a header with a valid
/// checksum can be trusted, so that replay skips exactly one record when a payload is damaged.
///
/// The eight bytes after the last record are the word that every process looks at: they are aligned, in a page of which
/// the file has some bytes, and 0 until a record is written there, whose first word is not 0.
enum Record {
    static let headerSize = 16
    /// The size of a header up to the end of its own checksum.
    static let checkedSize = 12
    /// The bytes `F5 52`: the first of them appears in no UTF-8 text.
    static let marker: UInt16 = 0x52F5
    /// The longest payload; a header with a longer one is none.
    static let maximumPayload = 1 << 30
    static let alignment = 8
    /// The size of a page: no record ends at a multiple of it.
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
    /// The number itself is never used. Each process begins with a random one and adds one for each record, so that
    /// two copies of a journal that were written to by different processes end in different bytes, even if the last
    /// change was the same one. That is how a process notices that one of them was copied over the other
    /// (``RecordFingerprint``).
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

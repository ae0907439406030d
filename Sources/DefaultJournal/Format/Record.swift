/// A record: the unit of an append, which becomes visible as a whole or not at all.
///
/// | offset | size | content |
/// | --- | --- | --- |
/// | 0 | 4 | marker |
/// | 4 | 4 | payload length, at least 1 |
/// | 8 | 4 | header CRC-32C over salt, file offset of the record, marker and length |
/// | 12 | 4 | payload CRC-32C: the header's checksum, continued over the payload |
/// | 16 | | payload: one or more operations, see ``Operation`` |
///
/// Salt and offset are part of both checksums, so bytes that were copied from another journal, or from elsewhere in this
/// one, are never mistaken for a record; a value may hold a whole journal. The length in a header with a valid checksum can
/// be trusted, so that replay skips exactly one record when a payload is damaged.
package enum Record {
    /// Bytes before the payload.
    package static let headerSize = 16
    /// The bytes `F5 52 65 63`: the first of them appears in no UTF-8 text.
    package static let marker: UInt32 = 0x6365_52F5
    /// The longest payload that is written; the format itself allows up to 4 GiB.
    package static let maximumPayload = 1 << 30

    /// The checksum of a record header, over its fields, the salt and the offset.
    static func headerChecksum(salt: UInt64, offset: UInt64, length: UInt32) -> UInt32 {
        var words = (salt.littleEndian, offset.littleEndian, marker.littleEndian, length.littleEndian)
        return withUnsafeBytes(of: &words) { bytes in CRC32C.checksum(bytes) }
    }

    /// Fills in the header before a payload that is already at `start + headerSize`.
    ///
    /// - Parameters:
    ///   - start: Where the record begins in memory.
    ///   - payload: The payload's length.
    ///   - salt: The journal's salt.
    ///   - offset: Where in the file the record will begin.
    package static func seal(_ start: UnsafeMutableRawPointer, payload: Int, salt: UInt64, offset: UInt64) {
        let length = UInt32(truncatingIfNeeded: payload)
        let header = headerChecksum(salt: salt, offset: offset, length: length)
        let body = UnsafeRawBufferPointer(start: start + headerSize, count: payload)
        start.storeLittleEndian(marker, at: 0)
        start.storeLittleEndian(length, at: 4)
        start.storeLittleEndian(header, at: 8)
        start.storeLittleEndian(CRC32C.checksum(body, continuing: header), at: 12)
    }
}

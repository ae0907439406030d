package import Default
package import Foundation

/// What bytes hold: both what is shown of them, and what is searched for hidden values.
package enum DataContents {
    /// JSON, as settings types are stored.
    case json(JSONText)
    /// A property list, binary or in XML.
    case propertyList(PropertyListValue)
    /// Something that begins like one of these and can't be read: it is damaged, or nests too deep.
    case unreadable
    /// Other bytes.
    case bytes

    /// How many of these are looked into that are within each other.
    ///
    /// Each is short and may nest as deep as a value, so that without a limit a small value could end the process.
    private static let maximumLevel = 8

    /// Looks into bytes, which are themselves within as many others as `level` says.
    package init(_ data: Data, level: Int = 0) {
        let isWithinLimit = level < Self.maximumLevel
        if Self.looksLikePropertyList(data) {
            let value = isWithinLimit ? PropertyListValue(serialized: data) : nil
            self = value.map { .propertyList($0) } ?? .unreadable
            return
        }
        // Most bytes are not JSON, which their first one shows.
        let first = data.first { !" \t\r\n".utf8.contains($0) }
        let isLikeJSON = first.map { "{[\"-0123456789tfn".utf8.contains($0) } == true
        if isLikeJSON, isWithinLimit, let json = JSONText(parsing: data) {
            self = .json(json)
            return
        }
        // Also in the old notation of property lists.
        let isLikeContainer = Self.start(of: data).first.map { "{[(".utf8.contains($0) } == true
        self = isLikeContainer || isLikeJSON && !isWithinLimit ? .unreadable : .bytes
    }

    private static func looksLikePropertyList(_ data: Data) -> Bool {
        if BinaryPropertyListReader.isBinary(data) { return true }
        let start = start(of: data).prefix(64).filter { $0 != 0 }
        return ["<?xml", "<!--", "<!DOCTYPE plist", "<plist"].contains { start.starts(with: $0.utf8) }
    }

    /// The bytes behind white space and a byte order mark; in UTF-16, which has zeros, as well.
    private static func start(of data: Data) -> Data {
        data.drop { " \t\r\n\0\u{FEFF}".utf8.contains($0) || $0 >= 0xFE }
    }
}

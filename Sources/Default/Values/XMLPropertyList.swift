#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Bounds how deeply property lists in XML nest: Foundation's decoder goes into them by recursion, and ends the process
/// where they are too deep (Swift 6.3).
enum XMLPropertyList {
    /// Whether XML has more containers in each other than a store can keep, or ends within a tag, a comment, an
    /// instruction or CDATA, so that nobody can read it; false for other bytes.
    static func nestsTooDeeply(_ data: Data) -> Bool {
        // Most of what is decoded is JSON, and a binary property list may have texts like tags.
        guard let first = data.first, !"{[\"".utf8.contains(first), !data.starts(with: "bplist") else { return false }
        guard let encoding = encoding(of: data.prefix(4)) else { return data.withUnsafeBytes { nestsTooDeeply($0) } }
        guard var text = String(data: data, encoding: encoding) else { return true }
        return text.withUTF8 { nestsTooDeeply(UnsafeRawBufferPointer($0)) }
    }

    /// The encoding of text that begins with these bytes, if characters have two or four of them.
    private static func encoding(of start: Data) -> String.Encoding? {
        switch Array(start) {
        case [0xFF, 0xFE, 0, 0]: .utf32LittleEndian
        case let bytes where bytes.starts(with: [0, 0]): .utf32BigEndian
        case let bytes where bytes.dropFirst().starts(with: [0, 0, 0]): .utf32LittleEndian
        case let bytes where bytes.starts(with: [0xFF, 0xFE]) || bytes.dropFirst().first == 0: .utf16LittleEndian
        case let bytes where bytes.starts(with: [0xFE, 0xFF]) || bytes.first == 0: .utf16BigEndian
        default: nil
        }
    }

    private static func nestsTooDeeply(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Behind spaces and a byte order mark.
        guard bytes.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) == UInt8(ascii: "<") else {
            return false
        }
        var depth = 0
        var index = 0
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            // What is in a comment, an instruction or CDATA isn't a tag.
            if let text = texts.first(where: { bytes[start...].starts(with: $0.opening.utf8) }) {
                // Within the list, Foundation takes <?> for an instruction.
                let rest = bytes[(start + text.opening.utf8.count - text.shared)...]
                guard let end = end(of: rest, by: text.ending) else { return true }
                index = end
                continue
            }
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else { return true }
            index = end + 1
            let tag = bytes[start..<end]
            let name = tag.dropFirst().prefix { $0 > 0x20 }
            if containers.contains(where: { name.elementsEqual($0.utf8) }) {
                depth += tag.last == UInt8(ascii: "/") ? 0 : 1
            } else if name.first == UInt8(ascii: "/"),
                containers.contains(where: { name.dropFirst().elementsEqual($0.utf8) })
            {
                // Before the list, <?> goes on to the next ?>: the tags in between close nothing.
                depth = max(depth - 1, 0)
            }
            // One of them is the plist element around all others.
            if depth > PropertyListValue.maximumDepth + 1 { return true }
        }
        return false
    }

    private static let containers = ["array", "dict", "plist"]

    private static let texts = [
        (opening: "<!--", ending: "-->", shared: 0), (opening: "<?", ending: "?>", shared: 1),
        (opening: "<![CDATA[", ending: "]]>", shared: 0),
    ]

    /// The place behind the first characters that end something.
    private static func end(of bytes: Slice<UnsafeRawBufferPointer>, by ending: String) -> Int? {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: ">")) {
            rest = bytes[(end + 1)...]
            if bytes[...end].suffix(ending.utf8.count).elementsEqual(ending.utf8) { return end + 1 }
        }
        return nil
    }
}

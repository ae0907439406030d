#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Bounds how deeply property lists in XML nest: Foundation's decoder goes into them by recursion, and ends the process
/// where they are too deep (Swift 6.3).
enum XMLPropertyList {
    /// Whether XML has more containers in each other than a store can keep; false for other bytes.
    static func nestsTooDeeply(_ data: Data) -> Bool {
        // Most of what is decoded is JSON, and a binary property list may have texts like tags.
        guard let first = data.first, !"{[\"".utf8.contains(first), !data.starts(with: "bplist") else { return false }
        // In UTF-16 each tag is there with zeros in between.
        guard first == 0 || first >= 0xFE || data.dropFirst().first == 0 else {
            return data.withUnsafeBytes { nestsTooDeeply($0) }
        }
        let characters = [UInt8](data).filter { $0 != 0 }
        return characters.withUnsafeBytes { nestsTooDeeply($0) }
    }

    private static func nestsTooDeeply(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var depth = 0
        var index = 0
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            // What is in a comment, an instruction or CDATA is no tag.
            if let text = texts.first(where: { bytes[start...].starts(with: $0.opening.utf8) }) {
                let rest = bytes[(start + text.opening.utf8.count)...]
                guard let end = end(of: rest, by: text.ending) else { return false }
                index = end
                continue
            }
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else { return false }
            index = end + 1
            let tag = bytes[start..<end]
            let name = tag.dropFirst().prefix { $0 > 0x20 }
            if ["array", "dict", "plist"].contains(where: { name.elementsEqual($0.utf8) }) {
                depth += tag.last == UInt8(ascii: "/") ? 0 : 1
            } else if ["/array", "/dict", "/plist"].contains(where: { name.elementsEqual($0.utf8) }) {
                // Before the list, a declaration of its document type may have such tags, which end nothing.
                depth = max(depth - 1, 0)
            }
            if depth > PropertyListValue.maximumDepth { return true }
        }
        return false
    }

    private static let texts = [
        (opening: "<!--", ending: "-->"), (opening: "<?", ending: "?>"), (opening: "<![CDATA[", ending: "]]>"),
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

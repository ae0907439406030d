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
        // Most of what is decoded is JSON.
        guard let first = data.first, !"{[\"".utf8.contains(first) else { return false }
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
            // What is in a comment, or in CDATA, is no tag.
            let text = bytes[start...]
            let ending = text.starts(with: "<!--".utf8) ? "--" : text.starts(with: "<![CDATA[".utf8) ? "]]" : ""
            guard let end = self.end(of: text, after: ending) else { return false }
            index = end + 1
            guard ending.isEmpty else { continue }
            let tag = bytes[start..<end]
            let name = tag.dropFirst().prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") }
            if ["array", "dict"].contains(where: { name.elementsEqual($0.utf8) }) {
                depth += tag.last == UInt8(ascii: "/") ? 0 : 1
            } else if ["/array", "/dict"].contains(where: { name.elementsEqual($0.utf8) }) {
                depth -= 1
            }
            if depth > PropertyListValue.maximumDepth { return true }
        }
        return false
    }

    /// The place of the first ">" that follows some characters.
    private static func end(of text: Slice<UnsafeRawBufferPointer>, after ending: String) -> Int? {
        var rest = text
        while let end = rest.firstIndex(of: UInt8(ascii: ">")) {
            if text[..<end].suffix(ending.utf8.count).elementsEqual(ending.utf8) { return end }
            rest = text[(end + 1)...]
        }
        return nil
    }
}

#if Foundation
internal import Foundation

/// Property lists that Foundation or a user wrote, in any of its formats.
enum PropertyListFile {
    /// The value of a property list; nil for other bytes.
    static func value(of data: Data) -> PropertyListValue? {
        guard BinaryPropertyList.isSafe(data),
            let object = try? PropertyListSerialization.propertyList(from: data, format: nil)
        else { return nil }
        return try? PropertyListValue(object: object)
    }

    /// The entries of a property list whose value is a dictionary.
    ///
    /// - Throws: When the bytes are anything else.
    static func entries(of data: Data) throws -> [String: Result<PropertyListValue, any Error>] {
        guard let entries = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw CocoaError(.propertyListReadCorrupt)
        }
        return entries.mapValues { object in Result { try PropertyListValue(object: object) } }
    }
}
#else
internal import FoundationEssentials

/// Property lists that Foundation or a user wrote, in any of its formats.
enum PropertyListFile {
    /// The value of a property list; nil for other bytes.
    static func value(of data: Data) -> PropertyListValue? {
        if let value = BinaryPropertyList.value(of: data) { return value }
        guard BinaryPropertyList.isSafe(data) else { return nil }
        let list = MarkedReals(data)
        let decoder = PropertyListDecoder()
        if let value = try? decoder.decode(CodedPropertyList.self, from: list.data).value {
            return list.restore(value)
        }
        // The decoder takes "<0f>" for XML unless it is a part of something else.
        let enclosed = Data("(".utf8) + data + Data(")".utf8)
        return try? decoder.decode([CodedPropertyList].self, from: enclosed).first?.value
    }

    /// The entries of a property list whose value is a dictionary.
    ///
    /// - Throws: When the bytes are anything else.
    static func entries(of data: Data) throws -> [String: Result<PropertyListValue, any Error>] {
        if case .dictionary(let entries) = BinaryPropertyList.value(of: data) {
            return entries.mapValues { .success($0) }
        }
        let list = MarkedReals(data)
        return try PropertyListDecoder().decode([String: Entry].self, from: list.data).mapValues { entry in
            entry.value.map(list.restore)
        }
    }

    private struct Entry: Decodable {
        let value: Result<PropertyListValue, any Error>

        init(from decoder: any Decoder) throws { value = Result { try CodedPropertyList(from: decoder).value } }
    }
}

/// XML in which each real number is a string with a mark, because the decoder doesn't distinguish `<real>1</real>` from
/// `<integer>1</integer>`.
private struct MarkedReals {
    private static let mark = "\u{E001}real:"

    let data: Data
    private let isMarked: Bool

    init(_ data: Data) {
        let xml = String(decoding: data, as: UTF8.self)
        // In a comment or CDATA, "<real>" is text. Foundation writes neither.
        isMarked = xml.contains("<real>") && !["<!--", "<![CDATA[", Self.mark].contains(where: xml.contains)
        guard isMarked else {
            self.data = data
            return
        }
        let opened = xml.split(separator: "<real>", omittingEmptySubsequences: false).joined(
            separator: "<string>\(Self.mark)"
        )
        let closed = opened.split(separator: "</real>", omittingEmptySubsequences: false).joined(separator: "</string>")
        self.data = Data(closed.utf8)
    }

    /// The value with its real numbers.
    func restore(_ value: PropertyListValue) -> PropertyListValue {
        guard isMarked else { return value }
        switch value {
        case .string(let string) where string.hasPrefix(Self.mark):
            return .real(Double(string.dropFirst(Self.mark.count)) ?? .nan)
        case .array(let elements): return .array(elements.map(restore))
        case .dictionary(let entries): return .dictionary(entries.mapValues(restore))
        default: return value
        }
    }
}
#endif

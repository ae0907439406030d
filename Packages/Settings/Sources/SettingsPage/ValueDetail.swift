import Default
import Foundation
import SettingsValues

/// A value, or a part of one, in full: what the page asks for when a person opens it.
struct ValueDetail: Encodable {
    /// A part of a list or of a dictionary.
    struct Child: Encodable {
        let name: String
        let form: ValueForm
        let preview: String
        let isCut: Bool
        /// How many parts it has itself; nil for what has none.
        let count: Int?
    }

    /// How many parts, characters or bytes there are at once.
    static let childLimit = 100
    static let textLimit = 16 << 10
    static let byteLimit = 2 << 10

    let form: ValueForm
    let size: Int
    let isHidden: Bool
    let version: String?
    /// How many parts, or bytes, there are in all.
    var total = 0
    /// Where the next ones begin; nil at the end.
    var next: Int?
    var children: [Child]?
    var text: String?
    /// Lines of hexadecimal digits.
    var hexadecimal: String?
    /// What an editor begins with; nil for what can't be edited.
    var edit: EditedValue?
    /// Where the value comes from, and what it hides, if a source has one.
    var origins: [Origin]?

    /// Something that has a value for the key.
    struct Origin: Encodable {
        /// "from the fallback in /etc/xdg/app.json".
        let text: String
        /// What it has, if that is hidden by another one.
        let preview: String?
    }

    /// Looks at the part of a value that a path of positions leads to, from an offset on; nil if there is none.
    init?(
        _ value: PropertyListValue,
        forKey key: String,
        own: PropertyListValue?,
        path: [Int],
        offset: Int,
        hiding hidden: KeyPatterns
    ) {
        version = own?.version
        let visible = hidden.visiblePart(of: value, forKey: key)
        isHidden = visible.isReduced
        guard let value = visible.value else {
            (form, size, text) = (.data, 0, KeyPatterns.placeholder)
            return
        }
        var shown = ShownValue(.value(value))
        if path.isEmpty, offset == 0, !isHidden { edit = EditedValue(value, form: shown.form) }
        for index in path {
            guard let child = shown.node.child(at: index) else { return nil }
            shown = ShownValue(child.node)
        }
        (form, size) = (shown.form, shown.size)
        show(shown.node, from: max(0, offset))
    }

    private mutating func show(_ node: ValueNode, from offset: Int) {
        if let count = node.childCount {
            total = count
            let start = min(offset, count)
            let end = start + min(Self.childLimit, count - start)
            children = node.children(in: start..<end).map { name, node in
                let shown = ShownValue(node, decodingLimit: ShownValue.listDecodingLimit)
                let preview = Preview(shown)
                let count = shown.node.childCount
                return Child(
                    name: name,
                    form: shown.form,
                    preview: preview.text,
                    isCut: preview.isCut,
                    count: count
                )
            }
            next = end < count ? end : nil
        } else if case .value(.data(let data)) = node {
            show(data, from: offset)
        } else {
            let text = node.string ?? Preview(ShownValue(node)).text
            let bytes = text.utf8
            total = bytes.count
            let start = bytes.index(bytes.startIndex, offsetBy: min(offset, total))
            let rest = text[start...]
            let end = rest.utf8.index(start, offsetBy: Self.textLimit, limitedBy: rest.endIndex) ?? rest.endIndex
            // Characters are not divided.
            let cut = String.Index(end, within: text.unicodeScalars) ?? text.unicodeScalars.index(before: end)
            self.text = String(text[start..<cut])
            next = cut < text.endIndex ? bytes.distance(from: bytes.startIndex, to: cut) : nil
        }
    }

    private mutating func show(_ data: Data, from offset: Int) {
        total = data.count
        let start = min(offset, total)
        if data.prefix(Self.textLimit).plainText != nil,
            let part = data.dropFirst(start).prefix(Self.textLimit).plainText
        {
            text = part
            let end = start + part.utf8.count
            next = end < total ? end : nil
        } else {
            let end = min(total, start + Self.byteLimit)
            hexadecimal = data.dropFirst(start).prefix(Self.byteLimit).hexadecimalLines(from: start)
            next = end < total ? end : nil
        }
    }
}

extension ValueNode {
    /// How many parts there are; nil for what has none.
    var childCount: Int? {
        switch self {
        case .value(.array(let elements)): elements.count
        case .value(.dictionary(let entries)): entries.count
        case .json(.array(let elements)): elements.count
        case .json(.object(let members)): members.count
        default: nil
        }
    }

    func children(in range: Range<Int>) -> [(name: String, node: ValueNode)] {
        switch self {
        case .value(.array(let elements)): range.map { ("\($0)", .value(elements[$0])) }
        case .value(.dictionary(let entries)):
            entries.sorted { $0.key < $1.key }[range].map { ($0.key, .value($0.value)) }
        case .json(.array(let elements)): range.map { ("\($0)", .json(elements[$0])) }
        case .json(.object(let members)): members[range].map { ($0.name, .json($0.value)) }
        default: []
        }
    }

    func child(at index: Int) -> (name: String, node: ValueNode)? {
        guard let count = childCount, (0..<count).contains(index) else { return nil }
        return children(in: index..<index + 1).first
    }
}

extension Data {
    /// Sixteen bytes a line: where they are, their digits, and their characters.
    fileprivate func hexadecimalLines(from offset: Int) -> String {
        let bytes = Array(self)
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<Swift.min(start + 16, bytes.count)]
            let digits = line.map { UInt32($0).hexadecimal(digits: 2) }.joined(separator: " ")
            let padding = String(repeating: " ", count: 3 * (16 - line.count))
            let characters = String(
                String.UnicodeScalarView(line.map { (0x20..<0x7F).contains($0) ? Unicode.Scalar($0) : "." })
            )
            return "\(UInt32(offset + start).hexadecimal(digits: 8))  \(digits)\(padding)  \(characters)"
        }.joined(separator: "\n")
    }
}

import Default
import Foundation
import SettingsValues

/// The kinds of values that the page shows and edits differently.
enum ValueForm: String, Codable {
    case string, boolean, integer, unsigned, real, date, array, dictionary
    /// Bytes that hold JSON, as settings types are stored.
    case json
    /// Bytes that hold a property list.
    case propertyList
    /// Bytes that hold a picture which each browser can show.
    case image
    /// Other bytes.
    case data
    /// A part of JSON only.
    case null
}

/// What is to be shown: a value, and what is inside of its bytes.
struct ShownValue {
    /// Larger bytes are not decoded: the page shows their beginning.
    static let decodingLimit = 8 << 20
    /// The same for each of many values in a list.
    static let listDecodingLimit = 256 << 10

    let form: ValueForm
    let node: ValueNode
    /// The number of bytes, or for text of bytes of UTF-8.
    let size: Int

    init(_ node: ValueNode, decodingLimit: Int = decodingLimit) {
        switch node {
        case .value(.data(let data)): self.init(data, decodingLimit: decodingLimit)
        case .value(let value): self.init(form: Self.form(of: value), node: node, size: value.byteCount)
        case .json(let json): self.init(form: Self.form(of: json), node: node, size: json.string?.utf8.count ?? 0)
        }
    }

    private init(form: ValueForm, node: ValueNode, size: Int) {
        self.form = form
        self.node = node
        self.size = size
    }

    private init(_ data: Data, decodingLimit: Int) {
        if data.count <= decodingLimit {
            switch DataContents(data) {
            case .json(let json):
                self.init(form: .json, node: .json(json), size: data.count)
                return
            case .propertyList(let value):
                self.init(form: .propertyList, node: .value(value), size: data.count)
                return
            case .unreadable, .bytes:
                break
            }
        }
        let form: ValueForm = data.imageType == nil ? .data : .image
        self.init(form: form, node: .value(.data(data)), size: data.count)
    }

    private static func form(of value: PropertyListValue) -> ValueForm {
        switch value {
        case .string: .string
        case .boolean: .boolean
        case .integer: .integer
        case .unsigned: .unsigned
        case .real: .real
        case .date: .date
        case .data: .data
        case .array: .array
        case .dictionary: .dictionary
        }
    }

    private static func form(of json: JSONText) -> ValueForm {
        switch json {
        case .null: .null
        case .boolean: .boolean
        case .number(let number): Int64(number) == nil ? .real : .integer
        case .string: .string
        case .array: .array
        case .object: .dictionary
        }
    }
}

extension PropertyListValue {
    /// The number of bytes of text and of data, and of other values in their stored form.
    var byteCount: Int {
        switch self {
        case .string(let string): string.utf8.count
        case .data(let data): data.count
        case .boolean: 1
        case .integer, .unsigned, .real, .date: 8
        case .array(let elements): elements.reduce(0) { $0 + $1.byteCount }
        case .dictionary(let entries): entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
        }
    }
}

extension JSONText {
    var string: String? {
        if case .string(let string) = self { string } else { nil }
    }
}

extension Data {
    /// The media type of a picture; none that may hold a script, as SVG may.
    var imageType: String? {
        switch true {
        case starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): "image/png"
        case starts(with: [0xFF, 0xD8, 0xFF]): "image/jpeg"
        case starts(with: "GIF8".utf8): "image/gif"
        case starts(with: "RIFF".utf8) && dropFirst(8).starts(with: "WEBP".utf8): "image/webp"
        default: nil
        }
    }
}

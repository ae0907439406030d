#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes as a tree of containers; everything else in them is kept as it was written, so that a number keeps all
/// its digits.
enum StoredTree {
    case object([String: StoredTree])
    case array([StoredTree])
    case json(ArraySlice<UInt8>)
    case propertyList(PropertyListValue)

    enum Format { case json, propertyList }

    /// Parses bytes; nil when they are neither JSON nor a property list.
    @inline(never)
    static func parse(_ data: Data) -> (tree: StoredTree, format: Format)? {
        if data.isPropertyList {
            return PropertyListValue.decoded(from: data).map { (StoredTree($0), .propertyList) }
        }
        return StoredTree(json: data).map { ($0, .json) }
    }

    /// Encodes the tree in a format, which has to be that of all its values; nil when that fails.
    func data(in format: Format) -> Data? { format == .json ? jsonData : propertyListValue?.propertyListData }

    /// The keys that lead to a value, outermost first.
    typealias Path = [String]

    /// The key of an element, in paths.
    static func key(of index: Int) -> String { "[\(index)]" }

    /// The index of an element whose key in paths is this; nil for other keys.
    private static func index(of key: String) -> Int? {
        guard key.hasPrefix("["), key.hasSuffix("]") else { return nil }
        return Int(key.dropFirst().dropLast())
    }

    var fields: [String: StoredTree]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// Whether this has all fields of another tree, in the same places.
    func hasFields(of other: StoredTree) -> Bool {
        switch (other, self) {
        case (.object(let fields), .object(let own)):
            fields.allSatisfy { name, field in field.isNull || own[name]?.hasFields(of: field) == true }
        case (.array(let elements), .array(let own)):
            elements.count == own.count && zip(elements, own).allSatisfy { $1.hasFields(of: $0) }
        case (.object, _), (.array, _): false
        default: true
        }
    }

    /// A text that is the same for values that are written alike, apart from nil.
    var identity: String {
        switch self {
        case .object(let fields):
            var texts: [String] = []
            for (name, field) in fields where !field.mayBeNull {
                texts.append("\(Data(utf8Of: name).base64EncodedString()):\(field.identity)")
            }
            return "{\(texts.inOrder().joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(\.identity).joined(separator: ","))]"
        case .json(let bytes): return Data(bytes).base64EncodedString()
        case .propertyList(let value): return value.binaryForm.base64EncodedString()
        }
    }

    /// Whether this is nil and nothing else.
    var isNull: Bool {
        // No other value in JSON has four bytes and begins like this.
        if case .json(let bytes) = self { bytes.count == 4 && bytes.first == UInt8(ascii: "n") } else { false }
    }

    /// Whether this is the format's representation of nil, which in a property list is also that of a string.
    var mayBeNull: Bool {
        if case .propertyList(.string("$null")) = self { true } else { isNull }
    }

    /// The value at a path, which may lead through elements.
    ///
    /// Setting nil removes it. Setting a value whose container doesn't exist has no effect.
    subscript(path: Path) -> StoredTree? {
        get { value(at: path[...]) }
        set { self = changed(at: path[...], to: newValue) ?? self }
    }

    private func value(at path: ArraySlice<String>) -> StoredTree? {
        guard let key = path.first else { return self }
        switch self {
        case .object(let fields): return fields[key]?.value(at: path.dropFirst())
        case .array(let elements):
            guard let index = Self.index(of: key), elements.indices.contains(index) else { return nil }
            return elements[index].value(at: path.dropFirst())
        default: return nil
        }
    }

    /// The tree with another value at a path; nil if that removes all of it.
    private func changed(at path: ArraySlice<String>, to value: StoredTree?) -> StoredTree? {
        guard let key = path.first else { return value }
        switch self {
        case .object(var fields):
            fields[key] = path.count == 1 ? value : fields[key]?.changed(at: path.dropFirst(), to: value)
            return .object(fields)
        case .array(var elements):
            guard let index = Self.index(of: key), elements.indices.contains(index) else { return self }
            let element = elements[index].changed(at: path.dropFirst(), to: value)
            elements.replaceSubrange(index...index, with: element.map { [$0] } ?? [])
            return .array(elements)
        default:
            return self
        }
    }
}

// Compiled once, instead of wherever there is a path.
extension StoredTree.Path {
    /// The path of what a key leads to from here.
    @inline(never)
    func appending(_ key: String) -> StoredTree.Path { self + [key] }

    /// The path from what the first key leads to.
    @inline(never)
    func droppingFirst() -> StoredTree.Path { Array(dropFirst()) }
}

// MARK: Property lists

extension StoredTree {
    init(_ value: PropertyListValue) {
        switch value {
        case .dictionary(let entries): self = .object(entries.mapValues { StoredTree($0) })
        case .array(let elements): self = .array(elements.map { StoredTree($0) })
        default: self = .propertyList(value)
        }
    }

    private var propertyListValue: PropertyListValue? {
        switch self {
        case .json: return nil
        case .propertyList(let value): return value
        case .array(let elements):
            let values = elements.compactMap(\.propertyListValue)
            return values.count == elements.count ? .array(values) : nil
        case .object(let fields):
            var entries: [String: PropertyListValue] = [:]
            for (name, field) in fields {
                entries[name] = field.propertyListValue
            }
            return entries.count == fields.count ? .dictionary(entries) : nil
        }
    }

    /// Parses the containers of JSON in UTF-8; the decoder checks whether the rest is well-formed.
    init?(json data: Data) {
        var scanner = JSONScanner(bytes: [UInt8](data))
        guard let tree = scanner.scanDocument() else { return nil }
        self = tree
    }

    /// The tree as JSON; nil for values of a property list.
    var jsonData: Data? {
        var json: [UInt8] = []
        return (try? appendJSON(to: &json)).map { Data(json) }
    }

    private func appendJSON(to json: inout [UInt8]) throws {
        switch self {
        case .propertyList: throw UnexpectedValue()
        case .json(let bytes): json += bytes
        case .array(let elements):
            json.append(ascii: "[")
            for (index, element) in elements.enumerated() {
                if index > 0 {
                    json.append(ascii: ",")
                }
                try element.appendJSON(to: &json)
            }
            json.append(ascii: "]")
        case .object(let fields):
            json.append(ascii: "{")
            for (index, key) in Array(fields.keys).inOrder().enumerated() {
                if index > 0 {
                    json.append(ascii: ",")
                }
                try json.appendJSON(key)
                json.append(ascii: ":")
                try fields[key]?.appendJSON(to: &json)
            }
            json.append(ascii: "}")
        }
    }
}

extension [UInt8] {
    @inline(never)
    fileprivate mutating func append(ascii character: Unicode.Scalar) { append(UInt8(ascii: character)) }

    fileprivate mutating func appendJSON(_ key: String) throws {
        let quote = UInt8(ascii: "\"")
        if key.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != quote && $0 != UInt8(ascii: "\\") }) {
            append(quote)
            self += key.utf8
            append(quote)
        } else {
            self += try JSONEncoder().encode(key)
        }
    }
}

/// Finds the containers in JSON.
private struct JSONScanner {
    /// The same as that of Foundation's decoder, so that whatever it can decode is known.
    private static let maximumDepth = 512

    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.count > 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            position = 3
        }
    }

    mutating func scanDocument() -> StoredTree? {
        skipSpace()
        let tree = scanValue(depth: 0)
        skipSpace()
        return position == bytes.count ? tree : nil
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
            position += 1
        }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        skipSpace()
        return true
    }

    private mutating func scanValue(depth: Int) -> StoredTree? {
        let start = position
        switch next {
        case UInt8(ascii: "{"): return scanContainer(isObject: true, depth: depth)
        case UInt8(ascii: "["): return scanContainer(isObject: false, depth: depth)
        case UInt8(ascii: "\""):
            guard skipString() else { return nil }
        default:
            while let byte = next, !",]}:\"[{ \t\n\r".utf8.contains(byte) {
                position += 1
            }
        }
        return position > start ? .json(bytes[start..<position]) : nil
    }

    private mutating func scanContainer(isObject: Bool, depth: Int) -> StoredTree? {
        guard depth < Self.maximumDepth else { return nil }
        let end: Unicode.Scalar = isObject ? "}" : "]"
        var fields: [String: StoredTree] = [:]
        var elements: [StoredTree] = []
        position += 1
        while !skip(end) {
            // Foundation's decoder allows a comma after the last part.
            guard fields.isEmpty && elements.isEmpty || skip(",") else { return nil }
            if next == UInt8(ascii: end) { continue }
            let key = isObject ? scanKey() : nil
            guard !isObject || key != nil && skip(":"), let value = scanValue(depth: depth + 1) else { return nil }
            if let key {
                // Foundation's decoder uses the first of several fields with the same key.
                fields[key] = fields[key] ?? value
            } else {
                elements.append(value)
            }
        }
        return isObject ? .object(fields) : .array(elements)
    }

    private mutating func scanKey() -> String? {
        let start = position
        guard next == UInt8(ascii: "\""), skipString() else { return nil }
        let text = bytes[start + 1..<position - 1]
        guard text.contains(UInt8(ascii: "\\")) else { return text.withUnsafeBytes { String(strictUTF8: $0) } }
        return try? JSONDecoder().decode(String.self, from: Data(bytes[start..<position]))
    }

    private mutating func skipString() -> Bool {
        position += 1
        while let byte = next {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return true }
        }
        return false
    }
}

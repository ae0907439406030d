#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes as a tree of containers; everything else in them is kept as it was written, so that a number keeps all its
/// digits.
enum StoredTree: Equatable {
    case object([String: StoredTree])
    case array([StoredTree])
    case json(ArraySlice<UInt8>)
    case propertyList(PropertyListValue)

    enum Format { case json, propertyList }

    /// Parses bytes; nil when they are neither JSON nor a property list.
    static func parse(_ data: Data) -> (tree: StoredTree, format: Format)? {
        if data.isPropertyList {
            return PropertyListValue.decoded(from: data).map { (StoredTree($0), .propertyList) }
        }
        return StoredTree(json: data).map { ($0, .json) }
    }

    /// Encodes the tree in a format, which has to be that of all its values; nil when that fails.
    func data(in format: Format) -> Data? { format == .json ? jsonData : propertyListData }
}

extension StoredTree {
    // Made by the compiler, this would be eight times as large.
    static func == (one: StoredTree, other: StoredTree) -> Bool {
        switch (one, other) {
        case (.object(let one), .object(let other)):
            one.count == other.count && one.allSatisfy { key, field in other[key].map { $0 == field } ?? false }
        case (.array(let one), .array(let other)): one.count == other.count && zip(one, other).allSatisfy { $0 == $1 }
        case (.json(let one), .json(let other)): one == other
        case (.propertyList(let one), .propertyList(let other)): one == other
        default: false
        }
    }

    /// The keys that lead to a value, outermost first.
    typealias Path = [String]

    /// The path of a property whose name has dots between the keys of nested ones.
    //
    // Compiled once, instead of in each of its dozen callers.
    @inline(never)
    static func path(_ name: String) -> Path { name.split(separator: ".").map(String.init) }

    /// The key of an element, in paths.
    static func key(of index: Int) -> String { "[\(index)]" }

    var fields: [String: StoredTree]? {
        if case .object(let fields) = self { fields } else { nil }
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
        case .array(let elements):
            return "[\(elements.map(\.identity).joined(separator: ","))]"
        case .json(let bytes):
            return Data(bytes).base64EncodedString()
        case .propertyList(let value):
            return value.binaryForm.base64EncodedString()
        }
    }

    /// Whether this is nil and nothing else.
    var isNull: Bool {
        if case .json(let bytes) = self { bytes.elementsEqual("null".utf8) } else { false }
    }

    /// Whether this is the format's representation of nil, which in a property list is also that of a string.
    var mayBeNull: Bool {
        if case .propertyList(.string("$null")) = self { true } else { isNull }
    }

    /// The value at a path.
    ///
    /// Setting nil removes it. Setting a value whose keyed container doesn't exist has no effect.
    subscript(path: Path) -> StoredTree? {
        get {
            guard let key = path.first else { return self }
            return fields?[key]?[path.droppingFirst()]
        }
        set {
            guard let key = path.first else {
                self = newValue ?? self
                return
            }
            guard case .object(var fields) = self else { return }
            if path.count == 1 {
                fields[key] = newValue
            } else {
                fields[key]?[path.droppingFirst()] = newValue
            }
            self = .object(fields)
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

    var propertyListData: Data? {
        propertyListValue?.propertyListData
    }

    private var propertyListValue: PropertyListValue? {
        switch self {
        case .json:
            return nil
        case .propertyList(let value):
            return value
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
}

extension StoredTree {
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
        case .propertyList:
            throw UnexpectedValue()
        case .json(let bytes):
            json += bytes
        case .array(let elements):
            try json.appendParts(elements.count, between: "[", "]") { try elements[$0].appendJSON(to: &$1) }
        case .object(let fields):
            let keys = Array(fields.keys).inOrder()
            try json.appendParts(keys.count, between: "{", "}") { index, json in
                try json.appendJSON(keys[index])
                json.append(UInt8(ascii: ":"))
                try fields[keys[index]]?.appendJSON(to: &json)
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendParts(
        _ count: Int,
        between start: Unicode.Scalar,
        _ end: Unicode.Scalar,
        _ appendPart: (_ index: Int, inout Self) throws -> Void
    ) rethrows {
        append(UInt8(ascii: start))
        for index in 0..<count {
            if index > 0 {
                append(UInt8(ascii: ","))
            }
            try appendPart(index, &self)
        }
        append(UInt8(ascii: end))
    }

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
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            position = 3
        }
    }

    mutating func scanDocument() -> StoredTree? {
        skipSpace()
        let tree = scanValue(depth: 0)
        skipSpace()
        return position == bytes.count ? tree : nil
    }

    private var next: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

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
        guard depth <= Self.maximumDepth else { return nil }
        let start = position
        switch next {
        case UInt8(ascii: "{"):
            var fields: [String: StoredTree] = [:]
            let isObject = scanParts(between: "{", "}") { scanner in
                guard let key = scanner.scanKey(), scanner.skip(":"), let value = scanner.scanValue(depth: depth + 1)
                else { return false }
                // Foundation's decoder uses the first of several fields with the same key.
                fields[key] = fields[key] ?? value
                return true
            }
            return isObject && depth < Self.maximumDepth ? .object(fields) : nil
        case UInt8(ascii: "["):
            var elements: [StoredTree] = []
            let isArray = scanParts(between: "[", "]") { scanner in
                guard let element = scanner.scanValue(depth: depth + 1) else { return false }
                elements.append(element)
                return true
            }
            return isArray && depth < Self.maximumDepth ? .array(elements) : nil
        case UInt8(ascii: "\""):
            guard skipString() else { return nil }
        default:
            while let byte = next, !",]}:\"[{ \t\n\r".utf8.contains(byte) {
                position += 1
            }
        }
        return position > start ? .json(bytes[start..<position]) : nil
    }

    private mutating func scanParts(
        between start: Unicode.Scalar,
        _ end: Unicode.Scalar,
        _ scanPart: (inout Self) -> Bool
    ) -> Bool {
        guard skip(start) else { return false }
        var isFirst = true
        while !skip(end) {
            // Foundation's decoder allows a comma after the last part.
            guard isFirst || skip(",") else { return false }
            isFirst = false
            if next != UInt8(ascii: end), !scanPart(&self) {
                return false
            }
        }
        return true
    }

    private mutating func scanKey() -> String? {
        let start = position
        guard next == UInt8(ascii: "\""), skipString() else { return nil }
        let literal = bytes[start..<position]
        guard literal.contains(UInt8(ascii: "\\")) else {
            return literal.dropFirst().dropLast().withUnsafeBytes { String(strictUTF8: $0) }
        }
        return try? JSONDecoder().decode(String.self, from: Data(literal))
    }

    private mutating func skipString() -> Bool {
        position += 1
        while let byte = next {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") {
                return true
            }
        }
        return false
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
        case .propertyList: throw UnexpectedValue()
        case .json(let bytes): json += bytes
        case .array(let elements):
            json.append(ascii: "[")
            for (index, element) in elements.enumerated() {
                if index > 0 { json.append(ascii: ",") }
                try element.appendJSON(to: &json)
            }
            json.append(ascii: "]")
        case .object(let fields):
            json.append(ascii: "{")
            for (index, key) in fields.keys.sorted().enumerated() {
                if index > 0 { json.append(ascii: ",") }
                try json.appendJSON(key)
                json.append(ascii: ":")
                try fields[key]?.appendJSON(to: &json)
            }
            json.append(ascii: "}")
        }
    }
}

extension [UInt8] {
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
        while let byte = next, byte.isJSONSpace { position += 1 }
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
            while let byte = next, !byte.endsJSONWord { position += 1 }
        }
        return position > start ? .json(bytes[start..<position]) : nil
    }

    private mutating func scanContainer(isObject: Bool, depth: Int) -> StoredTree? {
        guard depth < Self.maximumDepth else { return nil }
        let end: Unicode.Scalar = isObject ? "}" : "]"
        var fields: [(String, StoredTree)] = []
        var elements: [StoredTree] = []
        position += 1
        while !skip(end) {
            // Foundation's decoder allows a comma after the last part.
            guard fields.isEmpty && elements.isEmpty || skip(",") else { return nil }
            if next == UInt8(ascii: end) { continue }
            let key = isObject ? scanKey() : nil
            guard !isObject || key != nil && skip(":"), let value = scanValue(depth: depth + 1) else { return nil }
            if let key {
                fields.append((key, value))
            } else {
                elements.append(value)
            }
        }
        if !isObject { return .array(elements) }
        // Foundation's decoder uses the first of several fields with the same key.
        return .object(Dictionary(fields) { first, _ in first })
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

extension UInt8 {
    fileprivate var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    /// Whether a number or a word ends before this byte.
    fileprivate var endsJSONWord: Bool {
        switch Unicode.Scalar(self) {
        case ",", "]", "}", ":", "\"", "[", "{": true
        default: isJSONSpace
        }
    }
}

internal import Foundation

extension StoredTree {
    /// Parses the keyed containers of JSON in UTF-8; the decoder checks whether the rest is well-formed.
    init?(json data: Data) {
        var scanner = JSONScanner(bytes: [UInt8](data))
        guard let tree = scanner.scanDocument() else { return nil }
        self = tree
    }

    /// The elements of an array in JSON; nil when it is something else.
    static func elements(ofJSON bytes: ArraySlice<UInt8>) -> [StoredTree]? {
        guard bytes.first == UInt8(ascii: "[") else {
            return nil
        }
        var scanner = JSONScanner(bytes: Array(bytes))
        return scanner.scanElements()
    }

    static func json(arrayOf elements: [StoredTree]) -> StoredTree? {
        var data = Data("[".utf8)
        for (index, element) in elements.enumerated() {
            if index > 0 {
                data.append(UInt8(ascii: ","))
            }
            guard element.appendJSON(to: &data) else {
                return nil
            }
        }
        data.append(UInt8(ascii: "]"))
        return .json(Array(data)[...])
    }

    var jsonData: Data? {
        var data = Data()
        return appendJSON(to: &data) ? data : nil
    }

    private func appendJSON(to data: inout Data) -> Bool {
        switch self {
        case .propertyList:
            return false
        case .json(let bytes):
            data.append(contentsOf: bytes)
            return true
        case .object(let fields):
            data.append(UInt8(ascii: "{"))
            var isFirst = true
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                if !isFirst {
                    data.append(UInt8(ascii: ","))
                }
                isFirst = false
                guard data.appendJSON(key) else { return false }
                data.append(UInt8(ascii: ":"))
                guard value.appendJSON(to: &data) else { return false }
            }
            data.append(UInt8(ascii: "}"))
            return true
        }
    }
}

extension Data {
    fileprivate mutating func appendJSON(_ key: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        if key.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != quote && $0 != UInt8(ascii: "\\") }) {
            append(quote)
            append(contentsOf: key.utf8)
            append(quote)
            return true
        }
        guard let literal = try? JSONEncoder().encode(key) else { return false }
        append(literal)
        return true
    }
}

/// Finds the keyed containers in JSON.
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
        if next == UInt8(ascii: "{") {
            return scanObject(depth: depth)
        }
        let start = position
        switch next {
        case UInt8(ascii: "["):
            guard skipArray() else { return nil }
        case UInt8(ascii: "\""):
            guard skipString() else { return nil }
        default:
            while let byte = next, !",]}:\"[{ \t\n\r".utf8.contains(byte) {
                position += 1
            }
        }
        return position > start ? .json(bytes[start..<position]) : nil
    }

    private mutating func scanObject(depth: Int) -> StoredTree? {
        guard depth < Self.maximumDepth, skip("{") else { return nil }
        var fields: [String: StoredTree] = [:]
        var isFirst = true
        while !skip("}") {
            // Foundation's decoder allows a comma after the last field.
            guard isFirst || skip(",") else { return nil }
            isFirst = false
            if next == UInt8(ascii: "}") {
                continue
            }
            guard let key = scanKey(), skip(":"), let value = scanValue(depth: depth + 1) else { return nil }
            // It also uses the first of several fields with the same key.
            fields[key] = fields[key] ?? value
        }
        return .object(fields)
    }

    mutating func scanElements() -> [StoredTree]? {
        guard skip("[") else { return nil }
        var elements: [StoredTree] = []
        while !skip("]") {
            guard elements.isEmpty || skip(",") else { return nil }
            // Foundation's decoder allows a comma after the last element.
            if next == UInt8(ascii: "]") {
                continue
            }
            guard let element = scanValue(depth: 0) else { return nil }
            elements.append(element)
        }
        return elements
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

    /// Skips an array and its contents; brackets are only counted, because the decoder has checked that they match.
    private mutating func skipArray() -> Bool {
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard skipString() else { return false }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
            default:
                break
            }
            position += 1
            if depth == 0 {
                return true
            }
        }
        return false
    }
}

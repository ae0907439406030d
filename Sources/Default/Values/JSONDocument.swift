/// A strict reader of JSON (RFC 8259) that says where a text is wrong.
///
/// Foundation's decoder takes the first of two fields with one name, and tells neither line nor column. A file that
/// people edit needs both: what is written twice is a mistake, and a mistake has a place.
struct JSONDocument {
    /// What is wrong, and where.
    struct Fault: Error, Equatable {
        /// A clause: "a comma or ] is missing".
        let reason: String
        /// The line, counted from 1.
        let line: Int
        /// The character in the line, counted from 1.
        let column: Int
    }

    /// A value of the text.
    struct Node {
        indirect enum Content {
            case null
            case boolean(Bool)
            /// As it is written.
            case number(String)
            case string(String)
            case array([Node])
            case object([Field])
        }

        struct Field {
            let name: String
            let value: Node
        }

        let content: Content
        /// Its place in the bytes.
        let range: Range<Int>
    }

    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var position = 0

    private init(_ bytes: [UInt8], maximumDepth: Int) { (self.bytes, self.maximumDepth) = (bytes, maximumDepth) }

    /// The value of a document in UTF-8, with or without a byte order mark; nil for null.
    ///
    /// A null inside says nothing: its name, or its place in an array, is left out.
    ///
    /// - Throws: Where the text isn't JSON, has a name twice, nests too deeply, or has a number that doesn't fit into
    ///   64 bits.
    static func value(of bytes: [UInt8]) throws(Fault) -> PropertyListValue? {
        let (document, node) = try parse(bytes, maximumDepth: PropertyListValue.maximumDepth)
        return try document.plainValue(of: node)
    }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8, with or without a byte order mark.
    ///   - maximumDepth: The number of levels that it may nest.
    /// - Returns: The document, which knows the places of faults, and its value.
    /// - Throws: Where the text isn't JSON, has a name twice or nests too deeply.
    static func parse(_ bytes: [UInt8], maximumDepth: Int) throws(Fault) -> (document: JSONDocument, value: Node) {
        var document = JSONDocument(bytes, maximumDepth: maximumDepth)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { document.position = 3 }
        document.skipSpace()
        let value = try document.readValue(depth: 0)
        document.skipSpace()
        guard document.position == bytes.count else { throw document.fault("something follows the end") }
        return (document, value)
    }

    private func plainValue(of node: Node) throws(Fault) -> PropertyListValue? {
        switch node.content {
        case .null: return nil
        case .boolean(let boolean): return .boolean(boolean)
        case .number: return try number(node)
        case .string(let string): return .string(string)
        case .array(let elements):
            var values: [PropertyListValue] = []
            for element in elements {
                if let value = try plainValue(of: element) { values.append(value) }
            }
            return .array(values)
        case .object(let fields):
            var values: [String: PropertyListValue] = [:]
            for field in fields { values[field.name] = try plainValue(of: field.value) }
            return .dictionary(values)
        }
    }

    /// A number of at most 64 bits: an integer unless it is written with a fraction or an exponent.
    func number(_ node: Node) throws(Fault) -> PropertyListValue {
        guard case .number(let text) = node.content else { throw fault("a number is missing", at: node) }
        if !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) {
            if let integer = Int64(text) { return .integer(integer) }
            if let integer = UInt64(text) { return .unsigned(integer) }
        } else if let real = Double(text), real.isFinite {
            return .real(real)
        }
        throw fault("a number doesn't fit into 64 bits", at: node)
    }

    /// The text of a value as it is written.
    func text(of node: Node) -> ArraySlice<UInt8> { bytes[node.range] }

    /// A fault of a value.
    func fault(_ reason: String, at node: Node) -> Fault { fault(reason, at: node.range.lowerBound) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func fault(_ reason: String, at place: Int? = nil) -> Fault {
        let before = bytes[..<min(place ?? position, bytes.count)]
        let line = before.reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // A character's other bytes begin with the bits 10.
        let column = before[start...].reduce(1) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        return Fault(reason: reason, line: line, column: column)
    }

    private mutating func readValue(depth: Int) throws(Fault) -> Node {
        let start = position
        let content: Node.Content =
            switch next {
            case UInt8(ascii: "{"): .object(try readObject(depth: depth))
            case UInt8(ascii: "["): .array(try readArray(depth: depth))
            case UInt8(ascii: "\""): .string(try readString())
            case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: .number(try readNumber())
            case nil:
                throw fault(bytes.allSatisfy { $0 <= 0x20 } ? "the text is empty" : "the end is missing")
            default: try readWord()
            }
        return Node(content: content, range: start..<position)
    }

    private mutating func readWord() throws(Fault) -> Node.Content {
        let start = position
        while let byte = next, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") { position += 1 }
        switch String(decoding: bytes[start..<position], as: UTF8.self) {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default: throw fault("a value is missing", at: start)
        }
    }

    private mutating func readObject(depth: Int) throws(Fault) -> [Node.Field] {
        guard depth < maximumDepth else { throw fault("it nests more than \(maximumDepth) levels") }
        position += 1
        var fields: [Node.Field] = []
        var names: Set<StoreKey> = []
        skipSpace()
        if skip("}") { return fields }
        while true {
            let start = position
            guard next == UInt8(ascii: "\"") else { throw fault("a name in quotation marks is missing") }
            let name = try readString()
            guard names.insert(StoreKey(unchecked: name)).inserted else {
                throw fault("the name \(name.debugDescription) is there twice", at: start)
            }
            skipSpace()
            guard skip(":") else { throw fault("a colon is missing") }
            skipSpace()
            fields.append(Node.Field(name: name, value: try readValue(depth: depth + 1)))
            skipSpace()
            if skip("}") { return fields }
            guard skip(",") else { throw fault(next == nil ? "the end is missing" : "a comma or } is missing") }
            skipSpace()
        }
    }

    private mutating func readArray(depth: Int) throws(Fault) -> [Node] {
        guard depth < maximumDepth else { throw fault("it nests more than \(maximumDepth) levels") }
        position += 1
        var elements: [Node] = []
        skipSpace()
        if skip("]") { return elements }
        while true {
            elements.append(try readValue(depth: depth + 1))
            skipSpace()
            if skip("]") { return elements }
            guard skip(",") else { throw fault(next == nil ? "the end is missing" : "a comma or ] is missing") }
            skipSpace()
        }
    }

    private mutating func readNumber() throws(Fault) -> String {
        let start = position
        _ = skip("-")
        let digits = position
        skipDigits()
        guard position > digits, bytes[digits] != UInt8(ascii: "0") || position == digits + 1 else {
            throw fault("a number is malformed", at: start)
        }
        if skip(".") { try requireDigits(of: start) }
        if skip("e") || skip("E") {
            if !skip("-") { _ = skip("+") }
            try requireDigits(of: start)
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipDigits() {
        while let byte = next, byte.isDigit { position += 1 }
    }

    private mutating func requireDigits(of start: Int) throws(Fault) {
        let first = position
        skipDigits()
        if position == first { throw fault("a number is malformed", at: start) }
    }

    private mutating func readString() throws(Fault) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = text.withUnsafeBytes({ String(strictUTF8: $0) }) else {
                    throw fault("a string isn't UTF-8", at: start)
                }
                return string
            case UInt8(ascii: "\\"): text += try readEscape()
            case 0..<0x20: throw fault("a string has a control character, which has to be escaped")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw fault("a quotation mark is missing", at: start)
    }

    private mutating func readEscape() throws(Fault) -> [UInt8] {
        let start = position
        position += 2
        guard position <= bytes.count else { throw fault("an escape is malformed", at: start) }
        switch Unicode.Scalar(bytes[position - 1]) {
        case "\"", "\\", "/": return [bytes[position - 1]]
        case "b": return [0x08]
        case "f": return [0x0C]
        case "n": return [0x0A]
        case "r": return [0x0D]
        case "t": return [0x09]
        case "u":
            var code = UInt32(try readHexadecimal(from: start))
            if (0xD800..<0xDC00).contains(code), skip("\\"), skip("u") {
                let low = UInt32(try readHexadecimal(from: start))
                guard (0xDC00..<0xE000).contains(low) else { throw fault("an escape is malformed", at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw fault("an escape is malformed", at: start) }
            return Array(String(scalar).utf8)
        default: throw fault("an escape is malformed", at: start)
        }
    }

    private mutating func readHexadecimal(from start: Int) throws(Fault) -> UInt16 {
        let digits = bytes[min(position, bytes.count)..<min(position + 4, bytes.count)]
        guard digits.count == 4, digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let code = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault("an escape is malformed", at: start) }
        position += 4
        return code
    }
}

extension UInt8 {
    /// Whether this is a digit in ASCII.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

internal import Default
internal import Foundation

/// Reads the value that a JSON text means; ``JSONText`` says which text means what.
struct JSONReader {
    private let bytes: [UInt8]
    private var scanner: JSONScanner

    private static let maximumDepth = 256

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        scanner = JSONScanner(bytes)
    }

    /// The value, with white space around it at most; nil when the text is malformed.
    mutating func wholeValue() -> PropertyListValue? {
        guard JSONScanner.isUTF8(bytes), let value = value(depth: 0) else { return nil }
        scanner.skipSpace()
        return scanner.current == nil ? value : nil
    }

    /// The values of an object under its names, with white space around it at most; nil when the text is malformed, is
    /// another value, or has a name twice.
    ///
    /// As in a suite, names are distinguished by their bytes, which those of a dictionary are not.
    mutating func wholeSuite() -> [StoreKey: PropertyListValue]? {
        guard JSONScanner.isUTF8(bytes), case _ = scanner.skipSpace(), scanner.skip("{") else { return nil }
        var values: [StoreKey: PropertyListValue] = [:]
        scanner.skipSpace()
        if !scanner.skip("}") {
            repeat {
                guard case .plain(let name)? = name(), let value = value(depth: 0),
                    values.updateValue(value, forKey: StoreKey(unchecked: name)) == nil
                else {
                    return nil
                }
                scanner.skipSpace()
            } while scanner.skip(",")
            guard scanner.skip("}") else { return nil }
        }
        scanner.skipSpace()
        return scanner.current == nil ? values : nil
    }

    private mutating func value(depth: Int) -> PropertyListValue? {
        scanner.skipSpace()
        switch scanner.current {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return scanner.skipWord("true") ? .boolean(true) : nil
        case UInt8(ascii: "f"): return scanner.skipWord("false") ? .boolean(false) : nil
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "{"): return object(depth: depth)
        default: return number()
        }
    }

    private mutating func number() -> PropertyListValue? {
        let start = scanner.position
        guard scanner.skipNumber() else { return nil }
        let text = String(decoding: bytes[start..<scanner.position], as: UTF8.self)
        if text.utf8.contains(where: { ".eE".utf8.contains($0) }) {
            guard let real = Double(text), real.isFinite else { return nil }
            return .real(real)
        }
        if let integer = Int64(text) {
            return .integer(integer)
        }
        return UInt64(text).map { .unsigned($0) }
    }

    private mutating func array(depth: Int) -> PropertyListValue? {
        guard depth < Self.maximumDepth, scanner.skip("[") else { return nil }
        var elements: [PropertyListValue] = []
        scanner.skipSpace()
        if scanner.skip("]") {
            return .array(elements)
        }
        while let element = value(depth: depth + 1) {
            elements.append(element)
            scanner.skipSpace()
            if scanner.skip("]") {
                return .array(elements)
            }
            guard scanner.skip(",") else { return nil }
        }
        return nil
    }

    private mutating func object(depth: Int) -> PropertyListValue? {
        guard scanner.skip("{") else { return nil }
        var entries: [String: PropertyListValue] = [:]
        scanner.skipSpace()
        if scanner.skip("}") {
            return depth < Self.maximumDepth ? .dictionary(entries) : nil
        }
        while true {
            let key: String
            switch name() {
            case .plain(let name)?: key = name
            case .special(let name)?:
                guard entries.isEmpty, let value = special(name, depth: depth), case _ = scanner.skipSpace(),
                    scanner.skip("}")
                else {
                    return nil
                }
                return value
            case nil: return nil
            }
            guard depth < Self.maximumDepth, let value = value(depth: depth + 1),
                entries.updateValue(value, forKey: key) == nil
            else {
                return nil
            }
            scanner.skipSpace()
            if scanner.skip("}") {
                return .dictionary(entries)
            }
            guard scanner.skip(",") else { return nil }
        }
    }

    private enum Name {
        case plain(String)
        /// One of our own.
        case special(String)
    }

    /// The name before a value, and the colon after it.
    private mutating func name() -> Name? {
        scanner.skipSpace()
        guard var name = string() else { return nil }
        scanner.skipSpace()
        guard scanner.skip(":") else { return nil }
        if name.utf8.starts(with: "$$".utf8) {
            name.removeFirst()
        } else if name.utf8.first == UInt8(ascii: "$") {
            return .special(name)
        }
        return .plain(name)
    }

    /// What an object with one of our own keys means.
    private mutating func special(_ key: String, depth: Int) -> PropertyListValue? {
        scanner.skipSpace()
        switch key {
        case "$json":
            let start = scanner.position
            return scanner.skipValue() ? .data(Data(bytes[start..<scanner.position])) : nil
        case "$data":
            return string().flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        case "$real":
            return string().flatMap(Self.real).map { .real($0) }
        // Within another date, an object can only stand for a real number.
        case "$date" where depth <= Self.maximumDepth:
            switch value(depth: Self.maximumDepth + 1) {
            case .string(let text)?: return CivilTime.date(of: text).map { .date($0) }
            case .integer(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
            case .real(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: seconds))
            default: return nil
            }
        default:
            return nil
        }
    }

    private static func real(_ text: String) -> Double? {
        switch text {
        case "inf": .infinity
        case "-inf": -.infinity
        case "nan": .nan
        default:
            text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16).map { Double(bitPattern: $0) } : nil
        }
    }

    private mutating func string() -> String? {
        let start = scanner.position
        guard scanner.skipString() else { return nil }
        // Half of a surrogate pair is malformed.
        return try? JSONDecoder().decode(String.self, from: Data(bytes[start..<scanner.position]))
    }
}

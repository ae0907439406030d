#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes as a tree of containers; everything else in them is kept as it was written, so that a number keeps all its
/// digits.
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

    /// The path of a property whose name has dots between the keys of nested ones.
    //
    // Compiled once, instead of in each of its dozen callers.
    @inline(never)
    static func path(_ name: String) -> Path { name.split(separator: ".").map(String.init) }

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

/// Stored bytes with the new names of renamed properties.
///
/// A value moves to the last name of its chain at once: with `["z": "y", "y": "x"]`, both "z" and "y" become "x". If several
/// old names of a property are stored, the one nearest to the new name is used. Parents move before what is in them, and the
/// names of nested properties are known under their parents' old and new names. So the outcome does not depend on the order
/// in which the names are listed.
struct Renaming {
    /// The bytes with the new names; nil when no property has an old name.
    let data: Data?

    /// The paths of values that have an old name, because another value has the new one.
    private let unused: [StoredTree.Path]

    /// Fails when nothing in the bytes has an old name.
    ///
    /// - Parameters:
    ///   - names: The new names by the old ones, with dots between the keys of nested properties.
    ///   - data: The bytes.
    init?(_ names: [String: String], in data: Data) {
        guard names.keys.contains(where: { Self.mayContain($0, in: data) }),
            case (var tree, let format)? = StoredTree.parse(data)
        else { return nil }
        let rules = Rule.all(of: names)
        var isChanged = false
        // A parent that moves may bring other old names with it, so this ends when nothing changes. No value moves twice
        // from the same name, but a mistake in the names must not make it endless.
        for _ in 0...rules.count {
            guard rules.count(where: { tree.move(by: $0) }) > 0 else { break }
            isChanged = true
        }
        unused = rules.filter { rule in tree[rule.old].map { !$0.isNull && !rule.isWrapped($0) } ?? false }.map(\.old)
        guard isChanged || !unused.isEmpty else { return nil }
        self.data = isChanged ? tree.data(in: format) : nil
    }

    /// The paths of values that have an old name and are not used.
    ///
    /// - Parameters:
    ///   - value: The value that was decoded. An old name may be the name of one of its properties again.
    ///   - coder: The coder of the bytes.
    /// - Returns: The paths, in the order in which the names apply.
    func unusedPaths(besides value: (any Encodable)?, coder: DefaultsCoder) -> [StoredTree.Path] {
        guard !unused.isEmpty, let value, let data = try? coder.encodeTopLevel(value),
            let (used, _) = StoredTree.parse(data)
        else { return unused }
        return unused.filter { used[$0] == nil }
    }

    /// Whether bytes may contain a key; this search avoids parsing bytes in which nothing has to be renamed.
    private static func mayContain(_ name: String, in data: Data) -> Bool {
        let key = StoredTree.path(name).last ?? ""
        // Both formats have several forms for other characters, and JSON and XML may contain any in escaped form.
        return key.utf8.contains { $0 >= 0x80 } || ["\\", "&", key].contains { data.contains($0) }
    }
}

/// Where the value with an old name belongs.
private struct Rule {
    let name: String
    let old: StoredTree.Path
    let new: StoredTree.Path
    /// The number of names in between.
    let distance: Int

    /// Whether a value under the old name is the container that the property was moved into.
    ///
    /// With `["theme": "theme.name"]`, "theme" is the old name of a string, and the new name of an object.
    func isWrapped(_ value: StoredTree) -> Bool { value.fields != nil && new.starts(with: old) }

    private func precedes(_ other: Rule) -> Bool {
        (old.count, distance, name) < (other.old.count, other.distance, other.name)
    }

    /// The rules for some names, in the order in which they apply.
    static func all(of stated: [String: String]) -> [Rule] {
        var names: [String: String] = [:]
        for (old, new) in stated {
            // There may be dots too many.
            let (old, new) = (StoredTree.path(old).joined(separator: "."), StoredTree.path(new).joined(separator: "."))
            names[old] = old.isEmpty || new.isEmpty || old == new ? nil : new
        }
        var rules: [Rule] = []
        for old in Array(names.keys).inOrder() {
            // A nested property is known under its parents' old and new names.
            var alias = old
            for _ in 0...names.count {
                let path = StoredTree.path(alias)
                // Names that lead back to themselves are ignored.
                if !rules.contains(where: { $0.old == path }), let start = names[alias] ?? names[old],
                    let (new, distance) = destination(of: start, by: names), new != alias
                {
                    let rule = Rule(name: alias, old: path, new: StoredTree.path(new), distance: distance)
                    rules.insert(rule, at: rules.firstIndex { rule.precedes($0) } ?? rules.endIndex)
                }
                guard let moved = step(from: alias, by: names, isParentOnly: true) else { break }
                alias = moved
            }
        }
        return rules
    }

    private static func destination(of name: String, by names: [String: String]) -> (name: String, distance: Int)? {
        var (current, distance) = (name, 0)
        while let moved = step(from: current, by: names, isParentOnly: false) {
            guard distance <= names.count, moved != name else { return nil }
            (current, distance) = (moved, distance + 1)
        }
        return (current, distance)
    }

    /// Renames the longest part of a path that has an old name.
    private static func step(from name: String, by names: [String: String], isParentOnly: Bool) -> String? {
        let path = StoredTree.path(name)
        for count in (1...path.count).reversed().dropFirst(isParentOnly ? 1 : 0) {
            let old = path.prefix(count)
            // A property that moved into a container of its own name is there already.
            if let new = names[old.joined(separator: ".")],
                count == path.count || !StoredTree.path(new).starts(with: old)
            {
                return ([new] + path.dropFirst(count)).joined(separator: ".")
            }
        }
        return nil
    }
}

extension StoredTree {
    /// Moves a value from its old name to its new one.
    ///
    /// - Returns: Whether anything was changed; not when there is no value, or another has the new name or blocks its path.
    fileprivate mutating func move(by rule: Rule) -> Bool {
        guard let value = self[rule.old], !value.isNull, !rule.isWrapped(value), self[rule.new]?.mayBeNull ?? true
        else { return false }
        var renamed = self
        renamed[rule.old] = nil
        for count in 1..<rule.new.count {
            let parent = Array(rule.new.prefix(count))
            if renamed[parent]?.mayBeNull ?? true {
                renamed[parent] = .object([:])
            }
        }
        renamed[rule.new] = value
        // A parent that isn't a container blocks it.
        guard renamed[rule.new] != nil else { return false }
        self = renamed
        return true
    }
}

// Computes from the source who uses whom, and fails on an arrow that goes up: `layers DIRECTORY`, where DIRECTORY has `Sources`
// in it. `.ci/layers` compiles and runs this file.
//
// What counts as a use, in the files of one module:
// - the name of a top-level declaration (type, protocol, typealias, function, global) wherever an expression or a type can
//   stand. Comments, strings (but not what is interpolated), labels, names being declared, names after a dot, and names that
//   a parameter, a local, a generic parameter or a member of an enclosing type hides do not count;
// - a member of a type, where the type is certain: `Type.member`, `self.member`, and `member` alone inside the type or
//   an extension of it. A member has the folder of the extension that declares it. `value.member` does not count: only the
//   compiler knows the type of `value`.
// - extending a type is a use of the type.
//
// A private declaration exists in its own file only. A name that several folders declare (overloads, `#if`) counts for the
// one that may be used, as long as there is one: this program doesn't choose between overloads. Such names of top-level
// declarations are printed.

import Foundation

// MARK: The rules

/// The layers of a module, from top to bottom.
///
/// Those in one row are side by side, and may not use each other.
let layers: [String: [[String]]] = [
    "Default": [
        ["Storable", "Keys", "Containers"], ["Access"], ["Evolution"], ["Caching"], ["Coding"], ["Stores"],
        ["Diagnostics"],
        ["Values"],
    ],
    "DefaultJournal": [["Engine"], ["Replay"], ["Format"], ["Platform"]],
]

/// What the modules of this package may use of each other.
let modules: [String: Set<String>] = [
    "CDefaultSystem": [],
    "DefaultJournal": ["CDefaultSystem"],
    "Default": ["DefaultJournal"],
    "DefaultOperators": ["Default"],
    "DefaultTesting": ["Default"],
    "DefaultSwiftUI": ["Default"],
]

/// Modules of the system that the engine may use in one folder only, or not at all.
let engineImports: [String: Set<String>] = [
    "Glibc": ["Platform"], "Musl": ["Platform"], "Darwin": ["Platform"],
    "Foundation": [], "FoundationEssentials": [],
]

/// Whether one folder of a module may use another.
func mayUse(_ user: String, _ used: String, in module: String) -> Bool {
    guard user != used, let rows = layers[module] else {
        return true
    }
    // Folders that are in no row are reported once, not with each arrow.
    guard let from = rows.firstIndex(where: { $0.contains(user) }),
        let to = rows.firstIndex(where: { $0.contains(used) })
    else {
        return true
    }
    return from < to
}

// MARK: Tokens

struct Token {
    enum Kind { case name, keyword, literal, symbol }

    var kind: Kind
    var text: String
    var line: Int
    var isFirstInLine: Bool
    /// Whether nothing stands between this token and the one before it.
    var isJoined: Bool
}

let keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit",
    "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
    "in",
    "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat",
    "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while", "_",
]

/// Cuts a file into tokens.
///
/// Comments, the text of strings and regular expressions, and the conditions of `#if` leave none.
struct Tokenizer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private(set) var tokens: [Token] = []

    init(_ text: String) {
        bytes = Array(text.utf8)
        read(untilParenthesis: false)
    }

    private func byte(_ offset: Int = 0) -> UInt8 { position + offset < bytes.count ? bytes[position + offset] : 0 }
    private func follows(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> String {
        let start = position
        while position < bytes.count, condition(bytes[position]) { advance() }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private var end = 0

    private mutating func add(_ kind: Token.Kind, _ text: String, line startLine: Int, start: Int) {
        let isFirst = tokens.last?.line != startLine
        tokens.append(Token(kind: kind, text: text, line: startLine, isFirstInLine: isFirst, isJoined: start == end))
        end = position
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A
            || byte >= 0x30 && byte <= 0x39
    }

    private static func isOperator(_ byte: UInt8) -> Bool { "/=-+!*%<>&|^~?".utf8.contains(byte) }

    /// Reads to the end of the file, or to the end of what is interpolated into a string.
    private mutating func read(untilParenthesis: Bool) {
        var depth = 0
        while position < bytes.count {
            let start = position
            let startLine = line
            let first = byte()
            if first == 0x20 || first == 0x09 || first == 0x0A || first == 0x0D {
                advance()
            } else if follows("//") {
                _ = take { $0 != 0x0A }
            } else if follows("/*") {
                skipBlockComment()
            } else if first == UInt8(ascii: "\"") || first == UInt8(ascii: "#") && startsRawString {
                skipString()
                add(.literal, "\"\"", line: startLine, start: start)
            } else if first == UInt8(ascii: "#") {
                advance()
                let name = take(while: Self.isName)
                if name == "if" || name == "elseif" { _ = take { $0 != 0x0A } }
            } else if first == UInt8(ascii: "/"), startsRegularExpression {
                skipRegularExpression()
                add(.literal, "//", line: startLine, start: start)
            } else if first >= 0x30, first <= 0x39 {
                _ = take { Self.isName($0) }
                add(.literal, "0", line: startLine, start: start)
            } else if first == UInt8(ascii: "`") {
                advance()
                let name = take { $0 != UInt8(ascii: "`") }
                advance()
                add(.name, name, line: startLine, start: start)
            } else if Self.isName(first) {
                let name = take(while: Self.isName)
                add(keywords.contains(name) ? .keyword : .name, name, line: startLine, start: start)
            } else if Self.isOperator(first) || follows("..") {
                // Only operators that begin with a dot have dots in them, so `?.` is two tokens.
                let text = take { Self.isOperator($0) || first == UInt8(ascii: ".") && $0 == first }
                add(.symbol, text, line: startLine, start: start)
            } else {
                if first == UInt8(ascii: "(") { depth += 1 }
                if first == UInt8(ascii: ")") { depth -= 1 }
                advance()
                add(.symbol, String(UnicodeScalar(first)), line: startLine, start: start)
                if untilParenthesis, depth == 0 { return }
            }
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if follows("/*") {
                depth += 1
                advance(2)
            } else if follows("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && position < bytes.count
    }

    private var startsRawString: Bool {
        var offset = 0
        while byte(offset) == UInt8(ascii: "#") { offset += 1 }
        return byte(offset) == UInt8(ascii: "\"")
    }

    /// Skips a string, and reads what is interpolated into it.
    private mutating func skipString() {
        let hashes = take { $0 == UInt8(ascii: "#") }
        let quote = follows("\"\"\"") ? "\"\"\"" : "\""
        advance(quote.utf8.count)
        while position < bytes.count, !follows(quote + hashes) {
            if follows("\\" + hashes) {
                advance(1 + hashes.utf8.count)
                if byte() == UInt8(ascii: "(") { read(untilParenthesis: true) } else { advance() }
            } else {
                advance()
            }
        }
        advance(quote.utf8.count + hashes.utf8.count)
    }

    /// Whether a slash begins a regular expression: where no operand came before, and with another one on its line.
    private var startsRegularExpression: Bool {
        guard byte(1) != 0x20, let last = tokens.last, let end = bytes[position...].firstIndex(of: 0x0A),
            bytes[(position + 1)..<end].contains(UInt8(ascii: "/"))
        else {
            return false
        }
        return last.kind == .symbol && !")]}".contains(last.text) || last.kind == .keyword && last.text != "self"
    }

    private mutating func skipRegularExpression() {
        advance()
        while position < bytes.count, byte() != UInt8(ascii: "/"), byte() != 0x0A {
            advance(byte() == UInt8(ascii: "\\") ? 2 : 1)
        }
        advance()
    }
}

// MARK: Declarations and mentions

struct File {
    var path: String
    var module: String
    var folder: String
}

struct Declaration {
    var name: String
    var file: File
    var isPrivate: Bool
}

struct Mention {
    /// What stands before the dot: a type, `self`, or nothing.
    var qualifier: String?
    var name: String
    var line: Int
    var file: File
    /// The types around it, the innermost last.
    var types: [String]
}

/// What the files of a module declare and mention.
struct Module {
    /// By the path of the type they are in, "" for the top level, and by name.
    var declarations: [String: [String: [Declaration]]] = [:]
    /// What a type inherits from or conforms to, by its path.
    var inherited: [String: Set<String>] = [:]
    var aliases: [String: String] = [:]
    var mentions: [Mention] = []
    var imports: [(module: String, line: Int, file: File)] = []
}

/// Walks through the tokens of a file, and keeps what encloses them.
struct Walker {
    private enum Bracket { case body(Body), parentheses(isAttribute: Bool), square(isSubscript: Bool) }

    private struct Body {
        /// The type whose body this is; nil for code.
        var type: String?
        var isEnum = false
        var isPrivate = false
        /// Names of parameters and locals.
        var names: Set<String> = []
    }

    private let file: File
    private let tokens: [Token]
    private var brackets: [Bracket] = []
    /// The body that the next brace opens.
    private var pending: Body?
    /// How many brackets are around what the pending body belongs to.
    private var pendingDepth = 0
    /// Positions of names that are declared there.
    private var declared: Set<Int> = []
    /// Whether a `case` of an enum is being declared.
    private var isInCase = false
    private(set) var module: Module

    init(_ file: File, _ tokens: [Token], into module: Module) {
        self.file = file
        self.tokens = tokens
        self.module = module
    }

    mutating func walk() {
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            if isInCase, token.isFirstInLine, text(index - 1) != ",", isDirectlyInBody { isInCase = false }
            switch token.kind {
            case .keyword: index = visitKeyword(at: index)
            case .name: visitName(at: index)
            case .symbol: visitSymbol(at: index)
            case .literal: break
            }
            index += 1
        }
    }

    private func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }
    private func isName(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .name }

    private var body: Body? {
        if case .body(let body)? = brackets.last { body } else { nil }
    }
    /// Whether declarations here are those of a type or of the file.
    private var isDirectlyInBody: Bool { brackets.isEmpty || body?.type != nil }
    private var types: [String] {
        let around = brackets.compactMap { if case .body(let body) = $0 { body.type } else { nil } }
        return around + (pending?.type.map { [$0] } ?? [])
    }
    private var isInPrivateBody: Bool {
        brackets.contains { if case .body(let body) = $0 { body.isPrivate } else { false } }
    }

    // MARK: Symbols

    private mutating func visitSymbol(at index: Int) {
        switch text(index) {
        case "{":
            var opened = Body()
            if let pending, pendingDepth == brackets.count {
                opened = pending
                self.pending = nil
            }
            opened.names.formUnion(closureParameters(at: index))
            brackets.append(.body(opened))
        case "(":
            // What is in the parentheses of `@available` and the like is not Swift's usual grammar.
            let isAttribute = text(index - 2) == "@" && text(index - 1).first?.isLowercase == true
            brackets.append(.parentheses(isAttribute: isAttribute))
        case "[":
            let before = index > 0 ? tokens[index - 1] : nil
            let follows =
                before.map { $0.kind == .name || $0.text == "]" || $0.text == ")" || $0.text == "self" } ?? false
            brackets.append(.square(isSubscript: follows && tokens[index].isJoined))
        case "}", ")", "]":
            _ = brackets.popLast()
            if brackets.count < pendingDepth { pending = nil }
            if text(index) == "}" { isInCase = false }
        default: break
        }
    }

    /// The names between a brace and `in`.
    private func closureParameters(at brace: Int) -> Set<String> {
        var names: Set<String> = []
        var areParameters = true
        var depth = 0
        var index = brace + 1
        while index < tokens.count {
            let token = tokens[index]
            if token.text == "in", depth == 0 { return names }
            // What comes now are types.
            if token.text == "->" || token.text == "throws" { areParameters = false }
            switch token.text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case ",", ":", "->", "<", ">", "?", "&", ".", "@", "_", "=", "throws", "inout", "self", "Any": break
            default:
                guard token.kind == .name else { return [] }
                if areParameters, ["{", "(", ",", "[", "_"].contains(text(index - 1)) || isName(index - 1) {
                    names.insert(token.text)
                }
            }
            index += 1
        }
        return []
    }

    // MARK: Keywords

    /// Visits a keyword, and gives the last token that belongs to it alone.
    private mutating func visitKeyword(at index: Int) -> Int {
        let keyword = text(index)
        // `.init`, `.self`, and labels like `for:` and `in:`.
        guard text(index - 1) != ".", !isLabel(index) else {
            return index
        }
        switch keyword {
        case "import":
            let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
            let name = kinds.contains(text(index + 1)) ? index + 2 : index + 1
            module.imports.append((text(name), tokens[index].line, file))
            var last = name
            while last + 1 < tokens.count, tokens[last + 1].line == tokens[index].line { last += 1 }
            return last
        case "struct", "class", "enum", "protocol":
            if isName(index + 1) { declareType(at: index, isEnum: keyword == "enum") }
        case "extension": visitExtension(at: index)
        case "func":
            declare(index + 1, keyword: index)
            openPending(Body(isPrivate: false, names: signatureNames(after: index + 2)))
        case "init", "subscript":
            if isDirectlyInBody { openPending(Body(names: signatureNames(after: index + 1))) }
        case "typealias", "associatedtype":
            declare(index + 1, keyword: index)
            if brackets.isEmpty, text(index + 2) == "=" { module.aliases[text(index + 1)] = path(at: index + 3).text }
        case "operator":
            declared.insert(index + 1)
        case "precedencegroup":
            declare(index + 1, keyword: index)
        case "let", "var": visitBinding(at: index)
        case "for": bind(pattern(from: index + 1, until: "in"))
        case "case": if body?.isEnum == true { isInCase = true }
        default: break
        }
        return index
    }

    private mutating func openPending(_ body: Body) {
        pending = body
        pendingDepth = brackets.count
    }

    private func isPrivate(keyword: Int) -> Bool {
        let modifiers: Set<String> = [
            "public", "package", "internal", "open", "final", "static", "class", "mutating", "nonmutating", "lazy",
            "weak",
            "override", "indirect", "nonisolated", "prefix", "postfix", "infix", "convenience", "required", "private",
            "fileprivate",
        ]
        var index = keyword - 1
        while index >= 0, modifiers.contains(text(index)) {
            if text(index).hasSuffix("private") { return true }
            index -= 1
        }
        return false
    }

    private mutating func declare(_ index: Int, keyword: Int, in type: String? = nil) {
        declared.insert(index)
        guard isDirectlyInBody else {
            return bind([text(index)])
        }
        let isPrivate = isInPrivateBody || isPrivate(keyword: keyword)
        let declaration = Declaration(name: text(index), file: file, isPrivate: isPrivate)
        module.declarations[type ?? body?.type ?? "", default: [:]][text(index), default: []].append(declaration)
    }

    private mutating func declareType(at keyword: Int, isEnum: Bool) {
        declare(keyword + 1, keyword: keyword)
        let outer = types.last.map { $0 + "." } ?? ""
        // A type inside a function belongs to this file alone.
        let type = isDirectlyInBody ? outer + text(keyword + 1) : "\(file.path):\(tokens[keyword].line)"
        var opened = Body(type: type, isEnum: isEnum, isPrivate: isPrivate(keyword: keyword))
        opened.names = []
        openPending(opened)
        for name in genericParameters(at: keyword + 2) {
            let declaration = Declaration(name: name, file: file, isPrivate: false)
            module.declarations[type, default: [:]][name, default: []].append(declaration)
        }
        inherit(type, from: keyword + 2)
    }

    private mutating func visitExtension(at keyword: Int) {
        let (extended, end) = path(at: keyword + 1)
        let type = module(dropped: extended)
        openPending(Body(type: type, isPrivate: isPrivate(keyword: keyword)))
        inherit(type, from: end)
    }

    /// A path without the module's name before it.
    private func module(dropped path: String) -> String {
        path.hasPrefix(file.module + ".") ? String(path.dropFirst(file.module.count + 1)) : path
    }

    private func path(at start: Int) -> (text: String, end: Int) {
        var index = start
        var parts: [String] = []
        while isName(index) {
            parts.append(text(index))
            guard text(index + 1) == "." else { return (parts.joined(separator: "."), index + 1) }
            index += 2
        }
        return (parts.isEmpty ? "[]" : parts.joined(separator: "."), index)
    }

    private mutating func inherit(_ type: String, from start: Int) {
        var index = start
        while index < tokens.count, text(index) != "{", text(index) != "where" {
            if isName(index), [":", ",", "&"].contains(text(index - 1)) {
                module.inherited[type, default: []].insert(module(dropped: path(at: index).text))
            }
            index += 1
        }
    }

    /// The names between angle brackets that begin at a token.
    private func genericParameters(at start: Int) -> Set<String> {
        guard text(start) == "<" else { return [] }
        var names: Set<String> = []
        var depth = 1
        var index = start + 1
        while index < tokens.count, depth > 0 {
            if isName(index), depth == 1, [",", "<", "each", "let"].contains(text(index - 1)) {
                names.insert(text(index))
            }
            depth += text(index).count { $0 == "<" } - (text(index) == "->" ? 0 : text(index).count { $0 == ">" })
            index += 1
        }
        return names
    }

    /// The names of the generic and other parameters of a function.
    private func signatureNames(after start: Int) -> Set<String> {
        var names = genericParameters(at: start)
        var index = start
        while index < tokens.count, text(index) != "(", text(index) != "{" { index += 1 }
        var depth = 0
        while index < tokens.count {
            if ["(", "[", "{"].contains(text(index)) { depth += 1 }
            if [")", "]", "}"].contains(text(index)) { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, isName(index), text(index + 1) == ":",
                tokens[index - 1].kind != .symbol || "(,".contains(text(index - 1))
            {
                names.insert(text(index))
            }
            index += 1
        }
        return names
    }

    private mutating func visitBinding(at keyword: Int) {
        var index = keyword + 1
        if isName(index) {
            declare(index, keyword: keyword)
        } else {
            // `let (a, b)` and `case let .some(a)`: the names in the parentheses.
            while index < tokens.count, text(index) == "." || isName(index) { index += 1 }
            guard text(index) == "(" else { return }
            for name in pattern(from: index, until: ")") { bind([name]) }
            return
        }
        // `let a = 1, b = 2` and `if let a = x, let b`: what follows a comma and stands before `=`.
        var depth = 0
        while index < tokens.count, !(tokens[index].isFirstInLine && index > keyword + 1 && text(index - 1) != ",") {
            if ["(", "[", "{"].contains(text(index)) { depth += 1 }
            if [")", "]", "}"].contains(text(index)) { depth -= 1 }
            if depth < 0 { return }
            if depth == 0, text(index) == ",", isName(index + 1), text(index + 2) == "=" {
                declare(index + 1, keyword: keyword)
            }
            index += 1
        }
    }

    /// The names that a pattern binds.
    private func pattern(from start: Int, until end: String) -> Set<String> {
        var names: Set<String> = []
        var index = start
        while index < tokens.count, text(index) != end, text(index) != "{" {
            if isName(index), ![".", ":", "as", "is"].contains(text(index - 1)), text(index + 1) != "." {
                names.insert(text(index))
            }
            index += 1
        }
        return names
    }

    /// Adds names to the innermost body.
    private mutating func bind(_ names: Set<String>) {
        for index in brackets.indices.reversed() {
            if case .body(var body) = brackets[index] {
                body.names.formUnion(names)
                brackets[index] = .body(body)
                return
            }
        }
    }

    private func isBound(_ name: String) -> Bool {
        if ["newValue", "oldValue", "error"].contains(name) || name.hasPrefix("$") { return true }
        if let pending, pending.names.contains(name) { return true }
        return brackets.contains { if case .body(let body) = $0 { body.names.contains(name) } else { false } }
    }

    // MARK: Names

    /// Whether a token is a label, in a call or in a list of parameters.
    private func isLabel(_ index: Int) -> Bool {
        let before = text(index - 1)
        let after = text(index + 1)
        if after == ":", before == "(" || before == "," {
            switch brackets.last {
            case .parentheses: return true
            case .square(let isSubscript): return isSubscript
            default: return false
            }
        }
        if after == ":", before == "[", case .square(isSubscript: true)? = brackets.last { return true }
        // The name after a label: `for key: String`.
        if after == ":", case .parentheses? = brackets.last, index > 1,
            tokens[index - 1].kind != .symbol || before == "_"
        {
            return ["(", ","].contains(text(index - 2))
        }
        if before == "(" || before == ",", case .parentheses? = brackets.last, text(index + 2) == ":" {
            return isName(index + 1) || after == "_"
        }
        // `f(_:label:)`, `} label: {`, and the labels of loops.
        if after == ":", before == ":" || before == "}" && text(index + 2) == "{" { return true }
        return after == ":" && ["for", "while", "repeat", "do", "switch", "if"].contains(text(index + 2))
            || ["break", "continue"].contains(before) && !tokens[index].isFirstInLine
    }

    private mutating func visitName(at index: Int) {
        let name = text(index)
        if name == "actor", isName(index + 1), isDirectlyInBody, !isName(index - 1) || isPrivate(keyword: index) {
            return declareType(at: index, isEnum: false)
        }
        if isInCase, isDirectlyInBody, ["case", ","].contains(text(index - 1)) {
            return declare(index, keyword: index)
        }
        guard !declared.contains(index), !isLabel(index),
            !brackets.contains(where: { if case .parentheses(isAttribute: true) = $0 { true } else { false } })
        else {
            return
        }
        var qualifier: String?
        if text(index - 1) == "." {
            // Of `a.b.c` only `b` has something before it that may be a type.
            guard index > 1, text(index - 3) != ".", isName(index - 2) || ["self", "Self"].contains(text(index - 2))
            else {
                return
            }
            qualifier = text(index - 2)
        }
        guard !isBound(qualifier ?? name) else {
            return
        }
        let line = tokens[index].line
        module.mentions.append(Mention(qualifier: qualifier, name: name, line: line, file: file, types: types))
    }
}

// MARK: From mentions to arrows

extension Module {
    /// The declarations that a mention means, as far as this can be known.
    func meaning(of mention: Mention) -> [Declaration] {
        guard let qualifier = mention.qualifier else {
            return lookUp(mention.name, from: mention)?.found ?? []
        }
        switch qualifier {
        case mention.file.module: return visible(mention.name, in: "", from: mention)
        case "self", "Self": return mention.types.last.map { visible(mention.name, in: $0, from: mention) } ?? []
        default:
            let owner = lookUp(qualifier, from: mention)?.owner ?? ""
            let path = owner.isEmpty ? aliases[qualifier] ?? qualifier : owner + "." + qualifier
            return visible(mention.name, in: path, from: mention)
        }
    }

    /// Looks a name up in the types around it, from the inside, and at the top level.
    private func lookUp(_ name: String, from mention: Mention) -> (owner: String, found: [Declaration])? {
        for type in mention.types.reversed() {
            var path = type
            while true {
                let found = visible(name, in: path, from: mention)
                if !found.isEmpty { return (aliases[path] ?? path, found) }
                guard let dot = path.lastIndex(of: "."), !path.contains("/") else { break }
                path = String(path[..<dot])
            }
        }
        let found = visible(name, in: "", from: mention)
        return found.isEmpty ? nil : ("", found)
    }

    /// The declarations of a name in a type or what it inherits from, but for those that are private in other files.
    private func visible(_ name: String, in type: String, from mention: Mention) -> [Declaration] {
        var rest = [aliases[type] ?? type]
        var seen: Set<String> = []
        var found: [Declaration] = []
        while let path = rest.popLast() {
            guard seen.insert(path).inserted else { continue }
            found += declarations[path]?[name] ?? []
            rest += (inherited[path] ?? []).map { aliases[$0] ?? $0 }
        }
        found.removeAll { $0.isPrivate && $0.file.path != mention.file.path }
        // At the top level a private declaration hides those of other files.
        let own = type.isEmpty ? found.filter(\.isPrivate) : []
        return own.isEmpty ? found : own
    }
}

// MARK: The program

let root = CommandLine.arguments.count == 2 ? CommandLine.arguments[1] : "."
var contents: [String: Module] = [:]
var problems: [String] = []
var count = 0

let sources = URL(filePath: root).appending(path: "Sources", directoryHint: .isDirectory)
guard let listing = try? FileManager.default.subpathsOfDirectory(atPath: sources.path) else {
    print("There is no folder \(sources.path).")
    exit(1)
}
for path in listing.sorted() where path.hasSuffix(".swift") {
    var parts = path.split(separator: "/").map(String.init)
    let module = parts.removeFirst()
    let file = File(path: "Sources/\(path)", module: module, folder: parts.count > 1 ? parts[0] : "")
    if modules[module] == nil {
        problems.append("Sources/\(module): The folder is not among the modules.")
    }
    if let rows = layers[module], !rows.joined().contains(file.folder) {
        problems.append(
            file.folder.isEmpty
                ? "\(file.path): The file is in no folder of \(module)."
                : "Sources/\(module)/\(file.folder): The folder is not among the layers of \(module)."
        )
    }
    guard let text = try? String(contentsOf: sources.appending(path: path), encoding: .utf8) else {
        problems.append("\(file.path): The file can't be read.")
        continue
    }
    var walker = Walker(file, Tokenizer(text).tokens, into: contents.removeValue(forKey: module) ?? Module())
    walker.walk()
    contents[module] = walker.module
    count += 1
}
if count == 0 {
    problems.append("Sources: There are no Swift files.")
}
for (name, module) in contents.sorted(by: { $0.key < $1.key }) {
    for (imported, line, file) in module.imports {
        if modules[imported] != nil, modules[name]?.contains(imported) == false {
            problems.append("\(file.path):\(line): \(name) may not import \(imported).")
        }
        if name == "DefaultJournal", let folders = engineImports[imported], !folders.contains(file.folder) {
            problems.append("\(file.path):\(line): \(file.folder) may not import \(imported).")
        }
    }
    for mention in module.mentions {
        let meaning = module.meaning(of: mention)
        guard let used = meaning.first,
            meaning.allSatisfy({ !mayUse(mention.file.folder, $0.file.folder, in: name) })
        else {
            continue
        }
        let symbol = mention.qualifier.map { "\($0).\(mention.name)" } ?? mention.name
        let arrow = "\(mention.file.folder) may not use \(symbol) of \(used.file.folder) (\(used.file.path))."
        problems.append("\(mention.file.path):\(mention.line): \(arrow)")
    }
    for (symbol, declarations) in (module.declarations[""] ?? [:]).sorted(by: { $0.key < $1.key }) {
        let folders = Set(declarations.filter { !$0.isPrivate }.map(\.file.folder))
        if folders.count > 1 {
            print(
                "note: \(symbol) is declared in several folders of \(name): \(folders.sorted().joined(separator: ", "))."
            )
        }
    }
}
var printed: Set<String> = []
for problem in problems where printed.insert(problem).inserted {
    print(problem)
}
print("\(count) files, \(printed.count) problems.")
exit(printed.isEmpty ? 0 : 1)

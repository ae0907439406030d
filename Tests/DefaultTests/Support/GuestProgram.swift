import Foundation

/// The result of compiling a program: the declarations that the compiler chose for each statement, and its diagnostics.
struct GuestProgram {
    struct Statement {
        /// The source of the statement; only the first line of a function or type.
        var text: String
        /// The syntax tree after type checking, in which each reference names its declaration with module and
        /// signature.
        var tree: [String] = []
        /// Names of the declarations in the tree.
        var declarations: Set<String> = []
        /// Errors, warnings and notes.
        var diagnostics: [String] = []
    }

    /// The statements by their first line.
    private(set) var statements: [Int: Statement] = [:]
    /// The implementations of protocol requirements: intermediate code by the function's description.
    private(set) var witnesses: [String: String] = [:]

    private let lines: [Substring]
    private let lineOffsets: [Int]
    private let module: String?

    /// Compiles a program.
    ///
    /// - Parameters:
    ///   - file: The program. The import replaces its first line, which has to be a comment.
    ///   - module: The module to import; nil for none.
    ///   - version: The language version.
    ///   - search: A directory with additional modules.
    /// - Throws: Errors of Foundation.
    init(_ file: URL, importing module: String?, version: String, search: URL? = nil) throws {
        let directory = TestHome.directory.appending(path: "guest-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }

        let body = try String(contentsOf: file, encoding: .utf8).drop { $0 != "\n" }
        // The line has the same length with and without the import, so that lines and offsets stay the same.
        let source = (module.map { "import \($0)" } ?? "").padding(toLength: 40, withPad: " ", startingAt: 0) + body
        self.module = module
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        lineOffsets = lines.reduce(into: [0]) { offsets, line in offsets.append(offsets.last! + line.utf8.count + 1) }

        let name = file.lastPathComponent
        try source.write(to: directory.appending(path: name), atomically: false, encoding: .utf8)
        let options =
            ["-parse-as-library", "-swift-version", version, "-module-name", "Guest", "-diagnostic-style", "llvm"]
            + (search.map { ["-I", $0.path] } ?? [])
        _ = try Compiler.run(options + ["-dump-ast", "-dump-ast-format", "json", "-o", "tree", name], in: directory)
        let tree = try JSONSerialization.jsonObject(with: Data(contentsOf: directory.appending(path: "tree")))
        for item in (tree as? [String: Any])?["items"] as? [Any] ?? [] {
            add(item, insideLine: 1)
        }
        // Some diagnostics are emitted only after type checking. If that fails, there is no intermediate code.
        add(diagnostics: try Compiler.run(options + ["-emit-sil", "-o", "code", name], in: directory), file: name)
        let code = try? String(contentsOf: directory.appending(path: "code"), encoding: .utf8)
        for function in (code ?? "").components(separatedBy: "\n\n") where function.hasPrefix("// protocol witness") {
            let parts = function.split(separator: "\n", maxSplits: 1)
            witnesses[String(parts[0].dropFirst("// ".count))] = String(parts[1])
        }
    }

    /// The statements that have a different result in another compilation of the same program, each with the
    /// differences.
    func differences(from other: GuestProgram) throws -> [String] {
        var found: [String] = []
        for line in Set(statements.keys).union(other.statements.keys).sorted() {
            let statement = statements[line]
            let changed = other.statements[line]
            guard statement?.tree != changed?.tree || statement?.diagnostics != changed?.diagnostics else {
                continue
            }
            found.append(
                "\(line): \((statement ?? changed)?.text ?? "")"
                    + Self.changes(Set(statement?.diagnostics ?? []), Set(changed?.diagnostics ?? []))
                    + Self.changes(statement?.declarations ?? [], changed?.declarations ?? [])
            )
        }
        // Without intermediate code there are errors, which are listed above.
        if !witnesses.isEmpty, !other.witnesses.isEmpty {
            for name in Set(witnesses.keys).union(other.witnesses.keys).sorted()
            where witnesses[name] != other.witnesses[name] {
                let calls = [self, other].map { Self.calls(in: $0.witnesses[name] ?? "") }
                found.append(name + Self.changes(calls[0], calls[1]))
            }
        }
        return found
    }

    private static func changes(_ before: Set<String>, _ after: Set<String>) -> String {
        (before.subtracting(after).sorted().map { "\n    - \($0)" }
            + after.subtracting(before).sorted().map { "\n    + \($0)" })
            .joined()
    }

    private static func calls(in function: String) -> Set<String> {
        let lines = function.split(separator: "\n").filter { $0.contains("function_ref") || $0.contains("_method") }
        return Set(lines.map { $0.drop { $0 != "=" }.dropFirst(2).description })
    }

    // MARK: Syntax tree

    /// Adds a declaration and its members, or a function and the statements in its body, each as a separate statement.
    private mutating func add(_ item: Any, insideLine line: Int) {
        guard var node = item as? [String: Any], node["_kind"] as? String != "import_decl" else {
            return
        }
        let range = node["range"] as? [String: Int] ?? [:]
        let first = range["start"].map(line(at:)) ?? line
        var last = range["end"].map(line(at:)) ?? first
        var inner = node.removeValue(forKey: "members") as? [Any] ?? []
        if let body = node["body"] as? [String: Any], let elements = body["elements"] as? [Any] {
            inner += elements
            node["body"] = nil
        }
        if !inner.isEmpty {
            last = first
        }
        let text = lines[first - 1..<last].map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        var statement = statements[first] ?? Statement(text: text)
        let tree = normalized(node, declarations: &statement.declarations)
        if let data = try? JSONSerialization.data(withJSONObject: tree, options: .sortedKeys) {
            statement.tree.append(String(decoding: data, as: UTF8.self))
        }
        statements[first] = statement
        for member in inner {
            add(member, insideLine: first)
        }
    }

    /// The keys of addresses, locations, and the number of candidates for an operator, which differ between
    /// compilations.
    private static let incidentalKeys: Set = ["decl_context", "number_of_decls", "range"]

    /// A node without parts that differ between any two compilations, and without the conformances that a subclass
    /// inherits from its superclass because of the imported module.
    private func normalized(_ value: Any, declarations: inout Set<String>) -> Any {
        switch value {
        case let node as [String: Any]:
            if let name = node["decl_usr"] as? String {
                declarations.insert(name)
            }
            return node.reduce(into: [:]) { result, entry in
                if !Self.incidentalKeys.contains(entry.key) {
                    result[entry.key] = normalized(entry.value, declarations: &declarations)
                }
            }
        case let list as [Any]:
            return list.filter { !isInherited($0) }.map { normalized($0, declarations: &declarations) }
        case let text as String where text.hasPrefix("replaced-pointer"):
            return ""
        default:
            return value
        }
    }

    private func isInherited(_ node: Any) -> Bool {
        guard let module, let node = node as? [String: Any], node["_kind"] as? String == "inherited_conformance" else {
            return false
        }
        return (node["protocol"] as? String)?.hasPrefix("s:\(module.utf8.count)\(module)") == true
    }

    private func line(at offset: Int) -> Int {
        lineOffsets.partitioningIndex { $0 > offset }
    }

    // MARK: Diagnostics

    /// Adds each error and warning, with its notes, to the statement on its line.
    private mutating func add(diagnostics: String, file: String) {
        var line = 1
        for text in diagnostics.split(separator: "\n") {
            let isNote = text.contains(": note: ")
            guard isNote || text.contains(": error: ") || text.contains(": warning: ") else {
                continue
            }
            if !isNote {
                let number = text.hasPrefix("\(file):") ? text.split(separator: ":")[1] : ""
                line = Int(number) ?? 1
            }
            let owner = statements.keys.filter { $0 <= line }.max() ?? line
            statements[owner, default: Statement(text: String(lines[owner - 1]))].diagnostics.append(String(text))
            statements[owner]?.diagnostics.sort()
        }
    }
}

extension Array {
    /// The first index whose element satisfies a condition that all later elements satisfy too.
    fileprivate func partitioningIndex(where belongsInSecondPartition: (Element) -> Bool) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if belongsInSecondPartition(self[middle]) {
                range = range.lowerBound..<middle
            } else {
                range = middle + 1..<range.upperBound
            }
        }
        return range.lowerBound
    }
}

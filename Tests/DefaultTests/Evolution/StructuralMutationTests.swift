import Foundation
import Testing

@testable import Default

/// A type with custom coding, renamed properties, elements with their own default, and stored fields that it doesn't
/// know.
private struct Rich: DefaultStorable, Equatable {
    enum Kind: String, Codable, CaseIterable { case web, mail, chat }
    struct Page: DefaultProviding, Hashable {
        var url: String
        var tags: [String] = []
        var rank: Int?
        static var defaultValue: Page? { Page(url: "blank") }
    }
    /// A type that rejects combinations of parts that are valid alone.
    struct Bounds: Codable, Equatable {
        var low = 0
        var high = 10
        init(low: Int, high: Int) { (self.low, self.high) = (low, high) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            low = try container.decode(Int.self, forKey: .low)
            high = try container.decode(Int.self, forKey: .high)
            guard low <= high else { throw CocoaError(.coderReadCorrupt) }
        }
        enum CodingKeys: CodingKey { case low, high }
    }
    struct Window: Codable, Equatable {
        var title = "t"
        var bounds = Bounds(low: 0, high: 10)
        var width: Double?
    }

    var name = "n"
    var window = Window()
    var other = Window()
    var pages: [Page] = []
    var byKind: [Kind: Page] = [:]
    var byName: [String: Page] = [:]
    var kinds: Set<Kind> = []
    var count = 3

    @TaskLocal static var coder = DefaultsCoder.json

    static var defaults: CurrentStore { CurrentStore() }
    static var defaultCoder: DefaultsCoder { coder }
    static var defaultValue: Rich? { Rich() }
    static var renamedProperties: [String: String] { ["label": "name", "caption": "label", "pane": "other"] }

    static func random(using random: inout SeededGenerator) -> Rich {
        func text() -> String { String(repeating: "x\u{E9}\"", count: Int.random(in: 0...2, using: &random)) }
        func page() -> Page {
            Page(url: text(), tags: [text()], rank: Bool.random(using: &random) ? 1 : nil)
        }
        func window() -> Window {
            Window(title: text(), bounds: Bounds(low: 1, high: Int.random(in: 1...9, using: &random)), width: 0.5)
        }
        var value = Rich(name: text(), window: window(), other: window(), count: Int.random(in: 0...99, using: &random))
        value.pages = (0..<Int.random(in: 0...3, using: &random)).map { _ in page() }
        value.byName = ["a": page(), "b": page()]
        for kind in Kind.allCases where Bool.random(using: &random) {
            value.byKind[kind] = page()
            value.kinds.insert(kind)
        }
        return value
    }
}

@Suite("A value with mutated structure")
struct StructuralMutationTests {
    private let unknown = ["future", "window.future", "other.future"].map { $0.split(separator: ".").map(String.init) }

    @Test(
        "keeps what was not mutated, known or not, and loses nothing without a copy",
        arguments: Array(1...TestExtent.pick(brief: 1, full: 5)) as [UInt64],
        [StoredTree.Format.json, .propertyList]
    )
    func mutations(seed: UInt64, format: StoredTree.Format) throws {
        let store = MemoryDefaults()
        try EventCollector().collect {
            try CurrentStore.with(store) {
                try Rich.$coder.withValue(format == .json ? .json : .propertyList) {
                    try check(format, seed: seed, in: store)
                }
            }
        }
    }

    private func check(_ format: StoredTree.Format, seed: UInt64, in store: MemoryDefaults) throws {
        var random = SeededGenerator(state: seed)
        for _ in 0..<TestExtent.pick(brief: 2, full: 5) {
            let value = Rich.random(using: &random)
            var tree = try #require(StoredTree.parse(Rich.coder.encode(value))).tree
            let known = tree.leafPaths
            let garbage = try ["null", "7", #""x""#, "[]", "{}", #"[{"url":1}]"#, #"{"low":9,"high":1}"#].map {
                try StoredTree(json: $0, as: format)
            }
            for path in unknown {
                tree[path] = try StoredTree(json: #"{"kept":[1,2]}"#, as: format)
            }
            let paths = tree.allFieldPaths
            for _ in 0..<TestExtent.pick(brief: 80, full: 200) {
                var mutated = tree
                var touched: [StoredTree.Path] = []
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let path = try #require(paths.randomElement(using: &random))
                    mutated[path] = Bool.random(using: &random) ? nil : garbage.randomElement(using: &random)
                    touched.append(path)
                }
                // Some values have old names, as an older release stores them.
                for (old, new) in [("caption", "name"), ("pane", "other")] where Bool.random(using: &random) {
                    if let field = mutated[[new]] {
                        mutated[[new]] = nil
                        mutated[[old]] = field
                    }
                }
                let data: Data = try #require(mutated.data(in: format))
                let isUntouched = { (path: StoredTree.Path) in
                    !touched.contains { path.starts(with: $0) || $0.starts(with: path) }
                }
                try check(
                    data,
                    of: tree,
                    known: known.filter(isUntouched),
                    unknown: unknown.filter(isUntouched),
                    in: store
                )
            }
        }
    }

    private func check(
        _ data: Data,
        of tree: StoredTree,
        known: [StoredTree.Path],
        unknown: [StoredTree.Path],
        in store: MemoryDefaults
    ) throws {
        // Used only in messages.
        func text() -> String { StoredTree.parse(data).map { "\($0.tree)" } ?? "" }
        try store.set(data, forKey: "Rich")
        let (value, report) = try #require(try Rich.loadWithReport(), "\(text())")
        #expect(store.data(forKey: "Rich") == data)
        let read = try #require(StoredTree.parse(Rich.coder.encode(value))).tree
        // The bounds are checked together, so one of them may be lost because of the other. The order of sets and
        // dictionaries varies.
        for path in known where !path.contains("bounds") && path != ["kinds"] && path != ["byKind"] {
            #expect(read[path] == tree[path], "\(path) of \(text())")
            #expect(!report.unusable.contains { $0.path == path.joined(separator: ".") }, "\(path) of \(text())")
        }
        try Rich.update { $0.count += 1 }
        let written = try #require(StoredTree.parse(store.data(forKey: "Rich") ?? Data())).tree
        for path in unknown {
            #expect(written[path] == tree[path], "\(path) of \(text())")
        }
        #expect(try Rich.quarantined().map(\.data) == (report.unusable.isEmpty ? [] : [data]), "\(text())")
        #expect(try Rich.loadWithReport()?.report.isEmpty == true, "\(text())")
        try Rich.removeQuarantined()
    }
}

extension StoredTree {
    /// A value in some format.
    fileprivate init(json: String, as format: Format) throws {
        switch format {
        case .json:
            self = try #require(StoredTree.parse(Data(json.utf8))).tree
        case .propertyList:
            self = StoredTree(json == "null" ? .string("$null") : try StoredForm.value(of: Data(json.utf8)))
        }
    }

    /// The paths of all values except the tree itself.
    fileprivate var allFieldPaths: [Path] {
        (fields ?? [:]).sorted { $0.key < $1.key }.flatMap { key, field in
            [[key]] + field.allFieldPaths.map { [key] + $0 }
        }
    }

    /// The paths of all values except keyed containers.
    fileprivate var leafPaths: [Path] {
        allFieldPaths.filter { self[$0]?.fields == nil }
    }
}

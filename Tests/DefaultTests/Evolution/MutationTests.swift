import Foundation
import Testing

@testable import Default

private struct Everything: DefaultStorable, Equatable {
    enum Mode: Codable, Equatable {
        case plain
        case tiled(columns: Int, rows: Int)
    }
    enum Edge: String, Codable { case top, bottom }
    struct Size: Codable, Equatable {
        var width = 800
        var height = 600.5
        var unit: String? = "px"
    }
    struct Nested: Codable, Equatable {
        var size = Size()
        var label = "default"
        var since = Date(timeIntervalSinceReferenceDate: 0)
    }

    var title = "untitled"
    var nested = Nested()
    var edge = Edge.top
    var mode = Mode.plain
    var tabs = ["default"]
    var badges = ["default": 1]
    var accent: String? = "blue"
    var level: Int8 = 1
    var isOpen = false
    var largest: UInt64 = 0
    var home = URL(string: "https://example.com")

    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Everything? { Everything() }
}

@Suite("Randomly mutated JSON")
struct MutationTests {
    private let original = Everything(
        title: "t\u{E9}\"",
        nested: .init(
            size: .init(width: 1, height: 0.1, unit: nil),
            label: "l",
            since: Date(timeIntervalSinceReferenceDate: 7.5)
        ),
        edge: .bottom,
        mode: .tiled(columns: 2, rows: 3),
        tabs: ["x", "y"],
        badges: ["a": 1, "b": 2],
        accent: nil,
        level: 5,
        isOpen: true,
        largest: .max,
        home: URL(string: "https://example.org/a?b")
    )

    private let garbage = [
        "null", "true", "7", "-7.5", "1e400", "99999999999999999999999", #""x""#, #""""#, "[]", "[null,{}]", "{}",
        #"{"x":{"y":1}}"#, #"{"title":"t","plain":{}}"#,
    ].map { StoredTree.parse(Data($0.utf8))?.tree ?? .json([]) }

    @Test(
        "loses only the mutated values, is unchanged by a read, and quarantined by a write",
        arguments: TestExtent.pick(brief: [0x5EED], full: [0x5EED, 0x1DEA, 0xF1E1D, 0xC0DE]) as [UInt64]
    )
    func mutations(seed: UInt64) throws {
        let store = MemoryDefaults()
        // The collector discards thousands of events that would go to standard error.
        try EventCollector().collect { try CurrentStore.with(store) { try checkMutations(in: store, seed: seed) } }
    }

    @Test("is handled in binary property lists too")
    func propertyLists() throws {
        let coder = DefaultsCoder.propertyList
        var random = SeededGenerator(state: 0x5EED)
        let bytes = try coder.encode(original)
        var filledIn = 0
        let rounds = TestExtent.pick(brief: 500, full: 2_000)
        for _ in 0..<rounds {
            var data = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                data = breaking(data, using: &random)
            }
            _ = try? coder.decodeTopLevel(Everything.self, from: data)
            if Filling.run(Everything.self, on: data, default: Everything(), coder: coder) != nil {
                filledIn += 1
            }
        }
        #expect(filledIn > rounds / 100)
    }

    private func checkMutations(in store: MemoryDefaults, seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let bytes = try DefaultsCoder.json.encode(original)
        let tree = try #require(StoredTree.parse(bytes)).tree
        // These values are replaced as a whole or not at all.
        let fields = tree.fieldPaths.filter { $0.first != "mode" && $0.first != "badges" } + [["mode"], ["badges"]]
        let paths = tree.allPaths
        var outcomes = (complete: 0, filledIn: 0, undecodable: 0)
        let rounds = TestExtent.pick(brief: 300, full: 2_000)
        for round in 0..<rounds {
            var mutated = tree
            var touched: [StoredTree.Path] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let path = paths.randomElement(using: &random) ?? []
                switch Int.random(in: 0..<3, using: &random) {
                case 0: mutated[path] = nil
                case 1: mutated[path] = garbage.randomElement(using: &random)
                default: mutated[path.dropLast() + ["garbage"]] = garbage.randomElement(using: &random)
                }
                touched.append(path)
            }
            var data = try #require(mutated.jsonData)
            let isBroken = round.isMultiple(of: 5)
            if isBroken {
                data = breaking(data, using: &random)
            }
            try store.set(data, forKey: "Everything")
            let outcome = Result { try Everything.loadWithReport() }
            #expect(store.data(forKey: "Everything") == data)
            #expect(store.object(forKey: "Everything.quarantine") == nil)

            if !isBroken {
                let (value, report) = try #require(try outcome.get(), "\(String(decoding: data, as: UTF8.self))")
                let kept = try #require(StoredTree.parse(try DefaultsCoder.json.encode(value))).tree
                // Everything that was not mutated, and is in no mutated part, must be read as it was.
                for field in fields
                where !touched.contains(where: { field.starts(with: $0) || $0.starts(with: field) }) {
                    #expect(kept[field] == tree[field], "\(field) in \(String(decoding: data, as: UTF8.self))")
                    #expect(!report.filledIn.contains(field.joined(separator: ".")))
                    #expect(!report.unusablePaths.contains(field.joined(separator: ".")))
                }
            }

            Everything().write()
            #expect(try Everything.load() == Everything())
            let quarantined = try Everything.quarantined().map(\.data)
            switch outcome {
            case .success(let found?):
                let text = String(decoding: data, as: UTF8.self)
                let stored = try #require(StoredTree.parse(data), "\(text)").tree
                // Unknown fields are quarantined if they have no place in the default value, and kept otherwise.
                let isLost = !found.report.unusable.isEmpty || hasFieldsWithoutPlace(stored)
                #expect(quarantined == (isLost ? [data] : []), "\(text)")
                if found.report.unusable.isEmpty {
                    let written = try #require(StoredTree.parse(store.data(forKey: "Everything") ?? Data())).tree
                    for path in unknownPaths(of: stored) {
                        #expect(written[path] == stored[path], "\(path) in \(text)")
                    }
                }
                if found.report.isEmpty {
                    outcomes.complete += 1
                } else {
                    outcomes.filledIn += 1
                }
            case .success(nil):
                Issue.record("nothing was found")
            case .failure(let error):
                #expect(DefaultsError.Code.undecodable ~= error)
                #expect(quarantined == [data])
                outcomes.undecodable += 1
            }
            try Everything.removeQuarantined()
        }
        #expect(
            outcomes.complete > rounds / 100 && outcomes.filledIn > rounds / 2 && outcomes.undecodable > rounds / 10
        )
    }

    /// The keys that the type asks for in the containers that the default value has too, without dictionaries.
    private static let knownKeys: [StoredTree.Path: Set<String>] = [
        []: [
            "title", "nested", "edge", "mode", "tabs", "badges", "accent", "level", "isOpen", "largest", "home",
        ],
        ["nested"]: ["size", "label", "since"],
        ["nested", "size"]: ["width", "height", "unit"],
        ["mode"]: ["plain", "tiled"],
    ]

    /// The paths of unknown fields in containers that the default value has too.
    private func unknownPaths(of tree: StoredTree) -> [StoredTree.Path] {
        Self.knownKeys.flatMap { path, known in
            (tree[path]?.fields ?? [:]).filter { !known.contains($0) && !$1.isNull }.map { path + [$0.key] }
        }
    }

    /// Whether there are unknown fields in the values of a case that the default value doesn't have.
    private func hasFieldsWithoutPlace(_ tree: StoredTree) -> Bool {
        (tree[["mode", "tiled"]]?.fields ?? [:]).contains { !["columns", "rows"].contains($0) && !$1.isNull }
    }

    /// Truncates, changes, adds or removes bytes.
    private func breaking(_ data: Data, using random: inout SeededGenerator) -> Data {
        guard !data.isEmpty else {
            return data
        }
        var data = data
        let index = Int.random(in: 0..<data.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return data.prefix(index)
        case 1: data[index] = UInt8.random(in: 0...255, using: &random)
        case 2: data.insert(contentsOf: "\"}{],:\\ x".utf8.shuffled(using: &random).prefix(3), at: index)
        default: data.removeSubrange(index..<min(index + 3, data.count))
        }
        return data
    }
}

extension StoredTree {
    /// The paths of all values except keyed containers.
    fileprivate var fieldPaths: [Path] {
        allPaths.filter { self[$0]?.fields == nil }
    }

    /// The paths of all values except the tree itself.
    fileprivate var allPaths: [Path] {
        (fields ?? [:]).sorted { $0.key < $1.key }.flatMap { key, field in
            [[key]] + field.allPaths.map { [key] + $0 }
        }
    }
}

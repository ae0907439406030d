import Foundation
import Testing

@testable import Default

/// A type with strings in every place that a string can have.
private struct Texts: DefaultStorable, Equatable {
    enum Kind: String, Codable { case none = "$null", other }
    struct Inner: DefaultProviding, Hashable {
        var text = "i"
        var added = 1
        static var defaultValue: Inner? { Inner() }
    }
    /// A type that decodes from containers within its own.
    struct Nested: Codable, Equatable {
        var keyed = "$null"
        var unkeyed = ["$null", "x"]
        enum CodingKeys: CodingKey { case keyed, unkeyed, inner }
        init() {}
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            keyed = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .keyed)
                .decode(String.self, forKey: .inner)
            var elements = try container.nestedUnkeyedContainer(forKey: .unkeyed)
            unkeyed = [try elements.decode(String.self)]
            var more = try elements.nestedUnkeyedContainer()
            unkeyed.append(try more.decode(String.self))
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var keyedContainer = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .keyed)
            try keyedContainer.encode(keyed, forKey: .inner)
            var elements = container.nestedUnkeyedContainer(forKey: .unkeyed)
            try elements.encode(unkeyed[0])
            var more = elements.nestedUnkeyedContainer()
            try more.encode(unkeyed[1])
        }
    }

    var text = "$null"
    var kind = Kind.none
    var list = ["a", "$null", "b"]
    var options: [String?] = ["a", nil]
    var byName = ["k": "$null"]
    var unique: Set<String> = ["$null"]
    var inner = Inner(text: "$null")
    var inners = [Inner(text: "$null"), Inner()]
    var nested = Nested()
    var date = Date(timeIntervalSinceReferenceDate: 5)
    var data = Data([1, 2])
    var url = URL(string: "https://example.com")
    var numbers: [Double] = [1, -0.5]
    var count = 3
    var isOn = true

    static var defaults: CurrentStore { CurrentStore() }
    static var defaultCoder: DefaultsCoder { NullTextTests.coder }
    static var defaultValue: Texts? { Texts(text: "default") }
}

@Suite("The string \"$null\"")
struct NullTextTests {
    @TaskLocal static var coder = DefaultsCoder.json

    static let coders: [DefaultsCoder] = [
        .json, .propertyList,
        DefaultsCoder(encoder: PropertyListEncoder(), decoder: PropertyListDecoder()),
    ]

    @Test("is read as it was written, in JSON and property lists", arguments: StoreKind.allCases)
    func roundTrip(kind: StoreKind) throws {
        for coder in Self.coders {
            try Self.$coder.withValue(coder) {
                try kind.withCurrentStore { store in
                    try Texts().save()
                    let (value, report) = try #require(try Texts.loadWithReport())
                    #expect(value == Texts())
                    #expect(report.isEmpty)
                    try Texts.update { $0.count += 1 }
                    #expect(Texts.read() == Texts(count: 4))
                    #expect(try Texts.quarantined().isEmpty)
                    try store.df.save("$null", forKey: "text", encoder: coder)
                    #expect(try store.df.load(forKey: "text", type: String.self, decoder: coder) == "$null")
                    try store.df.save(["$null"], forKey: "text", encoder: coder)
                    #expect(try store.df.load(forKey: "text", type: [String].self, decoder: coder) == ["$null"])
                }
            }
        }
    }

    @Test("stays one when other properties are filled in", arguments: StoreKind.allCases)
    func filledIn(kind: StoreKind) throws {
        for coder in Self.coders {
            try Self.$coder.withValue(coder) {
                try kind.withCurrentStore { store in
                    let data = try coder.encode(Texts())
                    let parsed = try #require(StoredTree.parse(data))
                    var tree = parsed.tree
                    tree[["count"]] = nil
                    tree[["inner", "added"]] = nil
                    tree[["isOn"]] = tree[["text"]]
                    let lacking: Data = try #require(tree.data(in: parsed.format))
                    try store.set(lacking, forKey: "Texts")
                    try EventCollector().collect {
                        let (value, report) = try #require(try Texts.loadWithReport())
                        #expect(value == Texts())
                        // In a property list, it could be nil where it can't be a string.
                        let isJSON = parsed.format == .json
                        #expect(report.filledIn == ["count", "inner.added"] + (isJSON ? [] : ["isOn"]))
                        #expect(report.unusable.map(\.path) == (isJSON ? ["isOn"] : []))
                        try value.save()
                        #expect(try Texts.load() == Texts())
                    }
                }
            }
        }
    }

    @Test("is nil where it can be nil, and an error where it can be neither")
    func optional() throws {
        struct Optionals: Codable { var text: String?, number: Int? }
        struct Number: Codable { var number: Int }
        let coder = DefaultsCoder.propertyList
        let optionals = try coder.encode(["text": "$null", "number": "$null"])
        let value = try coder.decodeTopLevel(Optionals.self, from: optionals)
        #expect(value.text == nil && value.number == nil)
        let number = try coder.encode(["number": "$null"])
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel(Number.self, from: number) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([Bool].self, from: coder.encode(["$null"])) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([Int8].self, from: coder.encode(["$null"])) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([Double].self, from: coder.encode(["$null"])) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([Float].self, from: coder.encode(["$null"])) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([Data].self, from: coder.encode(["$null"])) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([Date].self, from: coder.encode(["$null"])) }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel([URL].self, from: coder.encode(["$null"])) }
        // One of the two strings is missing, or is a number.
        struct Two: Codable { var one: String, two: String }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel(Two.self, from: coder.encode(["one": "$null"])) }
        struct Mixed: Codable { var one = "$null", two = 7 }
        #expect(throws: DecodingError.self) { try coder.decodeTopLevel(Two.self, from: coder.encode(Mixed())) }
        // JSON has its own null, which is no string.
        let json = Data(#"{"one":"$null","two":null}"#.utf8)
        #expect(throws: DecodingError.self) { try DefaultsCoder.json.decodeTopLevel(Two.self, from: json) }
    }
}

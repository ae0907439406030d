import Foundation
import Testing

@testable import Default
import DefaultJournal

/// Fills in JSON from a default value, without a store.
private func fillIn<Value: Codable>(
    _ json: String,
    with fallback: Value,
    coder: DefaultsCoder = .json
) -> (value: Value, report: LoadReport)? {
    fillIn(Data(json.utf8), with: fallback, coder: coder)
}

private func fillIn<Value: Codable>(
    _ data: Data,
    with fallback: Value?,
    coder: DefaultsCoder
) -> (value: Value, report: LoadReport)? {
    Filling.run(Value.self, on: data, default: fallback, coder: coder).flatMap { outcome in
        (outcome.value as? Value).map { ($0, outcome.filling.report) }
    }
}

extension LoadReport {
    /// The paths of the values that could not be used.
    var unusablePaths: [String] { unusable.map(\.path) }
}

private struct Window: Codable, Equatable {
    enum Mode: Codable, Equatable {
        case plain
        case tiled(columns: Int, rows: Int)
        case custom(String)
    }
    enum Edge: String, Codable { case top, bottom }
    struct Size: Codable, Equatable {
        var width: Int
        var height: Int
        var unit: String?
    }

    var title = "untitled"
    var size = Size(width: 800, height: 600, unit: "px")
    var edge = Edge.top
    var mode = Mode.plain
    var tabs = ["a"]
    var badges: [String: Int] = ["mail": 1, "news": 2]
    var accent: String? = "blue"
    var level: Int8 = 1
}

private let storedWindow = """
    {"title":"t","size":{"width":1,"height":2},"edge":"bottom","mode":{"tiled":{"columns":3,"rows":4}},\
    "tabs":["x","y"],"badges":{"todo":3},"level":5}
    """

@Suite("Filling in", .ownCache)
struct CompletionTests {
    private let whole = Window(
        title: "t",
        size: .init(width: 1, height: 2),
        edge: .bottom,
        mode: .tiled(columns: 3, rows: 4),
        tabs: ["x", "y"],
        badges: ["todo": 3],
        accent: nil,
        level: 5
    )

    private struct Change: Sendable {
        let old: String
        let new: String
        var filledIn: [String] = []
        var unusable: [String] = []
        let expectation: @Sendable (inout Window) -> Void

        init(
            _ old: String,
            _ new: String,
            filledIn: [String] = [],
            unusable: [String] = [],
            expectation: @escaping @Sendable (inout Window) -> Void
        ) {
            self.old = old
            self.new = new
            self.filledIn = filledIn
            self.unusable = unusable
            self.expectation = expectation
        }
    }

    @Test("keeps every field except the one that is missing or can't be used, and reports that")
    func singleFields() throws {
        let changes = [
            Change(#""title":"t","#, "", filledIn: ["title"]) { $0.title = "untitled" },
            Change(#""t""#, "7", unusable: ["title"]) { $0.title = "untitled" },
            Change(#""t""#, "null", filledIn: ["title"]) { $0.title = "untitled" },
            Change(#""width":1,"#, "", filledIn: ["size.width"]) { $0.size.width = 800 },
            Change(#""width":1,"#, #""width":"w","#, unusable: ["size.width"]) { $0.size.width = 800 },
            Change(#"{"width":1,"height":2}"#, "[]", unusable: ["size"]) { $0.size = Window().size },
            // The value has a case that no longer exists, a case without its values, or two cases.
            Change(#""bottom""#, #""left""#, unusable: ["edge"]) { $0.edge = .top },
            Change(#""tiled""#, #""gone""#, unusable: ["mode"]) { $0.mode = .plain },
            Change(#"{"tiled":{"columns":3,"rows":4}}"#, #"{"tiled":{},"custom":{"_0":"a"}}"#, unusable: ["mode"]) {
                $0.mode = .plain
            },
            Change(#","rows":4"#, "", unusable: ["mode"]) { $0.mode = .plain },
            // An array is replaced as a whole.
            Change(#"["x","y"]"#, #"["x",1]"#, unusable: ["tabs"]) { $0.tabs = ["a"] },
            // In a dictionary, unusable entries are removed, and deleted entries stay deleted.
            Change(#"{"todo":3}"#, #"{"todo":3,"x":"many"}"#, unusable: ["badges.x"]) { $0.badges = ["todo": 3] },
            Change(#"{"todo":3}"#, #"{"todo":"x"}"#, unusable: ["badges.todo"]) { $0.badges = [:] },
            // Foundation's error for an out-of-range number has no path.
            Change(#""level":5"#, #""level":500"#, unusable: ["level"]) { $0.level = 1 },
        ]
        for change in changes {
            let json = storedWindow.replacingOccurrences(of: change.old, with: change.new)
            #expect(json != storedWindow)
            var expected = whole
            change.expectation(&expected)
            let outcome = try #require(fillIn(json, with: Window()), "\(json)")
            #expect(outcome.value == expected, "\(json)")
            #expect(outcome.report.filledIn == change.filledIn, "\(json)")
            #expect(outcome.report.unusablePaths == change.unusable, "\(json)")
        }
    }

    @Test("keeps all usable fields when several are wrong at once")
    func severalFields() throws {
        let json = #"""
            {"title":1,"size":{"width":"w","unit":"cm","depth":9},"edge":null,"tabs":{},"badges":{"a":1},"level":999,
            "mode":{"custom":{"_0":"c"}},"theme":{"name":"old"}}
            """#
        let (value, report) = try #require(fillIn(json, with: Window()))
        #expect(value.size == .init(width: 800, height: 600, unit: "cm"))
        #expect(value.mode == .custom("c"))
        #expect(value.badges == ["a": 1])
        #expect(value.accent == nil)
        #expect((value.title, value.edge, value.level) == ("untitled", .top, 1))
        #expect(report.filledIn == ["edge", "size.height"])
        #expect(report.unusablePaths == ["level", "size.depth", "size.width", "tabs", "theme", "title"])
        #expect(report.unusable.last?.reason == .wrongType(needed: "String"))
        #expect(report.unusable.last { $0.path == "theme" }?.reason == .unknown)
    }

    @Test("reports which part of a discarded value was at fault")
    func reasons() throws {
        struct Outer: Codable, Equatable {
            var name = "n"
            var detail: Window.Size?
            var sizes: [Window.Size] = []
        }
        let json = #"{"name":"x","detail":{"width":"w","height":1},"sizes":[{"width":1,"height":2},{"width":1}]}"#
        let (value, report) = try #require(fillIn(json, with: Outer()))
        #expect(value == Outer(name: "x"))
        #expect(
            report.unusable.map { "\($0.path) \($0.reason)" } == [
                #"detail can't be used because "width" in it is not of type Int"#,
                #"sizes can't be used because "[1].height" in it is missing"#,
            ]
        )
    }

    @Test("says what can't be used in the words of the type")
    func words() throws {
        let json = storedWindow.replacingOccurrences(of: "\"bottom\"", with: "\"left\"")
            .replacingOccurrences(of: "tiled", with: "gone")
            .replacingOccurrences(of: #"{"width":1,"height":2}"#, with: "7")
        let (value, report) = try #require(fillIn(json, with: Window()))
        #expect(value.edge == .top && value.mode == .plain && value.size == Window().size)
        #expect(
            report.unusable.map { "\($0.path) \($0.reason)" }
                == ["edge is not a case of Edge", "mode is not a case of Mode", "size is not of type Size"]
        )
    }

    @Test(
        "fills in a value that a case has gained, where the default has that case",
        arguments: [DefaultsCoder.json, .propertyList]
    )
    func gainedPayload(coder: DefaultsCoder) throws {
        struct Track: DefaultProviding, Equatable {
            enum Source: Codable, Equatable {
                case stream(url: String, quality: Int)
                case file
            }
            var name = ""
            var source = Source.stream(url: "none", quality: 3)
            static let defaultValue = Track()
        }
        struct Playlist: Codable, Equatable {
            var tracks: [Track] = []
            var byName: [String: Track] = [:]
        }
        let tracks = #"[{"name":"a","source":{"stream":{"url":"x"}}},{"name":"b","source":{"file":{}}}]"#
        let json = "{\"tracks\":\(tracks),\"byName\":{}}"
        let (value, report) = try #require(fillIn(coder.converted(json), with: Playlist(), coder: coder))
        #expect(
            value.tracks == [Track(name: "a", source: .stream(url: "x", quality: 3)), Track(name: "b", source: .file)]
        )
        #expect(report == LoadReport(filledIn: ["tracks[0].source.stream.quality"]))
    }

    @Test("leaves out names that are no keys where nothing else is wrong")
    func names() throws {
        struct Sizes: Codable, Equatable {
            var byNumber: [Int: String] = [:]
            var name = ""
        }
        let (value, report) = try #require(fillIn(#"{"byNumber":{"1":"a","x":"b"},"name":"n"}"#, with: Sizes()))
        #expect(value == Sizes(byNumber: [1: "a"], name: "n"))
        #expect(report.unusable.map(\.path) == ["byNumber.x"])
    }

    @Test("says of which element a whole array can't be used, and why")
    func elementReasons() throws {
        struct Size: Codable, Equatable { var width: Int }
        struct Lists: Codable, Equatable {
            var sizes: [Size] = []
            var edges: [Window.Edge] = []
            var numbers: [Size] = []
        }
        let json = #"{"sizes":[{"width":1},{"width":"w"}],"edges":["top","gone"],"numbers":[7]}"#
        let (value, report) = try #require(fillIn(json, with: Lists()))
        #expect(value == Lists())
        #expect(
            report.unusable.map { "\($0.path) \($0.reason)" } == [
                #"edges can't be used because "[1]" in it is not a case of Edge"#,
                #"numbers can't be used because "[0]" in it is not of type Size"#,
                #"sizes can't be used because "[1].width" in it is not of type Int"#,
            ]
        )
    }

    @Test("fills in from the default of a type where the default value has null, or wraps another type")
    func ownDefaults() throws {
        struct Theme: DefaultProviding, Equatable {
            var color = "black"
            var size = 3
            static let defaultValue = Theme()
        }
        struct Bounds: DefaultProviding, Equatable {
            var low = 1
            var high = 9
            static let defaultValue = Bounds()
            init(low: Int = 1, high: Int = 9) { (self.low, self.high) = (low, high) }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                low = try container.decode(Int.self, forKey: .low)
                high = try container.decode(Int.self, forKey: .high)
                if low > high { throw CocoaError(.coderReadCorrupt) }
            }
        }
        struct Point: Codable, Equatable { var (x, y) = (0, 0) }
        struct Wrapper: DefaultProviding, Equatable {
            var point = Point()
            static let defaultValue = Wrapper(point: Point(x: 7, y: 8))
            init(point: Point) { self.point = point }
            init(from decoder: any Decoder) throws { point = try decoder.singleValueContainer().decode(Point.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(point)
            }
        }
        struct Look: Codable, Equatable {
            var theme: Theme?
            var bounds: Bounds?
            var points: [Wrapper] = []
            enum CodingKeys: CodingKey { case theme, bounds, points }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(theme, forKey: .theme)
                try container.encode(bounds, forKey: .bounds)
                try container.encode(points, forKey: .points)
            }
        }
        let json = #"{"theme":{"color":"red"},"bounds":{"low":20,"high":30,"x":1},"points":[{"x":1}]}"#
        let (value, _) = try #require(fillIn(json, with: Look()))
        #expect(
            value
                == Look(
                    theme: Theme(color: "red"),
                    bounds: Bounds(low: 20, high: 30),
                    points: [Wrapper(point: Point(x: 1, y: 8))]
                )
        )
        let (rejected, report) = try #require(fillIn(#"{"bounds":{"low":5,"high":2}}"#, with: Look()))
        #expect(rejected.bounds == Bounds(low: 1, high: 2))
        #expect(report.unusablePaths == ["bounds.low"])
    }

    @Test("keeps numbers and strings to the last digit and character")
    func precision() throws {
        struct Numbers: Codable, Equatable {
            var largest: UInt64 = 0
            var smallest: Int64 = 0
            var tenth = 0.0
            var price: Decimal = 0
            var text = ""
            var added = 1
        }
        let json = #"""
            {"largest":18446744073709551615,"smallest":-9223372036854775808,"tenth":0.1,
            "price":123456789012345678.987654321, "text":"\u00e9\ud83d\ude00\"\\\/\n"}
            """#
        let value = try #require(fillIn(json, with: Numbers())).value
        #expect((value.largest, value.smallest, value.tenth) == (.max, .min, 0.1))
        #expect(value.price == Decimal(string: "123456789012345678.987654321"))
        #expect(value.text == "\u{E9}\u{1F600}\"\\/\n")

        let stored = Numbers(largest: .max, smallest: .min, tenth: 0.1, price: 1, text: "\u{E9}\u{1F600}")
        let data = try DefaultsCoder.propertyList.encode(stored)
        let parsed = try #require(StoredTree.parse(data))
        var tree = parsed.tree
        tree[["added"]] = nil
        let bytes = try #require(tree.data(in: parsed.format))
        let outcome = try #require(fillIn(bytes, with: Numbers(), coder: .propertyList))
        #expect(outcome.value == stored)
        #expect(outcome.report.filledIn == ["added"])
    }

    @Test("keeps negative zero in property lists")
    func negativeZero() throws {
        struct Angles: Codable, Equatable {
            var x = 1.0
            var added = 1
        }
        let stored = try DefaultsCoder.propertyList.encode(["x": -0.0])
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        for bytes in [stored, try encoder.encode(["x": -0.0])] {
            let value = try #require(fillIn(bytes, with: Angles(), coder: .propertyList)).value
            #expect(value.x == 0 && value.x.sign == .minus)
        }
    }

    @Test("works with every key conversion strategy")
    func keyConversion() throws {
        struct Inner: Codable, Equatable {
            var maximumSize = 1
            var minimumSize = 2
        }
        struct Outer: Codable, Equatable {
            var outerName = "n"
            var firstInner = Inner()
            var byName: [String: Int] = [:]
        }
        let snake = JSONEncoder()
        snake.keyEncodingStrategy = .convertToSnakeCase
        let camel = JSONDecoder()
        camel.keyDecodingStrategy = .convertFromSnakeCase
        let stored = #"{"outer_name":"x","first_inner":{"maximum_size":"large","minimum_size":5},"by_name":{"a_b":1}}"#
        let (value, report) = try #require(
            fillIn(stored, with: Outer(), coder: DefaultsCoder(encoder: snake, decoder: camel))
        )
        #expect(value == Outer(outerName: "x", firstInner: Inner(maximumSize: 1, minimumSize: 5), byName: ["a_b": 1]))
        #expect(report.unusablePaths == ["first_inner.maximum_size"])

        let shouting = JSONEncoder()
        shouting.keyEncodingStrategy = .custom { PathKey(stringValue: ($0.last?.stringValue ?? "").uppercased()) }
        let whispering = JSONDecoder()
        whispering.keyDecodingStrategy = .custom { path in
            let names = ["OUTERNAME": "outerName", "FIRSTINNER": "firstInner", "MAXIMUMSIZE": "maximumSize"]
            let name = path.last?.stringValue ?? ""
            return PathKey(stringValue: names[name] ?? (name == "MINIMUMSIZE" ? "minimumSize" : "byName"))
        }
        let loud = #"{"OUTERNAME":"x","FIRSTINNER":{"MINIMUMSIZE":5},"BYNAME":{}}"#
        let heard = try #require(
            fillIn(loud, with: Outer(), coder: DefaultsCoder(encoder: shouting, decoder: whispering))
        )
        #expect(heard.value == Outer(outerName: "x", firstInner: Inner(maximumSize: 1, minimumSize: 5)))
        #expect(heard.report.filledIn == ["FIRSTINNER.MAXIMUMSIZE"])
    }

    @Test("finds a date in another strategy's format, in nested containers too")
    func dateStrategies() throws {
        struct Visit: Codable, Equatable {
            var place = "here"
            var date = Date(timeIntervalSince1970: 0)
        }
        struct Visits: Codable, Equatable {
            var count = 0
            var last = Visit()
            var since = Date(timeIntervalSince1970: 0)
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let coder = DefaultsCoder(encoder: encoder, decoder: decoder)
        let good = #""2026-01-02T03:04:05Z""#
        for bad in [#""yesterday""#, "12.5"] {
            let nested = #"{"count":4,"last":{"place":"p","date":\#(bad)},"since":\#(good)}"#
            let (value, report) = try #require(fillIn(nested, with: Visits(), coder: coder))
            #expect(value.count == 4)
            #expect(value.last == Visit(place: "p"))
            #expect(value.since == ISO8601DateFormatter().date(from: "2026-01-02T03:04:05Z"))
            #expect(report.unusablePaths == ["last.date"])
            let both = #"{"count":4,"last":{"place":"p","date":\#(bad)},"since":\#(bad)}"#
            let outcome = try #require(fillIn(both, with: Visits(), coder: coder))
            #expect(outcome.value == Visits(count: 4, last: Visit(place: "p")))
            #expect(outcome.report.unusablePaths == ["last.date", "since"])
        }
    }

    @Test("finds a value that an initializer rejects without a path")
    func rejections() throws {
        struct Refusal: Error {}
        struct Even: Codable, Equatable {
            var number: Int
            init(_ number: Int) { self.number = number }
            init(from decoder: any Decoder) throws {
                number = try decoder.singleValueContainer().decode(Int.self)
                guard number.isMultiple(of: 2) else { throw Refusal() }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
        }
        struct Inner: Codable, Equatable {
            var one = Even(2)
            var two = Even(4)
        }
        struct Range: Codable, Equatable {
            var lower = 0
            var upper = 10
            init(lower: Int = 0, upper: Int = 10) { (self.lower, self.upper) = (lower, upper) }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                lower = try container.decode(Int.self, forKey: .lower)
                upper = try container.decode(Int.self, forKey: .upper)
                guard lower <= upper else {
                    throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: ""))
                }
            }
        }
        struct Outer: Codable, Equatable {
            var name = "n"
            var inner = Inner()
            var range = Range()
        }
        let odd = #"{"name":"x","inner":{"one":3,"two":8},"range":{"lower":1,"upper":2}}"#
        let first = try #require(fillIn(odd, with: Outer()))
        #expect(first.value == Outer(name: "x", inner: Inner(two: Even(8)), range: Range(lower: 1, upper: 2)))
        #expect(first.report.unusablePaths == ["inner.one"])
        let inverted = #"{"name":"x","inner":{"one":3,"two":5},"range":{"lower":5,"upper":2}}"#
        let second = try #require(fillIn(inverted, with: Outer()))
        #expect(second.value == Outer(name: "x", range: Range(lower: 5, upper: 10)))
        #expect(second.report.unusablePaths == ["inner.one", "inner.two", "range.upper"])
    }

    @Test("works with super decoders and nested containers")
    func superDecoders() throws {
        class Base: Codable {
            var base = 1
            var other = 2
        }
        final class Derived: Base {
            var derived = 3
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                derived = try container.decode(Int.self, forKey: .derived)
                try super.init(from: container.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(derived, forKey: .derived)
                try super.encode(to: container.superEncoder())
            }
            enum CodingKeys: CodingKey { case derived }
        }
        let (value, report) = try #require(fillIn(#"{"super":{"base":7},"derived":"x"}"#, with: Derived()))
        #expect((value.base, value.other, value.derived) == (7, 2, 3))
        #expect(report == LoadReport(filledIn: ["super.other"], unusable: report.unusable))
        #expect(report.unusablePaths == ["derived"])
    }

    @Test(
        "fails for bytes that are not a keyed container, or have no usable value",
        arguments: [
            "", "null", "3", "[]", "{", #"{"a":}"#, #"{"a":1} x"#, #"{"a" 1}"#, #"{a:1}"#, "\u{0}", #"{"title":"t"#,
        ]
    )
    func hopeless(json: String) {
        #expect(fillIn(json, with: Window())?.value == nil)
    }

    @Test("fails when the default value can't be encoded or decoded")
    func uselessDefaults() {
        struct Ratio: Codable { var ratio = Double.nan }
        let collector = EventCollector()
        collector.collect {
            for _ in 0..<2 {
                #expect(fillIn("{}", with: Ratio()) == nil)
            }
        }
        // Once per type.
        #expect(collector.events.map(\.kind) == [.defaultUnusable])
        #expect(collector.events.first?.severity == .error)
        #expect(collector.events.first?.error.code == .encodingFailed)
        #expect(collector.events.first?.error.description.contains("default value of Ratio can't be encoded") == true)
        struct OneWay: Codable {
            var name = "n"
            enum CodingKeys: CodingKey { case name, written }
            init() {}
            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(name, forKey: .written)
            }
        }
        #expect(fillIn(#"{"other":1}"#, with: OneWay()) == nil)
    }

    @Test("keeps every usable entry, however many others there are, with the same number of decoder calls")
    func bounds() throws {
        struct Outer: Codable {
            var numbers: [String: Int] = [:]
            var items: [Counted] = []
        }
        var calls: [Int] = []
        for count in [10, 10_000] {
            let entries = (0..<count).map { "\"\($0)\":\"x\"" }.joined(separator: ",")
            let items = (0..<count).map { "{\"id\":\($0)}" }.joined(separator: ",")
            let json = "{\"numbers\":{\(entries),\"y\":1},\"items\":[\(items),7,{\"id\":-1,\"name\":\"n\"}]}"
            let decoder = CountingDecoder()
            Counted.decodings.withLock { $0 = 0 }
            let outcome = try #require(
                fillIn(json, with: Outer(), coder: DefaultsCoder(encoder: JSONEncoder(), decoder: decoder))
            )
            #expect(outcome.value.numbers == ["y": 1])
            #expect(outcome.value.items.map(\.id) == Array(0..<count) + [-1])
            #expect(outcome.report.filledIn.count == count)
            #expect(outcome.report.unusable.count == count + 1)
            #expect(Counted.decodings.withLock { $0 } < 10 * count + 20)
            calls.append(decoder.calls.withLock { $0 })
        }
        #expect(calls[0] == calls[1] && calls[0] < 16)
    }

    @Test("fills in what is as deep as bytes can be")
    func depth() throws {
        struct Node: DefaultProviding {
            var id = 0
            var inner: [Node] = []
            static let defaultValue = Node()
        }
        func read(depth: Int) throws -> (last: Int, filledIn: Int, unusable: Int) {
            let opened = (1..<depth).map { #"{"id":\#($0),"inner":["# }.joined()
            let json = opened + #"{"id":\#(depth)}"# + String(repeating: "]}", count: depth - 1)
            let (value, report) = try #require(fillIn(json, with: Node()))
            var node = value
            while let inner = node.inner.first { node = inner }
            return (node.id, report.filledIn.count, report.unusable.count)
        }
        // The node at depth n is in 2 × (n - 1) containers.
        #expect(try read(depth: 65) == (65, 1, 0))
        #expect(try read(depth: 250) == (250, 1, 0))
    }

    @Test("finds what is at fault, whatever error an initializer throws", arguments: Shape.allCases)
    fileprivate func errorShapes(shape: Shape) throws {
        struct Inner: Codable, Equatable {
            var one = Percent(1)
            var two = Percent(2)
            var note = "n"
        }
        struct Outer: Codable, Equatable {
            var name = "n"
            var inner = Inner()
            var pair = Pair(low: 1, high: 2)
            var list = [Percent(3)]
            var byName = ["a": Percent(4)]
        }
        let json = #"""
            {"name":"x","inner":{"one":500,"two":8,"note":"y"},"pair":{"low":9,"high":3,"label":"p"},
            "list":[5,600],"byName":{"b":6,"c":700}}
            """#
        try Shape.$current.withValue(shape) {
            for coder in [DefaultsCoder.json, .propertyList] {
                let bytes = try coder.converted(json)
                let (value, report) = try #require(fillIn(bytes, with: Outer(), coder: coder))
                var expected = Outer(name: "x", byName: ["b": Percent(6)])
                expected.inner = Inner(two: Percent(8), note: "y")
                expected.pair = Pair(low: 1, high: 3, label: "p")
                #expect(value == expected)
                #expect(report.filledIn.isEmpty)
                #expect(report.unusablePaths == ["byName.c", "inner.one", "list", "pair.low"])
            }
        }
    }

    @Test("finds a fault that only an outer initializer notices")
    func nestedFault() throws {
        struct Limits: Codable, Equatable {
            var low = 1
            var high = 9
        }
        struct Checked: Codable, Equatable {
            var name = "n"
            var limits = Limits()
            var value = 5
            init() {}
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                limits = try container.decode(Limits.self, forKey: .limits)
                value = try container.decode(Int.self, forKey: .value)
                guard (limits.low...max(limits.low, limits.high)).contains(value) else {
                    throw CocoaError(.coderReadCorrupt)
                }
            }
        }
        let json = #"{"name":"x","limits":{"low":4,"high":2},"value":6}"#
        let (value, report) = try #require(fillIn(json, with: Checked()))
        #expect(value.name == "x")
        #expect(value.limits == Limits() && value.value == 6)
        #expect(report.unusablePaths == ["limits"])
    }

    @Test("an initializer that handles errors, or reads other names, costs nothing else")
    func tolerance() throws {
        struct Tolerant: Codable, Equatable {
            var title = "t"
            var count = 1
            var added = "a"
            enum CodingKeys: CodingKey { case title, heading, count, added }
            init() {}
            init(title: String, count: Int) { (self.title, self.count) = (title, count) }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                title =
                    try container.decodeIfPresent(String.self, forKey: .title)
                    ?? container.decode(String.self, forKey: .heading)
                count = (try? container.decode(Int.self, forKey: .count)) ?? -1
                added = try container.decode(String.self, forKey: .added)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(title, forKey: .title)
                try container.encode(count, forKey: .count)
                try container.encode(added, forKey: .added)
            }
        }
        let cases: [(String, Tolerant, [String], [String])] = [
            (#"{"count":2,"added":"a"}"#, Tolerant(title: "t", count: 2), ["title"], []),
            (#"{"heading":"h","count":2}"#, Tolerant(title: "h", count: 2), ["added"], []),
            (#"{"title":"x","count":"many"}"#, Tolerant(title: "x", count: -1), ["added"], []),
            (#"{"title":7,"count":2,"added":"a"}"#, Tolerant(title: "t", count: 2), [], ["title"]),
        ]
        for (json, expected, filledIn, unusable) in cases {
            let (value, report) = try #require(fillIn(json, with: Tolerant()), "\(json)")
            #expect(value == expected, "\(json)")
            #expect(report.filledIn == filledIn, "\(json)")
            #expect(report.unusablePaths.filter { $0 != "heading" } == unusable, "\(json)")
        }
    }

    @Test("fills in elements from their own default, in collections of every kind")
    func elements() throws {
        let old = #"{"url":"u"}"#
        let full = #"{"url":"v","tags":["t"],"isRead":true}"#
        let json = #"""
            {"list":[\#(old),7,\#(full),{"url":8,"tags":["w"]}],"byName":{"a":\#(old),"b":7},
            "byKind":["web",\#(old),"gone",\#(full),"mail",7],"optional":\#(old),"unique":[\#(old),7],
            "nested":[[\#(old)],[]],"kinds":["web","gone"],"plain":["x","y"]}
            """#
        let filled = Bookmark(url: "u")
        let whole = Bookmark(url: "v", tags: ["t"], isRead: true)
        let partial = Bookmark(url: "blank", tags: ["w"])
        for coder in [DefaultsCoder.json, .propertyList] {
            for fallback in [Shelf(), nil] {
                let (value, report) = try #require(fillIn(coder.converted(json), with: fallback, coder: coder))
                #expect(value.list == [filled, whole, partial])
                #expect(value.byName == ["a": filled])
                #expect(value.byKind == [.web: filled])
                #expect(value.optional == filled)
                #expect(value.unique == [filled])
                #expect(value.nested == [[filled], []])
                #expect(value.kinds == [.web])
                #expect(value.plain == ["x", "y"])
                #expect(
                    report.unusablePaths == [
                        "byKind[2]", "byKind[3]", "byKind[4]", "byKind[5]", "byName.b", "kinds[1]", "list[1]",
                        "list[3].url", "unique[1]",
                    ]
                )
                #expect(report.filledIn.contains("list[0].tags") && report.filledIn.contains("byKind[1].isRead"))
                let reason = report.unusable.first { $0.path == "list[1]" }?.reason
                #expect(reason?.description.hasPrefix("is not of type") == true)
            }
        }
    }

    @Test("uses the first of several fields with one name, as Foundation's decoder does, also if it has to fill in")
    func repeatedFields() throws {
        struct Sound: Codable, Equatable {
            struct Band: Codable, Equatable { var gain = 1 }
            var volume = 0
            var band = Band()
            var added: Int? = 7
            var muted = false
        }
        let fields = #""volume":1,"volume":2,"band":{"gain":3,"gain":4},"band":{"gain":5},"\u0076olume":6"#
        let expected = Sound(volume: 1, band: .init(gain: 3), added: nil)
        #expect(try JSONDecoder().decode(Sound.self, from: Data("{\(fields),\"muted\":false}".utf8)) == expected)
        let (value, report) = try #require(fillIn("{\(fields)}", with: Sound()))
        #expect(value == expected)
        #expect(report.filledIn == ["muted"] && report.unusable.isEmpty)
        // The default replaces the first field; the second one isn't used instead.
        let other = try #require(fillIn(#"{"volume":"loud","volume":2}"#, with: Sound()))
        #expect(other.value.volume == 0 && other.report.unusablePaths == ["volume"])
    }

    @Test("fills in an entry from the default's entry of that name, and others from the default of their type")
    func entriesOfDefault() throws {
        struct Theme: DefaultProviding, Equatable {
            var size = 1
            var name = "n"
            static var defaultValue: Theme? { Theme() }
        }
        enum Mode: String, Codable, CodingKeyRepresentable { case day, night, off }
        struct Look: Codable, Equatable {
            var themes = ["dark": Theme(size: 20, name: "d"), "gone": Theme(size: 30)]
            var byNumber = [7: Theme(size: 21)]
            var byMode = [Mode.night: Theme(size: 22)]
            var optional: [String: Theme?] = ["dark": Theme(size: 23), "none": nil]
            var nested = ["a": ["dark": Theme(size: 24)]]
            var added = true
        }
        let json = #"""
            {"themes":{"dark":{"name":"x"},"light":{"name":"y"},"full":{"size":2,"name":"z"}},
            "byNumber":{"7":{"name":"x"},"8":{"name":"y"}},"byMode":{"night":{"name":"x"},"day":{"size":"big"}},
            "optional":{"dark":{"name":"x"},"none":{"name":"y"}},
            "nested":{"a":{"dark":{"name":"x"},"light":{}},"b":{"dark":{}}}}
            """#
        var expected = Look()
        expected.themes = [
            "dark": Theme(size: 20, name: "x"), "light": Theme(name: "y"), "full": Theme(size: 2, name: "z"),
        ]
        expected.byNumber = [7: Theme(size: 21, name: "x"), 8: Theme(name: "y")]
        expected.byMode = [.night: Theme(size: 22, name: "x"), .day: Theme()]
        expected.optional = ["dark": Theme(size: 23, name: "x"), "none": Theme(name: "y")]
        expected.nested = ["a": ["dark": Theme(size: 24, name: "x"), "light": Theme()], "b": ["dark": Theme()]]
        for coder in [DefaultsCoder.json, .propertyList] {
            let (value, report) = try #require(fillIn(coder.converted(json), with: Look(), coder: coder))
            #expect(value == expected)
            #expect(report.unusablePaths == ["byMode.day.size"])
            // An unusable entry is replaced by the default's, or removed if the default has none.
            let other = #"{"themes":{"dark":7,"light":7},"byNumber":{"7":"x"},"optional":{"dark":[]}}"#
            let (replaced, loss) = try #require(fillIn(coder.converted(other), with: Look(), coder: coder))
            #expect(replaced.themes == ["dark": Theme(size: 20, name: "d")])
            #expect(replaced.byNumber == [7: Theme(size: 21)])
            #expect(replaced.optional == ["dark": Theme(size: 23)])
            #expect(loss.unusablePaths == ["byNumber.7", "optional.dark", "themes.dark", "themes.light"])
        }
    }

    @Test("is reported with a limited number of parts, those that can't be used first")
    func manyParts() {
        let report = LoadReport(
            filledIn: ["new"],
            unusable: (101...121).map { .init(keys: ["part\($0)"], reason: .wrongType(needed: "Int")) }
        )
        let error = DefaultsError.filledIn(report, ErrorContext(key: "k", type: Int.self, store: "s"))
        #expect(error.description.contains(#""part120" is not of type Int, and 2 more."#))
        #expect(!error.description.contains("part121"))
        #expect(!error.description.contains("new"))
    }

    @Test("fills in optional elements, and keeps those that are nil")
    func optionalElements() throws {
        struct Slots: Codable, Equatable {
            var list: [Bookmark?] = []
            var byName: [String: Bookmark?] = [:]
        }
        let json = #"{"list":[{"url":"u"},null,7,{"url":"v"}],"byName":{"a":{"url":"u"},"b":7,"c":null}}"#
        let (value, report) = try #require(fillIn(json, with: Slots()))
        #expect(value.list == [Bookmark(url: "u"), nil, Bookmark(url: "v")])
        #expect(value.byName == ["a": Bookmark(url: "u"), "c": nil])
        #expect(report.unusablePaths == ["byName.b", "list[2]"])
    }

    @Test("reports an entry whose key is equal to another one once it is filled in")
    func equalKeys() throws {
        struct Key: DefaultProviding, Hashable {
            var name = "n"
            var group = "g"
            static var defaultValue: Key? { Key() }
        }
        let json = #"[{"name":"a"},1,{"name":"a","group":"g"},2,{"name":"b"},3]"#
        let (value, report) = try #require(fillIn(json, with: [Key: Int]()))
        #expect(value == [Key(name: "a"): 1, Key(name: "b"): 3])
        #expect(report.unusablePaths == ["[2]", "[3]"])
    }

    @Test("reports an element's default that can't be encoded, and keeps the elements that don't need it")
    func uselessElementDefault() throws {
        struct Weight: DefaultProviding, Equatable {
            var name = "n"
            var weight = 0.0
            static var defaultValue: Weight? { Weight(weight: .infinity) }
        }
        struct Weights: Codable { var all: [String: Weight] = [:] }
        let collector = EventCollector()
        try collector.collect {
            let json = #"{"all":{"a":{"name":"a","weight":1},"b":{"name":"b"}}}"#
            let (value, report) = try #require(fillIn(json, with: Weights()))
            #expect(value.all == ["a": Weight(name: "a", weight: 1)])
            #expect(report.unusablePaths == ["all.b"])
        }
        #expect(collector.events.map(\.error.description).contains { $0.contains("default value of Weight") })
    }

    @Test("uses arrays of types without a default as a whole, or not at all")
    func wholeArrays() throws {
        struct Point: Codable, Equatable { var x: Int }
        struct Path: Codable, Equatable {
            var points = [Point(x: 0)]
            var counts = [1, 2]
        }
        let (value, report) = try #require(fillIn(#"{"points":[{"x":1},{"y":2}],"counts":[1,"x",3]}"#, with: Path()))
        #expect(value == Path())
        #expect(report.unusablePaths == ["counts", "points"])
    }

    @Test("takes entries out of dictionaries in the elements of such an array, and no elements")
    func wholeElements() throws {
        struct Point: Codable, Equatable {
            var x: Int
            var weights: [String: Int] = [:]
        }
        struct Grid: Codable, Equatable {
            var points = [Point(x: 0)]
            var rows = [[1]]
        }
        let json = #"{"points":[{"x":1,"weights":{"a":"many"}},{"x":2,"weights":{}}],"rows":[[2],["x"],[3]]}"#
        for coder in [DefaultsCoder.json, .propertyList] {
            let (value, report) = try #require(fillIn(coder.converted(json), with: Grid(), coder: coder))
            #expect(value == Grid(points: [Point(x: 1), Point(x: 2)], rows: [[1]]))
            #expect(report.unusablePaths == ["points[0].weights.a", "rows"])
        }
    }
}

/// A bookmark, whose first version had only an address.
private struct Bookmark: DefaultProviding, Hashable {
    var url: String
    var tags: [String] = []
    var isRead = false
    static var defaultValue: Bookmark? { Bookmark(url: "blank") }
}

private struct Shelf: Codable, Equatable {
    enum Kind: String, Codable { case web, mail }
    var list: [Bookmark] = []
    var byName: [String: Bookmark] = [:]
    var byKind: [Kind: Bookmark] = [:]
    var optional: Bookmark?
    var unique: Set<Bookmark> = []
    var nested: [[Bookmark]] = []
    var kinds: Set<Kind> = []
    var plain: [String] = []
}

/// A type that counts its decodings.
private struct Counted: DefaultProviding {
    static let decodings = Locked(0)
    static var defaultValue: Counted? { Counted(id: 0, name: "default") }
    var id: Int
    var name: String

    init(id: Int, name: String) { (self.id, self.name) = (id, name) }
    init(from decoder: any Decoder) throws {
        Self.decodings.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
    }
    enum CodingKeys: CodingKey { case id, name }
}

/// A decoder that counts its uses.
private final class CountingDecoder: DefaultsDecoder, Sendable {
    let calls = Locked(0)

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        calls.withLock { $0 += 1 }
        return try JSONDecoder().decode(type, from: data)
    }
}

extension DefaultsCoder {
    /// JSON in this coder's format.
    func converted(_ json: String) throws -> Data {
        let data = Data(json.utf8)
        guard (try encode([1])).first != UInt8(ascii: "[") else {
            return data
        }
        let object = try JSONSerialization.jsonObject(with: data)
        return try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
    }
}

/// A form of an error, and the path that it reports.
private enum Shape: CaseIterable {
    case mismatch, missingKey, missingValue, corrupted, own
    case mismatchWithoutPath, missingKeyWithoutPath, corruptedWithoutPath
    case mismatchInside, missingKeyInside, corruptedInside
    case mismatchElsewhere, missingKeyElsewhere, corruptedElsewhere
    case mismatchOutside

    @TaskLocal static var current = Shape.own

    struct Own: Error {}

    func error(at path: [any CodingKey]) -> any Error {
        let inside = path + [PathKey(stringValue: "in"), PathKey(stringValue: "side")]
        let elsewhere: [any CodingKey] = [PathKey(stringValue: "name")]
        func context(_ path: [any CodingKey]) -> DecodingError.Context { .init(codingPath: path, debugDescription: "") }
        let key = PathKey(stringValue: "key")
        return switch self {
        case .mismatch: DecodingError.typeMismatch(Int.self, context(path))
        case .missingKey: DecodingError.keyNotFound(key, context(path))
        case .missingValue: DecodingError.valueNotFound(Int.self, context(path))
        case .corrupted: DecodingError.dataCorrupted(context(path))
        case .own: Own()
        case .mismatchWithoutPath: DecodingError.typeMismatch(Int.self, context([]))
        case .missingKeyWithoutPath: DecodingError.keyNotFound(key, context([]))
        case .corruptedWithoutPath: DecodingError.dataCorrupted(context([]))
        case .mismatchInside: DecodingError.typeMismatch(Int.self, context(inside))
        case .missingKeyInside: DecodingError.keyNotFound(key, context(inside))
        case .corruptedInside: DecodingError.dataCorrupted(context(inside))
        case .mismatchElsewhere: DecodingError.typeMismatch(Int.self, context(elsewhere))
        case .missingKeyElsewhere: DecodingError.keyNotFound(key, context(elsewhere))
        case .corruptedElsewhere: DecodingError.dataCorrupted(context(elsewhere))
        case .mismatchOutside: DecodingError.typeMismatch(Int.self, context(path.dropLast()))
        }
    }
}

/// A number up to 100, which the initializer checks.
private struct Percent: Codable, Equatable {
    var number: Int
    init(_ number: Int) { self.number = number }
    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
        guard number <= 100 else { throw Shape.current.error(at: decoder.codingPath) }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// Two numbers in order, which the initializer checks.
private struct Pair: Codable, Equatable {
    var low: Int
    var high: Int
    var label = "l"
    init(low: Int, high: Int, label: String = "l") { (self.low, self.high, self.label) = (low, high, label) }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        low = try container.decode(Int.self, forKey: .low)
        high = try container.decode(Int.self, forKey: .high)
        label = try container.decode(String.self, forKey: .label)
        guard low <= high else { throw Shape.current.error(at: decoder.codingPath) }
    }
    enum CodingKeys: CodingKey { case low, high, label }
}

@Suite("A tree of stored bytes", .ownCache)
struct StoredTreeTests {
    @Test("matches the bytes, with spaces, escapes, repeated keys and an extra comma")
    func parsing() throws {
        let json = " { \"a\" : [1, {\"}\":\"]\\\"\"}] ,\n\"\\u0062\":{\"c\":1.50e3},\"a\":2,\"d\":null, } \t"
        let parsed = try #require(StoredTree.parse(Data(json.utf8)))
        let tree = parsed.tree
        #expect(tree[["a"]]?.jsonData == Data(#"[1,{"}":"]\""}]"#.utf8))
        guard case .array(let elements)? = tree[["a"]] else { throw UnexpectedValue() }
        #expect(elements.count == 2)
        #expect(tree[["b", "c"]]?.jsonData == Data("1.50e3".utf8))
        #expect(tree[["d"]]?.isNull == true)
        #expect(tree[["b", "x"]] == nil)
        #expect(tree[["d", "x"]] == nil)
        #expect(tree.data(in: parsed.format).flatMap { StoredTree.parse($0) }?.tree == tree)
        #expect(StoredTree.parse(Data("\u{FEFF}{\"a\":1}".utf8))?.tree[["a"]] != nil)
        #expect(tree.data(in: .propertyList) == nil)
    }

    @Test("has a maximum depth")
    func depth() {
        func nested(_ count: Int) -> Data {
            Data((String(repeating: #"{"a":"#, count: count) + "1" + String(repeating: "}", count: count)).utf8)
        }
        #expect(StoredTree.parse(nested(512)) != nil)
        #expect(StoredTree.parse(nested(513)) == nil)
        #expect(StoredTree.parse(nested(200_000)) == nil)
        #expect(StoredTree.parse(Data(String(repeating: "[", count: 200_000).utf8)) == nil)
        // The innermost object may be empty.
        let object = #"{"a":"#
        for (begin, innermost, end) in [("[", "", "]"), (object, "{}", "}"), ("[", "{}", "]"), (object, "[]", "}")] {
            func parses(_ count: Int) -> Bool {
                let outer = innermost.isEmpty ? count : count - 1
                let text = String(repeating: begin, count: outer) + innermost + String(repeating: end, count: outer)
                return StoredTree.parse(Data(text.utf8)) != nil
            }
            #expect(parses(512) && !parses(513), "\(begin)\(innermost)")
        }
    }

    @Test("changes only at paths that exist")
    func changing() throws {
        var tree = try #require(StoredTree.parse(Data(#"{"a":{"b":1},"c":2}"#.utf8))).tree
        let value = StoredTree.json(Array("3".utf8)[...])
        tree[["a", "x"]] = value
        tree[["c", "x"]] = value
        tree[["n", "x"]] = value
        tree[["a", "b"]] = nil
        #expect(tree.jsonData == Data(#"{"a":{"x":3},"c":2}"#.utf8))
        var list = try #require(StoredTree.parse(Data(#"{"a":[{"b":1},2,3]}"#.utf8))).tree
        list[["a", "[0]", "b"]] = value
        list[["a", "[1]"]] = nil
        list[["a", "[7]"]] = value
        list[["a", "b"]] = value
        #expect(list.jsonData == Data(#"{"a":[{"b":3},3]}"#.utf8) && list[["a", "[1]"]] != nil)
    }

    @Test(
        "has no tree where JSON ends too early, or an object lacks a value",
        arguments: [
            #""a"#, #""a\"#, #"{"a"#, #"{"a":"#, #"["a""#, #"{"a":"b"#, #"{"a","b":1}"#, #"{"a":}"#, #"{1:2}"#,
        ]
    )
    func unfinished(json: String) {
        #expect(StoredTree(json: Data(json.utf8)) == nil)
    }
}

import Foundation
import Testing

@testable import Default

@Suite("A property list that was written elsewhere")
struct PropertyListFileTests {
    static let texts: [(String, PropertyListValue)] = [
        (xml("<real>1</real>"), .real(1)),
        (xml("<integer>1</integer>"), .integer(1)),
        (xml("<real>-0.5</real>"), .real(-0.5)),
        (xml("<real>inf</real>"), .real(.infinity)),
        (xml("<integer>18446744073709551615</integer>"), .unsigned(.max)),
        (xml("<integer>-9223372036854775808</integer>"), .integer(.min)),
        (xml("<true/>"), .boolean(true)),
        (xml("<data>AQI=</data>"), .data(Data([1, 2]))),
        (xml("<date>2001-01-01T00:01:00Z</date>"), .date(Date(timeIntervalSinceReferenceDate: 60))),
        (
            xml("<array><real>1</real><integer>1</integer><string>real:1</string></array>"),
            .array([.real(1), .integer(1), .string("real:1")])
        ),
        (
            xml("<dict><key>a</key><dict><key>&lt;real&gt;</key><real>2</real></dict></dict>"),
            .dictionary(["a": .dictionary(["<real>": .real(2)])])
        ),
        (
            xml("<array><string>&lt;real&gt;1&lt;/real&gt;</string><real>1e3</real></array>"),
            .array([.string("<real>1</real>"), .real(1_000)])
        ),
        (xml("<array><!-- <real>5</real> --><integer>1</integer></array>"), .array([.integer(1)])),
        (xml("<string><![CDATA[<real>5</real>]]></string>"), .string("<real>5</real>")),
        (
            "{ a = (1, \"b c\"); d = <0f10>; }",
            .dictionary([
                "a": .array([.string("1"), .string("b c")]), "d": .data(Data([15, 16])),
            ])
        ),
        ("<0f>", .data(Data([15]))),
    ]

    private static func xml(_ value: String) -> String {
        #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">\#(value)</plist>"#
    }

    @Test("keeps the type of each value, in XML and in the older form of text", arguments: texts)
    func types(text: String, value: PropertyListValue) {
        #expect(PropertyListFile.value(of: Data(text.utf8)) == value)
    }

    @Test("is read entry by entry, so that one that can't be stored doesn't hide the others")
    func entries() throws {
        let text = Self.xml("<dict><key>a</key><real>1</real><key>b</key><integer>1</integer></dict>")
        let entries = try PropertyListFile.entries(of: Data(text.utf8))
        #expect(try entries.mapValues { try $0.get() } == ["a": .real(1), "b": .integer(1)])
        // Values of 256 levels can be stored, and those of one more can't.
        func nested(_ levels: Int) -> String {
            String(repeating: "<array>", count: levels) + String(repeating: "</array>", count: levels)
        }
        let mixed = "<dict><key>a</key>\(nested(257))<key>b</key>\(nested(256))<key>c</key><true/></dict>"
        let several = try PropertyListFile.entries(of: Data(Self.xml(mixed).utf8))
        #expect(several.keys.sorted() == ["a", "b", "c"])
        #expect((try? several["a"]?.get()) == nil)
        #expect((try? several["b"]?.get()) != nil)
        #expect(try several["c"]?.get() == .boolean(true))
        let binary = try #require(PropertyListValue.dictionary(["a": .real(1), "b": .string("x")]).propertyListData)
        #expect(
            try PropertyListFile.entries(of: binary).mapValues { try $0.get() } == ["a": .real(1), "b": .string("x")]
        )
        #expect(PropertyListFile.value(of: binary) == .dictionary(["a": .real(1), "b": .string("x")]))
        #expect(throws: (any Error).self) { try PropertyListFile.entries(of: Data(Self.xml("<array/>").utf8)) }
        #expect(throws: (any Error).self) { try PropertyListFile.entries(of: Data("<dict>".utf8)) }
        #expect(PropertyListFile.value(of: Data("<dict>".utf8)) == nil)
    }
}

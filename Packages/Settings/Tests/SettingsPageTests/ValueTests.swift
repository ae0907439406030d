import Default
import Foundation
import SettingsValues
import Testing

@testable import SettingsPage

struct ValueTests {
    /// A secret in each form that is shown, and in some that only look like one.
    private static var encodedSecrets: [PropertyListValue] {
        let xml = "<?xml version=\"1.0\"?><plist><dict><key>token</key><string>s3cret</string></dict></plist>"
        let json = "{\"token\": \"s3cret\"}"
        let deep = String(repeating: "[", count: 300) + json + String(repeating: "]", count: 300)
        let list = PropertyListValue.data(BinaryPropertyListWriter.data(.array([.data(Data(json.utf8))])))
        let nested = (0..<20).reduce(list) { value, _ in .data(BinaryPropertyListWriter.data(.array([value]))) }
        let texts = [xml, json, "  " + deep, "{\"token\" : \"s3cret\",}", JSONText.quoted(JSONText.quoted(json))]
        return texts.flatMap { [.string($0), .data(Data($0.utf8)), .array([.data(Data($0.utf8))])] } + [
            list, nested, .data(Data("\u{FEFF}\(json)".utf8)), .data(xml.data(using: .utf16) ?? Data()),
            .data(Data("{ token = s3cret; }".utf8)), .data(Data(xml.utf8.dropLast(20))),
            .data(Data(xml.replacing("<dict>", with: String(repeating: "<array>", count: 300) + "<dict>").utf8)),
        ]
    }

    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0])

    @Test(
        "Each kind of value has its form, and a beginning on one line",
        arguments: [
            (.string("red"), .string, "red"),
            (.boolean(true), .boolean, "true"),
            (.integer(-5), .integer, "-5"),
            (.unsigned(.max), .unsigned, "18446744073709551615"),
            (.real(0.5), .real, "0.5"),
            (.date(Date(timeIntervalSinceReferenceDate: 0)), .date, "2001-01-01T00:00:00Z"),
            (.array([.integer(1), .string("a")]), .array, "[1, \"a\"]"),
            (.dictionary(["b": .integer(2), "a": .array([])]), .dictionary, "{\"a\": [], \"b\": 2}"),
            (.data(Data("{\"a\": [1, null]}".utf8)), .json, "{\"a\": [1, null]}"),
            (.data(Data("plain\ttext".utf8)), .data, "plain\ttext"),
            (.data(Data([1, 255])), .data, "01 ff"),
            (.data(png), .image, "89 50 4e 47 0d 0a 1a 0a 00 00"),
            (
                .data(BinaryPropertyListWriter.data(.dictionary(["a": .integer(1)]))), .propertyList, "{\"a\": 1}"
            ),
        ] as [(PropertyListValue, ValueForm, String)]
    )
    func forms(value: PropertyListValue, form: ValueForm, beginning: String) {
        let row = Row(key: "key", value: value, own: value, hiding: KeyPatterns())
        #expect(row.form == form)
        #expect(row.preview == beginning)
        #expect(!row.isCut && !row.isHidden)
    }

    @Test("A long value is cut, and all of it is there in parts that divide no character")
    func parts() throws {
        let text = "a" + String(repeating: "é", count: 30_000)
        let row = Row(key: "key", value: .string(text), own: .string(text), hiding: KeyPatterns())
        #expect(row.isCut && row.preview.count == Preview.limit && row.size == 60_001)
        var found = ""
        var next: Int? = 0
        while let offset = next {
            let part = try #require(detail(.string(text), offset: offset))
            found += try #require(part.text)
            next = part.next
        }
        #expect(found == text)
    }

    @Test("Data of 64 MiB is shown by its beginning, and none of it is decoded")
    func large() throws {
        let value = PropertyListValue.data(Data("[".utf8) + Data(repeating: 0x20, count: (64 << 20) - 1))
        let row = Row(key: "key", value: value, own: value, hiding: KeyPatterns())
        #expect(row.form == .data && row.isCut && row.size == 64 << 20)
        let detail = try #require(self.detail(value))
        #expect(detail.edit == nil && detail.next == ValueDetail.textLimit)
        let end = try #require(self.detail(value, offset: (64 << 20) - 10))
        #expect(end.next == nil)
    }

    @Test("The parts of a value are found by their places, a hundred at a time")
    func tree() throws {
        let value = PropertyListValue.dictionary([
            "list": .array((0..<250).map { .integer($0) }), "json": .data(Data("{\"a\": {\"a\": 1}}".utf8)),
        ])
        let top = try #require(detail(value))
        #expect(top.children?.map(\.name) == ["json", "list"])
        #expect(top.children?.map(\.count) == [1, 250])
        let json = try #require(detail(value, path: [0, 0]))
        #expect(json.children?.map(\.preview) == ["1"])
        for value in [value, .data(Data([1])), "text"] {
            #expect(detail(value, offset: .max)?.next == nil)
        }
        let last = try #require(detail(value, path: [1], offset: 200))
        #expect(last.children?.map(\.name) == (200..<250).map(String.init) && last.next == nil && last.total == 250)
        #expect(detail(value, path: [2]) == nil && detail(value, path: [1, 0, 0]) == nil)
    }

    @Test("What is hidden is in no row and no part, whether by its key, within a value, within JSON or quarantined")
    func hiding() throws {
        let hidden = KeyPatterns(patterns: ["*token"])
        let secret = PropertyListValue.dictionary(["token": .string("s3cret"), "name": .string("ada")])
        let json = PropertyListValue.data(Data("{\"token\": \"s3cret\"}".utf8))
        let values: [(String, PropertyListValue)] = [
            ("token", .string("s3cret")), ("login", secret), ("login", json), ("token.quarantine", .array([secret])),
            ("login", .data(Data("{\"token\": \"s3cret\", \"rest\": \"".utf8) + Data(repeating: 0x61, count: 9 << 20))),
        ]
        for (key, value) in values + Self.encodedSecrets.map({ ("login", $0) }) {
            let row = Row(key: key, value: value, own: value, hiding: hidden)
            #expect(row.isHidden && !row.preview.contains("s3cret"), "\(row.preview)")
            let detail = ValueDetail(value, forKey: key, own: value, path: [], offset: 0, hiding: hidden)
            let text = String(decoding: try JSONEncoder().encode(try #require(detail)), as: UTF8.self)
            #expect(!text.contains("s3cret") && detail?.edit == nil)
        }
    }

    @Test("A hidden value's version doesn't say how long the value is")
    func hiddenVersion() throws {
        let versions = [10, 1_000].map { count in
            let value = PropertyListValue.string(String(repeating: "x", count: count))
            return Row(key: "token", value: value, own: value, hiding: KeyPatterns(patterns: ["token"])).version
        }
        #expect(versions[0] != versions[1])
        #expect(versions.allSatisfy { $0?.allSatisfy(\.isNumber) == true })
    }

    @Test("A pattern matches all of a key, however its letters are encoded, and whatever is before them")
    func patterns() {
        let hidden = KeyPatterns(patterns: ["*token", "caf\u{E9}"])
        #expect(["a\0token", "a\ntoken", "CAFE\u{301}", "TOKEN"].allSatisfy(hidden.matches))
        #expect(!["token\0", "cafe"].contains(where: hidden.matches))
    }

    @Test(
        "A value in which nothing is hidden is shown, whatever it begins with",
        arguments: [
            "[a-z]+", "[::1]:8080", "{name} is here", "<none>", "(token)", "{\"name\": \"ada\"}",
            .string(String(repeating: "[", count: 300)), .data(Data("{\"name\": \"ada\"}".utf8)), .data(png),
            .data(Data("plain text".utf8)), .data(Data([1, 0x7B])), .data(Data()),
        ] as [PropertyListValue]
    )
    func shown(value: PropertyListValue) throws {
        let hidden = KeyPatterns(patterns: ["*token"])
        #expect(!Row(key: "key", value: value, own: value, hiding: hidden).isHidden)
        let detail = ValueDetail(value, forKey: "key", own: value, path: [], offset: 0, hiding: hidden)
        #expect(detail?.edit != nil)
    }

    @Test("Property lists in property lists, thousands of them, end no process")
    func nestedData() throws {
        let nested = (0..<8_000).reduce(PropertyListValue.integer(1)) { value, _ in
            .data(BinaryPropertyListWriter.data(value))
        }
        let row = Row(key: "key", value: nested, own: nested, hiding: KeyPatterns(patterns: ["token"]))
        #expect(row.isHidden)
        #expect(detail(nested)?.text == nil)
        var text = StyledText(usesColor: false)
        text.append(nested)
        #expect(!text.string.isEmpty)
    }

    @Test(
        "A value that is edited and not changed is the same, of the same type",
        arguments: [
            .string("two\nlines"), .string("\u{202E}right\r\nto left\0"), .string(""), .boolean(false), .integer(.min),
            .integer(5), .unsigned(5), .unsigned(.max), .real(-0.0), .real(.infinity), .real(1), .real(0.1),
            .date(Date(timeIntervalSinceReferenceDate: 0.1234567)), .date(Date(timeIntervalSinceReferenceDate: 8e8)),
            .data(Data([0, 255])), .data(Data("text".utf8)), .data(Data("{\"b\":1,\"a\":[1.50]}".utf8)), .data(Data()),
            .array([.date(.distantPast), .unsigned(.max), .data(Data([1]))]),
            .dictionary(["$date": .string("no date")]),
            .data(BinaryPropertyListWriter.data(.dictionary(["a": .real(1)]))),
        ] as [PropertyListValue]
    )
    func roundTrip(value: PropertyListValue) throws {
        let edited = try #require(EditedValue(value, form: ShownValue(.value(value)).form))
        #expect(try edited.value().isIdentical(to: value), "\(edited.text)")
    }

    @Test(
        "What can't be read as its type is refused with a sentence",
        arguments: [
            (.integer, "1.5"), (.integer, "18446744073709551616"), (.unsigned, "-1"), (.real, "one"), (.boolean, "yes"),
            (.date, "tomorrow"), (.data, "abc"), (.json, "{"), (.array, "{}"), (.dictionary, "[]"), (.array, "[null]"),
            (.null, "null"), (.real, "1e400"), (.real, "-1e400"), (.date, "1e400"),
        ] as [(ValueForm, String)]
    )
    func refusals(form: ValueForm, text: String) {
        let error = #expect(throws: ToolError.self) { try EditedValue(form: form, text: text).value() }
        #expect(error?.description.hasSuffix(".") == true || error?.description.contains("look at line") == true)
    }

    private func detail(_ value: PropertyListValue, path: [Int] = [], offset: Int = 0) -> ValueDetail? {
        ValueDetail(value, forKey: "key", own: value, path: path, offset: offset, hiding: KeyPatterns())
    }
}

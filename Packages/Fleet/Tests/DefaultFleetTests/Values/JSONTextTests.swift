import Default
import Foundation
import Testing

@testable import DefaultFleet

@Suite("The text of values")
struct JSONTextTests {
    private static let reference = Date(timeIntervalSinceReferenceDate: 0)

    /// Values with the text that they are written as.
    private static let written: [(PropertyListValue, String)] = [
        (.string("red"), #""red""#), (.string(""), #""""#),
        (.string("a\"\\\n\r\t\u{1}\0é🎛"), #""a\"\\\n\r\t\u0001\u0000é🎛""#),
        (.boolean(true), "true"), (.boolean(false), "false"),
        (.integer(0), "0"), (.integer(-5), "-5"), (.integer(.min), "-9223372036854775808"),
        (.integer(.max), "9223372036854775807"), (.unsigned(.max), "18446744073709551615"),
        (.real(2), "2.0"), (.real(-0.0), "-0.0"), (.real(0.1), "0.1"), (.real(1e300), "1e+300"),
        (.real(.leastNonzeroMagnitude), "5e-324"), (.real(.infinity), #"{"$real":"inf"}"#),
        (.real(-.infinity), #"{"$real":"-inf"}"#), (.real(.nan), #"{"$real":"nan"}"#),
        (.real(Double(bitPattern: 0x7FF8_0000_0000_0001)), #"{"$real":"0x7ff8000000000001"}"#),
        (.data(Data()), #"{"$data":""}"#), (.data(Data([0, 1, 2])), #"{"$data":"AAEC"}"#),
        (.data(Data(#"{"b": 1, "a":[null, "x"]}"#.utf8)), #"{"$json":{"b": 1, "a":[null, "x"]}}"#),
        (.data(Data("5".utf8)), #"{"$json":5}"#), (.data(Data(" 5".utf8)), #"{"$data":"IDU="}"#),
        (.data(Data("[1,]".utf8)), #"{"$data":"WzEsXQ=="}"#), (.data(Data("05".utf8)), #"{"$data":"MDU="}"#),
        (.date(reference), #"{"$date":"2001-01-01T00:00:00Z"}"#),
        (.date(Date(timeIntervalSince1970: 951_782_400)), #"{"$date":"2000-02-29T00:00:00Z"}"#),
        (.date(Date(timeIntervalSince1970: -1)), #"{"$date":"1969-12-31T23:59:59Z"}"#),
        (.date(Date(timeIntervalSinceReferenceDate: -0.1)), #"{"$date":-0.1}"#),
        (.date(Date(timeIntervalSince1970: -12_212_553_600)), #"{"$date":"1583-01-01T00:00:00Z"}"#),
        (.date(Date(timeIntervalSince1970: -12_212_553_601)), #"{"$date":-13190860801.0}"#),
        (.date(Date(timeIntervalSince1970: 253_402_300_799)), #"{"$date":"9999-12-31T23:59:59Z"}"#),
        (.date(Date(timeIntervalSince1970: 253_402_300_800)), #"{"$date":252423993600.0}"#),
        (.date(Date(timeIntervalSinceReferenceDate: -0.0)), #"{"$date":-0.0}"#),
        (.date(.distantFuture), #"{"$date":"4001-01-01T00:00:00Z"}"#),
        (.date(Date(timeIntervalSinceReferenceDate: 1e20)), #"{"$date":1e+20}"#),
        (.date(Date(timeIntervalSinceReferenceDate: .infinity)), #"{"$date":{"$real":"inf"}}"#),
        (.array([]), "[]"), (.array([.integer(1), .real(1), .array([])]), "[1,1.0,[]]"),
        (.dictionary([:]), "{}"), (.dictionary(["b": .integer(2), "a": .boolean(true)]), #"{"a":true,"b":2}"#),
        (.dictionary(["$": .integer(1)]), #"{"$$":1}"#),
        (.dictionary(["$json": .integer(1), "$$x": .integer(2)]), #"{"$$$x":2,"$$json":1}"#),
        (.dictionary(["": .string("")]), #"{"":""}"#),
        (.dictionary(["e\u{301}": .string("e\u{301}")]), "{\"e\u{301}\":\"e\u{301}\"}"),
        (.array([.data(Data("[]".utf8)), .date(reference)]), #"[{"$json":[]},{"$date":"2001-01-01T00:00:00Z"}]"#),
    ]

    @Test("is written as documented, and read as the same value")
    func roundTrip() {
        for (value, text) in Self.written {
            #expect(String(decoding: JSONText.text(of: value), as: UTF8.self) == text)
            let read = JSONText.value(of: Data(text.utf8))
            #expect(read?.binaryForm == value.binaryForm, "\(text)")
        }
    }

    @Test("may be written by hand, with white space and escapes")
    func byHand() {
        let cases: [(String, PropertyListValue)] = [
            (" false\n", .boolean(false)), ("\t[ 1 , 2.5e0 ]", .array([.integer(1), .real(2.5)])), ("1E2", .real(100)),
            (#""\u00e9\ud83d\ude00\/\b\f""#, .string("é😀/\u{8}\u{C}")),
            (#""\ud83d" "#, .data(Data(#""\ud83d" "#.utf8))),
            (#"{ "$json" : { "limit": 5 } }"#, .data(Data(#"{ "limit": 5 }"#.utf8))),
            (#"{"$date": "2026-11-22T18:00:00+01:00"}"#, .date(Date(timeIntervalSince1970: 1_795_366_800))),
            (#"{"$date": "2001-01-01T00:00:00.5Z"}"#, .date(Date(timeIntervalSinceReferenceDate: 0.5))),
            (#"{"$date": "2001-01-01T00:00:00-23:59"}"#, .date(Date(timeIntervalSinceReferenceDate: 86_340))),
            (#"{"$date": 60}"#, .date(Date(timeIntervalSinceReferenceDate: 60))), ("-0", .integer(0)),
        ]
        for (text, value) in cases {
            #expect(JSONText.storedValue(of: Data(text.utf8)).binaryForm == value.binaryForm, "\(text)")
        }
    }

    @Test(
        "that is malformed is kept as its bytes",
        arguments: [
            "", " ", "hello", "nul", "null", "[null]", "'a'", "\"", "\"\n\"", "01", "+1", "1.", ".5", "1e", "0x10",
            "NaN",
            "18446744073709551616", "-9223372036854775809", "1e999", "[1,]", "[1", "{\"a\"}", "{\"a\":1,}", "{a:1}",
            "{\"a\":1,\"a\":2}", "{\"é\":1,\"e\u{301}\":2}", "{\"$a\":1}", "{\"$json\":1,\"b\":2}",
            "{\"b\":2,\"$json\":1}",
            "{\"$json\":}", "{\"$data\":\"!\"}", "{\"$data\":1}", "{\"$real\":\"1\"}", "{\"$date\":\"yesterday\"}",
            "{\"$date\":\"2026-02-30T00:00:00Z\"}", "{\"$date\":\"1582-12-31T23:59:59Z\"}",
            "{\"$date\":\"2016-12-31T23:59:60Z\"}", "{\"$date\":\"2026-01-01T24:00:00Z\"}",
            "{\"$date\":\"2026-01-01T00:00:00+24:00\"}", "{\"$date\":\"2026-01-01T00:00:00+00:60\"}",
            "{\"$date\":true}", "{\"$date\":{}}",
            "{\"$date\":{\"$date\":60}}", "{\"$date\":[]}", "1 2", "true false", "\"\\x\"", "\"\\u12\"",
            "\"\\udc00\"",
        ]
    )
    func malformed(text: String) {
        #expect(JSONText.value(of: Data(text.utf8)) == nil)
        #expect(JSONText.storedValue(of: Data(text.utf8)) == .data(Data(text.utf8)))
    }

    @Test("that is not UTF-8 is kept as its bytes")
    func notUTF8() {
        let text = Data([0x22, 0xFF, 0x22])
        #expect(JSONText.storedValue(of: text) == .data(text))
        #expect(JSONText.text(of: .data(text)) == Data(#"{"$data":"Iv8i"}"#.utf8))
    }

    @Test("nests as deeply as a store's values may, and no deeper")
    func depth() async {
        // On a thread with a stack like the follower's.
        await onThread {
            let deepest = (0..<256).reduce(PropertyListValue.integer(1)) { inner, level in
                level.isMultiple(of: 2) ? .array([inner]) : .dictionary(["k": inner])
            }
            #expect(JSONText.value(of: JSONText.text(of: deepest))?.binaryForm == deepest.binaryForm)
            #expect(JSONText.value(of: JSONText.text(of: .array([deepest]))) == nil)
            #expect(JSONText.value(of: JSONText.text(of: .dictionary(["k": deepest]))) == nil)
        }
        // An object that stands for a value holds no other one.
        let dates = Data((String(repeating: #"{"$date":"#, count: 100_000) + "1").utf8)
        #expect(JSONText.storedValue(of: dates) == .data(dates))
        let json = Data((String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)).utf8)
        #expect(JSONText.value(of: JSONText.text(of: .data(json))) == .data(json))
    }
}

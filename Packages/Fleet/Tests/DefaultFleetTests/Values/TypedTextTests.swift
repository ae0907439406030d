import Default
import Foundation
import Testing

@testable import DefaultFleet

@Suite("A value that an operator types")
struct TypedTextTests {
    private static let json = PropertyListValue.data(Data(#"{"limit":20}"#.utf8))

    @Test("has the type of the present value, or the one that is asked for")
    func types() throws {
        let cases: [(text: String, type: TypedText.ValueType?, present: PropertyListValue?, value: PropertyListValue)] =
            [
                ("off", nil, .boolean(true), .boolean(false)), ("False", nil, nil, .boolean(false)),
                ("2", nil, .integer(1), .integer(2)), ("2", nil, .real(1), .real(2)), ("2", nil, nil, .integer(2)),
                ("off", nil, .string("a"), .string("off")), ("\"off\"", nil, .string("a"), .string("off")),
                ("2", .string, .integer(1), .string("2")), ("a b", .string, nil, .string("a b")),
                ("2026-11-22T17:00:00Z", .date, nil, .date(Date(timeIntervalSince1970: 1_795_366_800))),
                (#"{"limit":20}"#, nil, Self.json, Self.json), (#"{"$json":{"limit":20}}"#, nil, Self.json, Self.json),
                (#"{"limit":20}"#, nil, nil, .dictionary(["limit": .integer(20)])),
                (#"{"limit":20}"#, .json, nil, Self.json), ("[1]", nil, .array([]), .array([.integer(1)])),
                (#"{"$data":"AAEC"}"#, nil, .data(Data([1])), .data(Data([0, 1, 2]))),
            ]
        for (text, type, present, value) in cases {
            #expect(try TypedText.value(of: text, as: type, inPlaceOf: present) == value, "\(text)")
        }
    }

    @Test("is one of a suite's, whose keys only their bytes distinguish")
    func values() throws {
        let text = " {\"\u{E9}\" : 1, \"e\u{301}\": {\"a\": 2}, \"$$a\": {\"$data\": \"AAEC\"}} "
        let values = try [
            StoreKey("\u{E9}"): PropertyListValue.integer(1), StoreKey("e\u{301}"): .dictionary(["a": .integer(2)]),
            StoreKey("$a"): .data(Data([0, 1, 2])),
        ]
        #expect(TypedText.values(of: text) == values)
        #expect(TypedText.values(of: "\u{FEFF}{}") == [:])
        let malformed = [
            "", "[]", "1", "{", #"{"a":1"#, #"{"a":1,}"#, #"{"a":1}}"#, #"{"a":1,"a":1}"#, #"{"$data":""}"#,
        ]
        for text in malformed {
            #expect(TypedText.values(of: text) == nil, "\(text)")
        }
    }

    @Test("is refused when it is of another type, with what to do")
    func refusals() {
        let cases: [(text: String, type: TypedText.ValueType?, present: PropertyListValue?, advice: String)] = [
            ("maybe", nil, .boolean(true), "boolean"), ("1", nil, .boolean(true), "boolean"),
            ("2.5", nil, .integer(1), "integer"), ("two", nil, .real(1), "real"), ("hello", nil, nil, "--type string"),
            ("yes", .integer, nil, "--type is integer"), ("today", .date, nil, "--type is date"),
            ("{limit}", .json, nil, "--type is json"), ("5", .data, Self.json, "--type is data"),
        ]
        for (text, type, present, advice) in cases {
            #expect {
                try TypedText.value(of: text, as: type, inPlaceOf: present)
            } throws: {
                "\($0)".contains(advice)
            }
        }
    }
}

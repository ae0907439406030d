@testable import Default
import Foundation
import Testing

@Suite("JSON that people write")
struct JSONDocumentTests {
    private func value(_ text: String) throws -> PropertyListValue? { try JSONDocument.value(of: Array(text.utf8)) }

    private func fault(_ text: String) -> JSONDocument.Fault? {
        do {
            _ = try JSONDocument.value(of: Array(text.utf8))
            return nil
        } catch { return error }
    }

    @Test("has values of each kind, and null says nothing")
    func values() throws {
        #expect(
            try value(#"{"a": [1, -2, 2.5, 1e2, true, false, "x"], "b": {"c": null}, "d": null, "e": [null]}"#) == [
                "a": [1, -2, 2.5, .real(100), true, false, "x"], "b": [:], "e": [],
            ]
        )
        #expect(try value("\u{FEFF} \n\t 7 \r\n") == 7)
        #expect(try value("18446744073709551615") == .unsigned(.max))
        #expect(try value("-9223372036854775808") == .integer(.min))
        #expect(try value(#""\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00""#) == "\"\\/\u{8}\u{C}\n\r\té\u{e9}😀")
        #expect(try value("null") == nil)
        // Names are told apart by their bytes.
        #expect(try value(#"{"\u00e9": 1, "e\u0301": 2}"#) != nil)
    }

    @Test(
        "is refused with line and column",
        arguments: [
            ("", "the text is empty", 1, 1), (" \n", "the text is empty", 2, 1),
            ("{\n  \"a\": 1,\n  \"a\": 2\n}", "the name \"a\" is there twice", 3, 3),
            ("{\"é\": x}", "a value is missing", 1, 7), ("{\"a\": 1", "the end is missing", 1, 8),
            ("{\"a\" 1}", "a colon is missing", 1, 6), ("{a: 1}", "a name in quotation marks is missing", 1, 2),
            ("[1 2]", "a comma or ] is missing", 1, 4), ("[1,]", "a value is missing", 1, 4),
            ("{\"a\": 1,}", "a name in quotation marks is missing", 1, 9),
            ("{\"a\": 1 \"b\": 2}", "a comma or } is missing", 1, 9),
            ("1 2", "something follows the end", 1, 3), ("01", "a number is malformed", 1, 1),
            ("-", "a number is malformed", 1, 1), ("1.", "a number is malformed", 1, 1),
            ("1e", "a number is malformed", 1, 1), ("+1", "a value is missing", 1, 1),
            ("18446744073709551616", "a number doesn't fit into 64 bits", 1, 1),
            ("[1e400]", "a number doesn't fit into 64 bits", 1, 2), ("\"a", "a quotation mark is missing", 1, 1),
            ("\"\\x\"", "an escape is malformed", 1, 2), ("\"\\u12\"", "an escape is malformed", 1, 2),
            ("\"\\ud800\"", "an escape is malformed", 1, 2), ("\"\\", "an escape is malformed", 1, 2),
            ("\"\n\"", "a string has a control character, which has to be escaped", 1, 2),
            ("truee", "a value is missing", 1, 1), ("nul", "a value is missing", 1, 1),
        ]
    )
    func faults(text: String, reason: String, line: Int, column: Int) {
        #expect(fault(text) == JSONDocument.Fault(reason: reason, line: line, column: column))
    }

    @Test("may not nest more deeply than a store can keep, nor be in another encoding")
    func limits() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        #expect(try value(nested(256)) != nil)
        #expect(fault(nested(257))?.reason == "it nests more than 256 levels")
        #expect(fault(String(repeating: "{\"a\":", count: 100_000))?.reason == "it nests more than 256 levels")
        #expect(throws: JSONDocument.Fault(reason: "a string isn't UTF-8", line: 1, column: 1)) {
            try JSONDocument.value(of: [0x22, 0xFF, 0x22])
        }
        #expect(throws: JSONDocument.Fault.self) { try JSONDocument.value(of: [0xFF, 0xFE, 0x7B, 0]) }
    }

    @Test("is read as Foundation reads it, whatever bytes are in it")
    func agreesWithFoundation() throws {
        var generator = SeededGenerator(state: TestExtent.seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "1", "-2.5", "1e3", "true", "null", " ", "\n",
            "\"\\u00e9\"",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                pieces.randomElement(using: &generator)!
            }
            .joined()
            let mine = fault(text) == nil
            let others = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            // Foundation allows a name twice, and a comma at the end of a container.
            let hasExtraComma = text.contains(/,\s*[\]}]/)
            let isTwice = fault(text)?.reason.contains("twice") == true
            #expect(mine == others || others && (hasExtraComma || isTwice), "\(text)")
        }
    }
}

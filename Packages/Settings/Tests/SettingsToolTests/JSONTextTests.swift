import Testing

import SettingsValues

struct JSONTextTests {
    @Test(
        "JSON is written again as it was read",
        arguments: [
            "null", "true", "[]", "{}", "0", "-0", "-1.50e+10", "12345678901234567890123", "\"\"", "\"é\u{1F600}/\"",
            #""\"\\\n\r\t\b\f\u0000""#, #"{"b":1,"a":[{},[]],"b":2}"#,
        ]
    )
    func sameText(text: String) {
        #expect(JSONText(parsing: text.utf8)?.compact == text)
    }

    @Test("Escapes are understood", arguments: [#""\u00e9""#, #""\u00E9""#, "\"\u{E9}\""])
    func escapes(text: String) {
        #expect(JSONText(parsing: text.utf8)?.compact == "\"\u{E9}\"")
        #expect(JSONText(parsing: #""\ud83d\ude00\/""#.utf8)?.compact == "\"\u{1F600}/\"")
    }

    @Test(
        "What is not JSON is not taken for it",
        arguments: [
            "", " ", "nul", "truth", "[1,]", "[", "[1", "{", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", ".5", "+1",
            "1e", "--1",
            "\"", "\"\\x\"", "\"\\ud800\"", "\"\\u12\"", "\"a\nb\"", "1 2", "NaN", "'a'", "\u{FEFF}1",
            String(repeating: "[", count: 100_000),
        ]
    )
    func notJSON(text: String) {
        #expect(JSONText(parsing: text.utf8) == nil)
    }

    @Test("Bytes that are not UTF-8 are not JSON")
    func notUTF8() {
        #expect(JSONText(parsing: [0x22, 0xFF, 0x22]) == nil)
    }
}

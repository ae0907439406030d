import Foundation
import Testing

@testable import Default

@Suite("Numbers in strings")
struct NumberTextTests {
    static let texts = [
        "", "-", "+", ".", "-.", "0", "-0", "007", "12abc", " 12", "\t\n12", "- 5", "+-5", "--1", "5.", ".5", "-.5",
        "+ .5",
        "0.7", "2.675", "1e3", "1E5", "5.e3", "1e", "1ex", "1e-", "1e-3x", "1e5.5", "1.2.3", "0x10", "0x1p3", "inf",
        "nan",
        "infinity", "1e400", "-1e400", "1,5", "1 000", "1_0", "99999999999999999999", "-99999999999999999999",
        "9223372036854775807", "-9223372036854775808", "-9223372036854775809", "\u{A0}7", "\u{3000}8", "\u{200B}8",
        "\u{661}\u{662}", "1\u{301}", "1\0002", "5\n", "\n5", "y", "Yes", " true", "n", "False", "T", "0 5", "00 5",
        "+ 5",
        "- 0 7", "\n\ty", "y\u{301}", "5e-324", "0.30000000000000004", "123456789012345678901234567890",
    ]

    @Test("are those that Foundation finds", arguments: texts)
    func numbers(text: String) {
        #expect(NumberText.integer(in: text) == (text as NSString).integerValue)
        #expect(NumberText.double(in: text).bitPattern == (text as NSString).doubleValue.bitPattern)
        #expect(NumberText.boolean(in: text) == (text as NSString).boolValue)
    }

    @Test("are those that Foundation finds in random text")
    func randomText() {
        var generator = SeededGenerator(state: TestExtent.seed)
        let characters = Array("0123456789 +-.eEyYtTnN\t\nx")
        for _ in 0..<2_000 {
            let text = String(
                (0..<Int.random(in: 0...8, using: &generator)).map { _ in characters.randomElement(using: &generator)! }
            )
            numbers(text: text)
        }
    }

    @Test("are written as Foundation writes them")
    func writtenText() {
        var generator = SeededGenerator(state: TestExtent.seed)
        for _ in 0..<1_000 {
            let real = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator))
            #expect(NumberText.text(of: real) == NSNumber(value: real).stringValue)
        }
    }

    #if !canImport(Darwin)
    @Test("don't trap where Foundation does: at characters outside the Basic Multilingual Plane")
    func emoji() {
        #expect(NumberText.integer(in: "\u{1F642}5") == 0)
        #expect(NumberText.double(in: "\u{1F642}5") == 0)
        #expect(!NumberText.boolean(in: "\u{1F642}5"))
        #expect(NumberText.integer(in: "5\u{1F642}") == 5)
    }
    #endif

    @Test(
        "Paths with a tilde are those that Foundation makes",
        arguments: [
            "~", "~/", "~//", "~/a/", "~//a", "~/a//", "~root", "~root/x", "~root//b/", "~nosuch/x/", "~nosuch",
            "~/a/../b",
        ]
    )
    func tilde(path: String) {
        #expect(NumberText.expandingTilde(in: path) == (path as NSString).expandingTildeInPath)
    }
}

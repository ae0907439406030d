import Default
import Foundation
import Testing

/// Whatever is stored, and whatever names it has, a terminal gets none of it that it may act on.
@Suite(.waits)
struct HostileTextTests {
    /// Strings that do something to a terminal, or to the reader of one.
    static let strings: [String] = {
        let control = [0...0x1F, 0x7F...0x9F].joined().compactMap { (value: UInt32) in Unicode.Scalar(value) }
        let invisible = [
            0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060,
            0x2061,
            0x2066, 0x2067, 0x2068, 0x2069, 0x206A, 0x206F, 0xFEFF, 0xFFF9, 0xFFFB, 0x1D173, 0xE0001, 0xE0041, 0xE007F,
        ].compactMap { (value: UInt32) in Unicode.Scalar(value) }
        let sequences = [
            "\u{1B}[31mred\u{1B}[0m", "\u{1B}[2J\u{1B}[H", "\u{1B}]0;title\u{7}", "\u{1B}]52;c;cm0gLXJm\u{7}",
            "\u{1B}[6n",
            "\u{1B}[c", "\u{1B}P$q\"p\u{1B}\\", "\u{1B}_hidden\u{1B}\\", "\u{1B}c", "\u{1B}[?1049h", "\u{1B}[8m",
            "\u{1B}#8",
            "\u{1B}]8;;http://example.com\u{1B}\\link\u{1B}]8;;\u{1B}\\", "\u{9B}31m", "\u{9D}0;title\u{9C}",
            "\u{90}q\u{9C}",
            "line\rover", "line\nanother = 1", "a\u{8}\u{8}b", "\u{202E}txt.exe", "\u{2066}a\u{2069}b\u{202C}",
            "e\u{301}\u{1B}[1m",
            "\u{1F468}\u{200D}\u{1F469}\u{1B}[7m", "\u{E9}\u{9B}4m", "\"\u{1B}[5m\"", "\\u001b[0m\u{1B}[0m",
            "\t\u{B}\u{C}",
        ]
        let scalars = (control + invisible).flatMap { ["a\($0)b", "\($0)"] }
        return scalars + sequences + sequences.map { "\($0) \(String($0.reversed()))" }
    }()

    /// Those that can be an argument of a program, and so a key or a name on the command line.
    static let arguments = strings.filter { !$0.unicodeScalars.contains("\0") }

    /// What a terminal may act on in what it got, apart from the ends of lines; written without the tool's own rule.
    private func raw(in bytes: [UInt8], _ comment: String) -> [String] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return ["\(comment): not UTF-8"] }
        let dangerous: [ClosedRange<UInt32>] = [
            0...0x09, 0x0B...0x0C, 0x0E...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x61C...0x61C, 0x180E...0x180E,
            0x200B...0x200B,
            0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF...0xFEFF, 0xFFF9...0xFFFB, 0x1D173...0x1D17A,
            0xE0000...0xE007F,
        ]
        // The terminal itself puts a return before each line feed.
        let lines = text.replacing("\r\n", with: "\n")
        return lines.unicodeScalars.filter { scalar in
            scalar == "\r" || dangerous.contains { $0.contains(scalar.value) }
        }.map { "\(comment): U+\(String($0.value, radix: 16)) in \(text.debugDescription)" }
    }

    private func show(_ tool: Tool, _ arguments: [String], lines expected: Int? = nil) throws -> [String] {
        let bytes = try tool.bytesOnTerminal(arguments, environment: ["NO_COLOR": "1"])
        let comment = arguments.debugDescription
        var found = raw(in: bytes, comment)
        if bytes.isEmpty { found.append("\(comment): nothing was shown") }
        let lines = bytes.count { $0 == UInt8(ascii: "\n") }
        if let expected, lines != expected { found.append("\(comment): \(lines) lines") }
        return found
    }

    @Test("There are at least two hundred of them, all different")
    func count() {
        #expect(Set(Self.arguments).count >= 200)
    }

    @Test("Values, keys, names and members: all of a suite at once, in every way to show it")
    func wholeSuite() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            let other = try FileDefaults(url: tool.url(ofSuite: "other"))
            try suite.transaction {
                for (index, string) in Self.strings.enumerated() {
                    try suite.set(string, forKey: "string.\(index)")
                    try suite.set([string: [string]], forKey: "dictionary.\(index)")
                    try suite.df.save([string: string], forKey: "JSON.\(index)")
                    try suite.set(Data(string.utf8), forKey: "data.\(index)")
                }
                for (index, string) in Self.arguments.enumerated() { try suite.set(index, forKey: string) }
            }
            for arguments in [
                ["read", "app"], ["read", "app", "--json"], ["find", "a"], ["find", "", "--json"],
                ["diff", "app", "other"],
                ["diff", "other", "app", "--json"], ["export", "app"], ["export", "app", "--format", "xml"],
                ["export", "app", "--format", "binary"],
            ] {
                #expect(try show(tool, arguments) == [])
            }
            #expect(other.storedKeys().isEmpty)
        }
    }

    @Test("A value by itself is one line, as it is stored or as JSON")
    func values() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            for string in Self.arguments {
                try suite.set(string, forKey: string)
                #expect(try show(tool, ["read", "--", "app", string], lines: 1) == [])
            }
        }
    }

    @Test("What is written raw is raw in a pipe only")
    func rawValues() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            let all = Self.strings.joined(separator: " ")
            try suite.set(all, forKey: "all")
            try suite.set(Data([0x1B, 0x5B, 0x33, 0xFF, 0xC2, 0x9B, 0xED, 0xA0, 0x80]), forKey: "bytes")
            #expect(try tool.run("read", "app", "all", "--raw").output == Data(all.utf8))
            #expect(try show(tool, ["read", "app", "all", "--raw"]) == [])
            let bytes = try tool.bytesOnTerminal(["read", "app", "bytes", "--raw"])
            #expect(String(decoding: bytes, as: UTF8.self) == "\\u{1B}[3\\xFF\\u{9B}\\xED\\xA0\\x80")
            // Without it, a pipe gets no more than a terminal.
            #expect(try tool.run("read", "app").text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
        }
    }

    @Test("Errors that quote what is on the command line")
    func errors() throws {
        try Tool.withHome { tool in
            _ = try FileDefaults(url: tool.url(ofSuite: "app"))
            for string in Self.arguments {
                #expect(try show(tool, ["read", "--", "app", string], lines: 1) == [])
                #expect(try show(tool, ["verify", "--", string], lines: 1) == [])
            }
            for string in Self.arguments.prefix(40) + Self.arguments.suffix(60) {
                #expect(try show(tool, ["write", "app", "key", "-int", string]) == [])
                #expect(try show(tool, ["read", "app", "--\(string)"]) == [])
                #expect(try show(tool, ["export", "app", "--format=\(string)"]) == [])
            }
        }
    }

    /// Calls a function with a path that need not be UTF-8.
    private func withPath(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Int32) -> Int32 {
        body(path.map { CChar(bitPattern: $0) } + [0])
    }

    @Test("Names of suites, those that are not UTF-8 included")
    func suiteNames() throws {
        try Tool.withHome { tool in
            var names = Self.arguments.filter { !$0.contains("/") && !$0.isEmpty }.map { Array("\($0)x".utf8) }
            names += [
                [0xFF], [0x61, 0xC2, 0x62], [0xED, 0xA0, 0x80], [0xF5, 0x1B], [0x1B, 0xC0, 0x80], [0x80, 0x9B],
            ]
            for name in names {
                let directory = Array(tool.home.path.utf8) + Array("/".utf8) + name + Array(".defaults".utf8)
                #expect(withPath(directory) { mkdir($0, 0o700) } == 0)
                let file = withPath(directory + Array("/journal".utf8)) { open($0, O_WRONLY | O_CREAT, 0o600) }
                #expect(file >= 0)
                close(file)
            }
            let listed = try tool.run("list")
            #expect(try show(tool, ["list"], lines: names.count) == [])
            #expect(try show(tool, ["list", "--json"]) == [])
            #expect(listed.text.contains("\na\\xC2b\n"))
            // Each of them is empty, and none is damaged.
            #expect(try show(tool, ["verify", "\u{1B}[31mred\u{1B}[0mx"]) == [])
            #expect(try show(tool, ["salvage", "\u{1B}[31mred\u{1B}[0mx"]) == [])
        }
    }
}

import Foundation

// What others have stored may hold anything, and a terminal obeys what is printed: colours, titles, answers typed into
// the shell, text in reverse. So all text is escaped before it is printed, into pipes as well, except by `read --raw`
// and `export`.

extension Unicode.Scalar {
    /// Whether a terminal may act on it, or show the text around it as another one: control characters (C0, DEL and
    /// C1), marks of direction and other invisible ones, and separators of lines.
    package var isUnsafeOnTerminal: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // The two joiners belong to the spelling of languages and to emoji.
        case .format: self != "\u{200C}" && self != "\u{200D}"
        default: false
        }
    }
}

extension String {
    package var isSafeOnTerminal: Bool { !unicodeScalars.contains(where: \.isUnsafeOnTerminal) }

    /// The text with `\u{1B}` and the like instead of what a terminal may act on.
    package var escapedForTerminal: String { escaped { _ in false } }

    /// The same, for text that has lines of its own.
    package var escapedLinesForTerminal: String { escaped { $0 == "\n" } }

    private func escaped(except isKept: (Unicode.Scalar) -> Bool) -> String {
        if isSafeOnTerminal { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isUnsafeOnTerminal, !isKept(scalar) {
                escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Text from bytes that may not be UTF-8, with `\xFF` and the like where they aren't, and escaped for a terminal.
    package init(escaping bytes: some Collection<UInt8>, keepingLines: Bool = false) {
        self = ""
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            if let text = String(validating: rest, as: UTF8.self) {
                self += keepingLines ? text.escapedLinesForTerminal : text.escapedForTerminal
                return
            }
            var decoder = UTF8()
            var iterator = rest.makeIterator()
            var valid = ""
            var used = 0
            while case .scalarValue(let scalar) = decoder.decode(&iterator) {
                valid.unicodeScalars.append(scalar)
                used += UTF8.width(scalar)
            }
            self += keepingLines ? valid.escapedLinesForTerminal : valid.escapedForTerminal
            rest = rest.dropFirst(used)
            if let byte = rest.popFirst() {
                self += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Values from the command line: `-key value`, as in `UserDefaults`'s argument domain.
struct LaunchArguments: Sendable {
    let values: [StoreKey: PropertyListValue]

    /// Parses a command line, which begins with the program's name.
    ///
    /// A key is an argument that begins with one hyphen. Its value is the next argument. Property lists in a textual form
    /// (`(a, b)`, `{ a = 1; }`, XML) become arrays and dictionaries. Everything else is a string, which the typed getters
    /// convert. Arguments with two hyphens and arguments without a key are left to the program.
    init(_ commandLine: [String]) {
        var values: [StoreKey: PropertyListValue] = [:]
        var rest = commandLine.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"), !Self.isNumber(argument),
                let key = try? StoreKey(String(argument.dropFirst())), let value = rest.first, !Self.isKey(value)
            else {
                continue
            }
            rest.removeFirst()
            values[key] = Self.parse(value)
        }
        self.values = values
    }

    private static func isKey(_ argument: String) -> Bool {
        argument.hasPrefix("-") && !isNumber(argument)
    }

    /// Whether an argument that begins with a hyphen is a negative number; "-inf" and "-nan" are keys.
    private static func isNumber(_ argument: String) -> Bool {
        argument.utf8.dropFirst().first.map(".0123456789".utf8.contains) == true && Double(argument) != nil
    }

    private static func parse(_ text: String) -> PropertyListValue {
        if let first = text.first, "({<".contains(first),
            let value = PropertyListFile.value(of: Data(utf8Of: text))
        {
            return value
        }
        return .string(text)
    }
}

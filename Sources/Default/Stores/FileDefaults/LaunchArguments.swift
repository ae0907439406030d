#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Values from the command line: `-key value`, as in `UserDefaults`'s argument domain.
struct LaunchArguments: Sendable {
    let entries: [StoreKey: PropertyListValue]

    /// Parses a command line, which begins with the program's name.
    ///
    /// A key is an argument that begins with one hyphen. Its value is the next argument. Property lists in a textual
    /// form (`(a, b)`, `{ a = 1; }`, XML) become arrays and dictionaries. Everything else is a string, which the typed
    /// getters convert. Arguments with two hyphens and arguments without a key are left to the program.
    init(_ commandLine: [String]) {
        var values: [StoreKey: PropertyListValue] = [:]
        var index = 1
        while index < commandLine.count - 1 {
            let (argument, value) = (commandLine[index], commandLine[index + 1])
            index += 1
            guard Self.isKey(argument), !argument.hasPrefix("--"), !Self.isKey(value),
                let key = try? StoreKey(String(argument.dropFirst()))
            else { continue }
            values[key] = Self.parse(value)
            index += 1
        }
        entries = values
    }

    /// Whether an argument begins with a hyphen and isn't a negative number; "-inf" and "-nan" are keys.
    private static func isKey(_ argument: String) -> Bool {
        guard argument.hasPrefix("-") else { return false }
        let bytes = Array(argument.utf8)
        return bytes.count < 2 || bytes[1] > UInt8(ascii: "9") || Double(argument) == nil
    }

    static func parse(_ text: String) -> PropertyListValue {
        if let first = text.first, "({<".contains(first),
            let value = PropertyListFile.value(of: Data(text.utf8))
        {
            return value
        }
        return .string(text)
    }
}

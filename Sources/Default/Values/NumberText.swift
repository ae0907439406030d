#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The numbers in strings, and the strings of numbers, as `UserDefaults` converts them.
enum NumberText {}

#if canImport(Darwin)
extension NumberText {
    static func text(of real: Double) -> String { NSNumber(value: real).stringValue }
    static func integer(in text: String) -> Int { (text as NSString).integerValue }
    static func double(in text: String) -> Double { (text as NSString).doubleValue }
    static func boolean(in text: String) -> Bool { (text as NSString).boolValue }
    static func expandingTilde(in path: String) -> String { (path as NSString).expandingTildeInPath }
}
#else
// As Foundation does on Linux, except that it traps for characters outside the Basic Multilingual Plane.
extension NumberText {
    static func text(of real: Double) -> String { real.isNaN ? "nan" : "\(real)" }

    /// The whole number that a text begins with, clamped to the range of `Int`; 0 without one.
    static func integer(in text: String) -> Int {
        var rest = text[...].unicodeScalars
        rest.take(while: isSpace)
        let sign = rest.takeSign()
        rest.take(while: isSpace)
        let digits = rest.takeDigits()
        if let number = Int64(digits: sign + digits) { return Int(clamping: number) }
        return digits.isEmpty ? 0 : sign == "-" ? .min : .max
    }

    /// The number that a text begins with; 0 without one.
    static func double(in text: String) -> Double {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { isSpace(scalar) && !isNewline(scalar) }
        var rest = text[...].unicodeScalars
        rest.take(while: isBlank)
        var number = rest.takeSign()
        rest.take(while: isBlank)
        number += rest.takeDigits()
        if rest.first == "." {
            rest.removeFirst()
            number += "." + rest.takeDigits()
        }
        if rest.first == "e" || rest.first == "E" {
            rest.removeFirst()
            number += "e" + rest.takeSign() + rest.takeDigits()
        }
        return Double(number) ?? 0
    }

    /// Whether a text begins like "YES" or "true", or with a digit other than 0.
    static func boolean(in text: String) -> Bool {
        func isSpaces(_ character: Character) -> Bool { character.unicodeScalars.allSatisfy(isSpace) }
        var rest = text[...]
        rest.skip(while: isSpaces)
        if let first = rest.first, "tTyY".contains(first) {
            return true
        }
        if let first = rest.first, "+-".contains(first) {
            rest.removeFirst()
            rest.skip(while: isSpaces)
        }
        rest.skip { $0 == "0" }
        rest.skip(while: isSpaces)
        return rest.first.map("123456789".contains) ?? false
    }

    /// A path that begins with "~" or "~user", with the home directory in their place; the path itself if there is none.
    static func expandingTilde(in path: String) -> String {
        let user = path[..<(path.firstIndex(of: "/") ?? path.endIndex)].dropFirst()
        let home =
            user.isEmpty
            ? FileManager.default.homeDirectoryForCurrentUser : FileManager.default.homeDirectory(forUser: String(user))
        var expanded = (home?.path ?? "~\(user)") + path.dropFirst(1 + user.count)
        if expanded.last == "/", expanded.count > 1 {
            expanded.removeLast()
        }
        return expanded
    }

    /// Also the zero-width space, which Foundation counts among the spaces.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar == "\u{200B}"
    }

    private static func isNewline(_ scalar: Unicode.Scalar) -> Bool { Character(scalar).isNewline }
}

extension Substring.UnicodeScalarView {
    fileprivate mutating func takeSign() -> String {
        first == "-" || first == "+" ? String(removeFirst()) : ""
    }

    fileprivate mutating func takeDigits() -> String {
        take { ("0"..."9").contains($0) }
    }

    /// Removes and returns the scalars at the beginning that fulfil a condition.
    @inline(never)
    @discardableResult
    fileprivate mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        var taken = ""
        while let scalar = first, condition(scalar) {
            taken.unicodeScalars.append(scalar)
            removeFirst()
        }
        return taken
    }
}
#endif

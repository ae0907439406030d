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
        var scanner = NumberScanner(text)
        scanner.skipSpaces()
        let sign = scanner.take("+-")
        scanner.skipSpaces()
        let digits = scanner.takeDigits()
        if let number = Int64(sign + digits) { return Int(clamping: number) }
        return digits.isEmpty ? 0 : sign == "-" ? .min : .max
    }

    /// The number that a text begins with; 0 without one.
    static func double(in text: String) -> Double {
        var scanner = NumberScanner(text)
        scanner.skipSpaces(exceptNewlines: true)
        var number = scanner.take("+-")
        scanner.skipSpaces(exceptNewlines: true)
        number += scanner.takeDigits() + scanner.take(".") + scanner.takeDigits()
        let exponent = scanner.take("eE")
        number += exponent.isEmpty ? "" : exponent + scanner.take("+-") + scanner.takeDigits()
        return Double(number) ?? 0
    }

    /// Whether a text begins like "YES" or "true", or with a digit other than 0.
    static func boolean(in text: String) -> Bool {
        var characters = text.makeIterator()
        var next = characters.next()
        func skipSpaces() {
            while let space = next, space.isWhitespace || space == "\u{200B}" {
                next = characters.next()
            }
        }
        skipSpaces()
        if let next, "tTyY".contains(next) { return true }
        if let sign = next, "+-".contains(sign) {
            next = characters.next()
            skipSpaces()
        }
        while next == "0" {
            next = characters.next()
        }
        skipSpaces()
        return next.map("123456789".contains) ?? false
    }

    /// A path that begins with "~" or "~user", with the home directory in their place; the path itself if there is
    /// none.
    static func expandingTilde(in path: String) -> String {
        let user = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)[0].dropFirst()
        let home =
            user.isEmpty
            ? FileManager.default.homeDirectoryForCurrentUser : FileManager.default.homeDirectory(forUser: String(user))
        let expanded = (home?.path ?? "~\(user)") + path.dropFirst(1 + user.count)
        return expanded.hasSuffix("/") && expanded != "/" ? String(expanded.dropLast()) : expanded
    }
}
#endif

/// Reads a text from its beginning.
struct NumberScanner {
    private let scalars: String.UnicodeScalarView
    private var position: String.Index

    init(_ text: String) {
        scalars = text.unicodeScalars
        position = scalars.startIndex
    }

    private var next: Unicode.Scalar? { position < scalars.endIndex ? scalars[position] : nil }

    /// Skips spaces; also the zero-width space, which Foundation counts among them.
    mutating func skipSpaces(exceptNewlines: Bool = false) {
        while let next, next.properties.isWhitespace || next == "\u{200B}",
            !(exceptNewlines && Character(next).isNewline)
        {
            position = scalars.index(after: position)
        }
    }

    /// Skips the next scalar if it is one of some, and returns it; an empty string otherwise.
    @discardableResult
    mutating func take(_ choices: String) -> String {
        guard let next, choices.contains(Character(next)) else { return "" }
        position = scalars.index(after: position)
        return String(next)
    }

    mutating func takeDigits() -> String {
        var digits = ""
        while case let digit = take("0123456789"), !digit.isEmpty {
            digits += digit
        }
        return digits
    }
}

// Puts the mutants of .ci/mutations into a copy of the package: `mutate COPY LIST…`, with the names of the package's
// files, one to a line, as input. Each mutant becomes a choice at run time, between it and what was there; the
// environment variable DEFAULT_MUTANT has the number of the one that is active. Prints, separated by tabs, the mutants:
// number, name, file and line, filter of the tests, what it does, and why it survives, if the list says so.
// `.ci/mutants` compiles and runs this file.

import Foundation

struct Mutant {
    var number = 0
    var area = ""
    var numberInArea = 0
    /// Where it is written: list and line.
    var place = ""
    var file = ""
    var tests = ""
    var explanation = ""
    var original = ""
    var replacement = ""
    /// Whether it replaces whole lines, not an expression.
    var isBlock = false
    /// The text that has to be in the file exactly once, and where in it the original begins.
    var context = ""
    var offset = 0
    /// Where the original is in the file, in bytes.
    var range = 0..<0
    /// The same, if the list says it; nil to look for the context.
    var position: Int?

    var summary: String {
        let replaced = replacement.isEmpty ? "nothing" : replacement
        let text = "\(original) ==> \(replaced)"
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

func fail(_ place: String, _ message: String) -> Never {
    FileHandle.standardError.write(Data("\(place): \(message)\n".utf8))
    exit(1)
}

// MARK: The lists

func trimmed(_ text: some StringProtocol) -> String { text.trimmingCharacters(in: .whitespaces) }

/// Lines without what indents them.
func unindented(_ lines: [String]) -> String {
    lines.map { String($0.drop(while: \.isWhitespace)) }.joined(separator: "\n")
}

func readList(_ path: String) -> [Mutant] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { fail(path, "The list can't be read.") }
    var mutants: [Mutant] = []
    var common = Mutant()
    common.area = URL(filePath: path).deletingPathExtension().lastPathComponent
    var current = common
    var lines: [String] = []

    func finish() {
        defer {
            lines = []
            current = common
        }
        guard !lines.isEmpty else {
            if !current.explanation.isEmpty { fail(current.place, "The explanation is of no mutant.") }
            return
        }
        if current.file.isEmpty || current.tests.isEmpty { fail(current.place, "Say `file:` and `tests:` before.") }
        current.numberInArea = mutants.count + 1
        if lines.allSatisfy({ $0.hasPrefix("-") || $0.hasPrefix("+") }) {
            current.isBlock = true
            current.original = unindented(lines.filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) })
            current.replacement = unindented(lines.filter { $0.hasPrefix("+") }.map { String($0.dropFirst()) })
            current.context = current.original
        } else {
            let text = unindented(lines)
            guard let start = text.range(of: "{{"), let end = text.range(of: "}}", options: .backwards),
                let arrow = text.range(of: " ==> ", range: start.upperBound..<end.lowerBound)
            else {
                fail(current.place, "Write `{{original ==> mutant}}`, or lines that begin with - and +.")
            }
            current.original = String(text[start.upperBound..<arrow.lowerBound])
            current.replacement = String(text[arrow.upperBound..<end.lowerBound])
            current.context = text[..<start.lowerBound] + current.original + text[end.upperBound...]
            current.offset = text[..<start.lowerBound].utf8.count
        }
        if current.original.isEmpty { fail(current.place, "The mutant replaces nothing.") }
        mutants.append(current)
    }

    for (index, line) in text.components(separatedBy: "\n").enumerated() {
        func value(_ name: String) -> String? {
            line.hasPrefix(name + ":") ? trimmed(line.dropFirst(name.count + 1)) : nil
        }
        if trimmed(line).isEmpty {
            finish()
        } else if line == "#" || line.hasPrefix("# ") {
            continue
        } else {
            if lines.isEmpty, current.explanation.isEmpty { current.place = "\(path):\(index + 1)" }
            if let file = value("file") {
                common.file = file
                current.file = file
            } else if let tests = value("tests") {
                common.tests = tests
                current.tests = tests
            } else if let position = value("at") {
                current.position = Int(position)
            } else if let explanation = value("survives") {
                current.explanation = explanation
            } else {
                lines.append(line)
            }
        }
    }
    finish()
    return mutants
}

// MARK: The copy

/// A file without indentation, and where its bytes are in the file.
struct Source {
    let bytes: [UInt8]
    private var stripped: [UInt8] = []
    private var positions: [Int] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var isIndentation = true
        for (position, byte) in bytes.enumerated() {
            isIndentation = isIndentation && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t"))
            if !isIndentation {
                stripped.append(byte)
                positions.append(position)
            }
            if byte == UInt8(ascii: "\n") { isIndentation = true }
        }
    }

    /// Where the original of a mutant is; an entry for each place where its text is.
    func ranges(of mutant: Mutant) -> [Range<Int>] {
        if let position = mutant.position {
            return [position..<(position + mutant.original.utf8.count)]
        }
        let text = Array(mutant.context.utf8)
        let newline = UInt8(ascii: "\n")
        var found: [Range<Int>] = []
        var start = 0
        while let place = stripped[start...].firstRange(of: text) {
            start = place.lowerBound + 1
            if mutant.isBlock, place.lowerBound > 0, stripped[place.lowerBound - 1] != newline { continue }
            if mutant.isBlock, place.upperBound < stripped.count, stripped[place.upperBound] != newline { continue }
            let first = place.lowerBound + mutant.offset
            found.append(positions[first]..<(positions[first + mutant.original.utf8.count - 1] + 1))
        }
        return found
    }

    func line(of position: Int) -> Int { bytes[..<position].count { $0 == UInt8(ascii: "\n") } + 1 }

    /// A part of the file with its mutants in it, which are sorted, those around others first.
    func mutated(_ part: Range<Int>, _ mutants: ArraySlice<Mutant>) -> String {
        var text = ""
        var position = part.lowerBound
        var rest = mutants
        while let mutant = rest.popFirst() {
            let inner = rest.prefix { $0.range.lowerBound < mutant.range.upperBound }
            for other in inner where other.range.upperBound > mutant.range.upperBound {
                fail(other.place, "The mutant overlaps that of \(mutant.place).")
            }
            rest = rest.dropFirst(inner.count)
            text += String(decoding: bytes[position..<mutant.range.lowerBound], as: UTF8.self)
            let original = mutated(mutant.range, inner)
            text +=
                mutant.isBlock
                ? mutant.position == nil
                    ? "if isMutant(\(mutant.number)) {\n\(mutant.replacement)\n} else {\n\(original)\n}"
                    // Generated ones leave each line where it is, so that the compiler's errors name the mutant.
                    : "if isMutant(\(mutant.number)) {} else { \(original) }"
                : "(isMutant(\(mutant.number)) ? (\(mutant.replacement)) : (\(original)))"
            position = mutant.range.upperBound
        }
        return text + String(decoding: bytes[position..<part.upperBound], as: UTF8.self)
    }
}

/// What each mutated module gets: the number is read once in a process.
let choice = """
    #if canImport(Darwin)
    internal import Darwin
    #elseif canImport(Glibc)
    internal import Glibc
    #elseif canImport(Musl)
    internal import Musl
    #endif

    private let activeMutant = getenv("DEFAULT_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

    @usableFromInline func isMutant(_ number: Int) -> Bool { number == activeMutant }

    """

/// Writes a file of the copy, but not one that is the same already: that would be compiled again.
func write(_ data: Data, to file: URL) throws {
    if data == (try? Data(contentsOf: file)) { return }
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
}

guard CommandLine.arguments.count > 2 else { fail("mutate", "mutate COPY LIST…") }
let copy = URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory)
var mutants = CommandLine.arguments.dropFirst(2).flatMap(readList)
var byFile: [String: [Mutant]] = [:]
for index in mutants.indices {
    mutants[index].number = index + 1
    byFile[mutants[index].file, default: []].append(mutants[index])
}

var files: [String: Data] = [:]
while let path = readLine() {
    // A file that git knows may be gone.
    files[path] = try? Data(contentsOf: URL(filePath: path))
}
for (path, list) in byFile {
    guard let data = files[path] else { fail(list[0].place, "There is no file \(path).") }
    let source = Source(Array(data))
    var placed = list
    for index in placed.indices {
        let ranges = source.ranges(of: placed[index])
        if ranges.count != 1 {
            fail(placed[index].place, "The text is \(ranges.count) times in \(path), not once.")
        }
        placed[index].range = ranges[0]
        mutants[placed[index].number - 1].range = ranges[0]
        mutants[placed[index].number - 1].file += ":\(source.line(of: ranges[0].lowerBound))"
    }
    placed.sort {
        ($0.range.lowerBound, -$0.range.upperBound, $0.number) < ($1.range.lowerBound, -$1.range.upperBound, $1.number)
    }
    files[path] = Data(source.mutated(0..<data.count, placed[...]).utf8)
    let module = path.split(separator: "/").prefix(2).joined(separator: "/")
    files["\(module)/Mutants.swift"] = Data(choice.utf8)
}

for path in (try? FileManager.default.subpathsOfDirectory(atPath: copy.path)) ?? [] where files[path] == nil {
    let file = copy.appending(path: path)
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory), !isDirectory.boolValue {
        try FileManager.default.removeItem(at: file)
    }
}
for (path, data) in files { try write(data, to: copy.appending(path: path)) }
for mutant in mutants {
    let name = "\(mutant.area):\(mutant.numberInArea)"
    let columns = ["\(mutant.number)", name, mutant.file, mutant.tests, mutant.summary, mutant.explanation]
    print(columns.joined(separator: "\t"))
}

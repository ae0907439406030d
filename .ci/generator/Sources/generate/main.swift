import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

// Plants mutants in a copy of the package, chosen by chance from all that it can make of some files:
// `generate COPY COUNT SEED EXCLUDED FILE…`. Each becomes a choice at run time, between it and what was there; the
// environment variable DEFAULT_MUTANT has the number of the one that is active. EXCLUDED is a file of places, such as
// `Sources/Default/Keys/Defaults.swift:12`, whose mutants don't compile. Prints, separated by tabs, the mutants:
// number, file and line, filter of the tests, and what is changed. `.ci/mutants` compiles and runs this program.
//
// The same seed gives the same mutants as long as the sources are the same. A line of a mutant stays where it was, so
// that the compiler's errors name it.

/// A change of a part of one line.
struct Mutant {
    let file: String
    let line: Int
    let offset: Int
    let original: String
    /// Nil for a statement that is removed.
    let replacement: String?

    var range: Range<Int> { offset..<(offset + original.utf8.count) }

    var place: String { "\(file):\(line)" }

    /// The choice between the mutant and what is there.
    func choice(_ number: Int) -> String {
        guard let replacement else { return "if isMutant(\(number)) {} else { \(original) }" }
        return "(isMutant(\(number)) ? (\(replacement)) : (\(original)))"
    }

    /// The suites in the folder of tests that is named after the source's folder; all tests where there is none.
    var filter: String {
        if file.hasPrefix("Sources/DefaultJournal/") { return "DefaultJournalTests" }
        let folder = URL(filePath: file).deletingLastPathComponent().lastPathComponent
        let files = try? FileManager.default.contentsOfDirectory(atPath: "Tests/DefaultTests/\(folder)")
        let suites = (files ?? []).filter { $0.hasSuffix("Tests.swift") }.map { $0.dropLast(".swift".count) }
        return suites.isEmpty ? "." : "DefaultTests.(\(suites.sorted().joined(separator: "|")))/"
    }
}

/// Finds what can be changed in a file.
final class Finder: SyntaxVisitor {
    private let file: String
    private let locations: SourceLocationConverter
    private(set) var mutants: [Mutant] = []

    private static let operators = [
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
        "+": "-", "-": "+", "*": "+", "/": "*", "&+": "&-", "&-": "&+", "..<": "...", "<<": ">>", ">>": "<<",
    ]
    /// For what is about the time: the other side of a bound.
    private static let opposites = [
        "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    ]
    /// Calls that no test can notice, with their arguments: they check the program itself, or only save time or memory.
    private static let unnoticed: Set = [
        "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "withExtendedLifetime",
        "reserveCapacity", "reserve", "trim", "allocate", "sleep", "yield", "combine", "random",
    ]
    /// Arguments that only save memory.
    private static let unnoticedArguments: Set = ["keepingCapacity", "capacity", "minimumCapacity"]
    /// Parts of names of what only saves time or memory, such as sizes of buffers, or is for debuggers.
    private static let unnoticedNames = ["capacity", "piecesize", "debugdescription", "custommirror"]
    /// What a comparison has that is about the time: no test can choose the nanosecond in which it is made.
    private static let times: Set = ["now", "Clock", "deadline", "due", "monotonic", "monotonicTick", "comparedAt"]

    init(file: String, tree: SourceFileSyntax) {
        self.file = file
        locations = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
    }

    private func add(_ node: some SyntaxProtocol, _ replacement: String?) {
        let original = node.trimmedDescription
        // One line stays one line.
        guard !original.contains("\n") else { return }
        let start = node.positionAfterSkippingLeadingTrivia
        let line = locations.location(for: start).line
        mutants.append(
            Mutant(file: file, line: line, offset: start.utf8Offset, original: original, replacement: replacement)
        )
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if let symbol = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
            let other = Self.isAboutTime(node) ? Self.opposites[symbol] : Self.operators[symbol]
        {
            // Of what may be added, only numbers can be subtracted; a sum of three is one of a sum.
            var sides = [node.leftOperand, node.rightOperand]
            while let sum = sides[0].as(InfixOperatorExprSyntax.self) {
                sides[0...0] = [sum.leftOperand, sum.rightOperand]
            }
            let isText = sides.contains { $0.is(StringLiteralExprSyntax.self) || $0.is(ArrayExprSyntax.self) }
            if symbol != "+" || !isText {
                add(node, "\(node.leftOperand.trimmed) \(other) \(node.rightOperand.trimmed)")
            }
        }
        return .visitChildren
    }

    private static func isAboutTime(_ node: InfixOperatorExprSyntax) -> Bool {
        node.tokens(viewMode: .sourceAccurate).contains { times.contains($0.text) }
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // Larger ones are nanoseconds, or bounds that tests can't reach.
        if let number = Int(node.literal.text.filter { $0 != "_" }), number < 1_000_000 {
            add(node, "\(number + 1)")
        }
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // A loop without an end is known as such to the compiler.
        if node.parent?.parent?.parent?.is(WhileStmtSyntax.self) == true { return .skipChildren }
        add(node, node.literal.tokenKind == .keyword(.true) ? "false" : "true")
        return .skipChildren
    }

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        if case .expression(let condition) = node.condition, !condition.is(InfixOperatorExprSyntax.self) {
            add(condition, "!(\(condition.trimmed))")
        }
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard case .expr(let statement) = node.item else { return .visitChildren }
        // The only statement of a body may be its value.
        let isAlone = node.parent?.as(CodeBlockItemListSyntax.self)?.count == 1
        if let call = Self.call(in: statement), !Self.unnoticed.contains(Self.name(of: call)), !isAlone {
            add(statement, nil)
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        Self.unnoticed.contains(Self.name(of: node)) ? .skipChildren : .visitChildren
    }

    override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
        Self.unnoticedArguments.contains(node.label?.text ?? "") ? .skipChildren : .visitChildren
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        let name = node.pattern.trimmedDescription.lowercased()
        return Self.unnoticedNames.contains { name.contains($0) } ? .skipChildren : .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        // Of hashes, only the distribution changes.
        node.name.text == "hash" ? .skipChildren : .visitChildren
    }

    private static func call(in statement: ExprSyntax) -> FunctionCallExprSyntax? {
        if let attempt = statement.as(TryExprSyntax.self) { return call(in: attempt.expression) }
        return statement.as(FunctionCallExprSyntax.self)
    }

    private static func name(of call: FunctionCallExprSyntax) -> String {
        call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            ?? call.calledExpression.trimmedDescription
    }

    // Not compiled on this system, or not at run time.

    override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
        guard let condition = node.condition?.trimmedDescription else {
            let clauses = node.parent?.as(IfConfigClauseListSyntax.self)
            let others = clauses?.compactMap { $0.condition?.trimmedDescription } ?? []
            return others.contains { Self.here.contains($0) } ? .skipChildren : .visitChildren
        }
        if condition.hasPrefix("!") { return condition.contains("Glibc") ? .skipChildren : .visitChildren }
        let isElsewhere = ["Darwin", "Musl", "DEBUG", "ObjectiveC", "os("].contains { condition.contains($0) }
        let isHere = ["Linux", "Glibc"].contains { condition.contains($0) }
        return isElsewhere && !isHere ? .skipChildren : .visitChildren
    }

    /// Conditions that hold here, so that no `#else` after them is compiled.
    private static let here = [
        "os(Linux)", "canImport(Glibc)", "canImport(FoundationEssentials)", "Foundation", "DEBUG",
    ]

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AvailabilityConditionSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericArgumentListSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// The generator SplitMix64 of Sebastiano Vigna, since the standard library's can't be seeded.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// What each mutated module gets: the number is read once in a process.
let choice = """
    #if canImport(Glibc)
    internal import Glibc
    #else
    internal import Darwin
    #endif

    private let activeMutant = getenv("DEFAULT_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

    @usableFromInline func isMutant(_ number: Int) -> Bool { number == activeMutant }

    """

/// Writes a file of the copy, but not one that is the same already: that would be compiled again.
func write(_ data: Data, to path: String) throws {
    let file = URL(filePath: CommandLine.arguments[1]).appending(path: path)
    if data != (try? Data(contentsOf: file)) { try data.write(to: file) }
}

let arguments = CommandLine.arguments
guard arguments.count > 5, let count = Int(arguments[2]), let seed = UInt64(arguments[3]) else {
    fatalError("generate COPY COUNT SEED EXCLUDED FILE…")
}
let excluded = Set(try String(contentsOfFile: arguments[4], encoding: .utf8).split(separator: "\n").map(String.init))
let files = arguments[5...].sorted()
var mutants: [Mutant] = []
for path in files {
    let tree = Parser.parse(source: try String(contentsOfFile: path, encoding: .utf8))
    let finder = Finder(file: path, tree: tree)
    finder.walk(try OperatorTable.standardOperators.foldAll(tree))
    mutants += finder.mutants
}
var generator = SeededGenerator(state: seed)
var chosen: [Mutant] = []
for mutant in mutants.shuffled(using: &generator) where chosen.count < count && !excluded.contains(mutant.place) {
    // None inside of another one.
    if !chosen.contains(where: { $0.file == mutant.file && $0.range.overlaps(mutant.range) }) { chosen.append(mutant) }
}
for file in files {
    var bytes = Data(try Data(contentsOf: URL(filePath: file)))
    for (index, mutant) in chosen.enumerated().sorted(by: { $0.element.offset > $1.element.offset })
    where mutant.file == file {
        bytes.replaceSubrange(mutant.range, with: Data(mutant.choice(index + 1).utf8))
    }
    try write(bytes, to: file)
}
for module in Set(files.map { $0.split(separator: "/")[1] }) {
    try write(Data(choice.utf8), to: "Sources/\(module)/Mutants.swift")
}
for (index, mutant) in chosen.enumerated() {
    print("\(index + 1)\t\(mutant.place)\t\(mutant.filter)\t\(mutant.original) ==> \(mutant.replacement ?? "nothing")")
}

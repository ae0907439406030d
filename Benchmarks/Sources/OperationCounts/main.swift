import COperationCounts
import Foundation

// Counts the parts of an operation that don't depend on the machine: allocations, system calls, written bytes. Fails
// when a count exceeds its threshold:
//
//     swift run -c release --package-path Benchmarks OperationCounts [--update] THRESHOLDS
//
// The counts are those of the calling thread, without the library's work in the background. They come from a release
// build, through a tracer and this program's own `malloc`, since the benchmark package counts no system calls on Linux,
// and no allocations without hooks in everything that it measures.

let traced = "--traced"
/// The file in which a traced process leaves its counts.
let counted = "counts.json"

var arguments = CommandLine.arguments
let updates = arguments.contains("--update")
arguments.removeAll { $0 == "--update" }
guard operation_counts_available() == 1 else {
    print("Allocations and system calls can be counted on Linux with glibc only.")
    exit(2)
}
if arguments.count == 4, arguments[1] == traced {
    let directory = URL(filePath: arguments[2])
    let operations = CountedOperation.all.map(\.operation) + [.encode, .decode]
    let counts = try operations.first { $0.name == arguments[3] }?.count(in: directory)
    try JSONEncoder().encode(counts).write(to: directory.appending(path: counted))
    exit(0)
}
guard arguments.count == 2 else {
    print("usage: OperationCounts [--update] THRESHOLDS")
    exit(2)
}

/// Counts an operation in its own process, so that none begins with the memory that another one left.
func measure(_ operation: CountedOperation) throws -> Counts {
    let directory = FileManager.default.temporaryDirectory.appending(path: "operation-counts-\(getpid())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path(percentEncoded: false)
    for name in ["HOME", "XDG_CONFIG_HOME"] { setenv(name, path, 1) }
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var strings: [UnsafeMutablePointer<CChar>?] = [program, traced, path, operation.name].map { (text: String) in
        strdup(text)
    }
    strings.append(nil)
    let status = operation_counts_run(strings)
    guard status == 0 else {
        print(
            "\(operation.name): the traced program ended with \(status); -1 and 127 mean that it could not be traced."
        )
        exit(2)
    }
    return try JSONDecoder().decode(Counts.self, from: Data(contentsOf: directory.appending(path: counted)))
}

let floors = [
    CountedOperation.encode.name: try measure(.encode),
    CountedOperation.decode.name: try measure(.decode),
]
var measured: [String: Counts] = [:]
for (operation, floor) in CountedOperation.all {
    var counts = try measure(operation)
    counts.allocations -= floor.flatMap { floors[$0.name]?.allocations } ?? 0
    measured[operation.name] = counts
}

let file = URL(filePath: arguments[1])
if updates {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(measured) + Data("\n".utf8)).write(to: file, options: .atomic)
}
let thresholds = try JSONDecoder().decode([String: Counts].self, from: Data(contentsOf: file))
exit(Comparison(measured: measured, thresholds: thresholds).report() ? 0 : 1)

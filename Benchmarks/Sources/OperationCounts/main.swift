import COperationCounts
import Foundation

// Counts what operations cost that doesn't depend on the machine: allocations, system calls, bytes written. Fails when one
// costs more than the thresholds say:
//
//     swift run -c release --package-path Benchmarks OperationCounts [--update] THRESHOLDS
//
// The counts are those of the thread that calls; what the library does in the background is not among them. They are taken
// from a release build of the library through a tracer and a `malloc` of this program's own, since the benchmark package has
// no system calls on Linux, and no allocations without hooks in every benchmark.

let traced = "--traced"
/// The file that the traced process leaves its counts in.
let counted = "counts.json"
var arguments = CommandLine.arguments
let updates = arguments.contains("--update")
arguments.removeAll { $0 == "--update" }
guard arguments.count == 2 || arguments.count == 3 && arguments[1] == traced else {
    print("usage: OperationCounts [--update] THRESHOLDS")
    exit(2)
}
guard operation_counts_available() == 1 else {
    print("Allocations and system calls can be counted on Linux with glibc only.")
    exit(2)
}

if arguments[1] == traced {
    let operations = try CountedOperations(directory: URL(filePath: arguments[2]))
    let counts = try JSONEncoder().encode(operations.measure())
    try counts.write(to: URL(filePath: arguments[2]).appending(path: counted))
    exit(0)
}

/// Runs this program again, traced.
func measure(in directory: URL) throws -> [String: Counts] {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var strings: [UnsafeMutablePointer<CChar>?] = [
        program, traced, directory.path(percentEncoded: false),
    ].map { (text: String) in strdup(text) }
    strings.append(nil)
    let status = operation_counts_run(strings)
    guard status == 0 else {
        print("The traced program ended with \(status); -1 and 127 mean that it could not be traced.")
        exit(2)
    }
    return try JSONDecoder().decode([String: Counts].self, from: Data(contentsOf: directory.appending(path: counted)))
}

let directory = FileManager.default.temporaryDirectory.appending(path: "operation-counts-\(getpid())")
try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
let measured = try measure(in: directory)
try? FileManager.default.removeItem(at: directory)

let file = URL(filePath: arguments[1])
if updates {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(measured) + Data("\n".utf8)).write(to: file, options: .atomic)
}
let thresholds = try JSONDecoder().decode([String: Counts].self, from: Data(contentsOf: file))
exit(Comparison(measured: measured, thresholds: thresholds).report() ? 0 : 1)

import Foundation

// Makes the tables and the chart from the exports of the benchmarks: BenchmarkReport RESULTS EXPORT…
// RESULTS is the folder for results.md and chart.svg; "-" only prints the targets.
// BenchmarkReport --redraw RESULTS draws the chart again, from the times in the existing results.md.

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--redraw", arguments.count == 2, let folder = arguments.last {
    let url = URL(filePath: folder, directoryHint: .isDirectory)
    let written = Written(markdown: try String(contentsOf: url.appending(path: "results.md"), encoding: .utf8))
    let chart = Chart(results: written.results, environment: written.environment)
    try Data(chart.svg.utf8).write(to: url.appending(path: "chart.svg"), options: .atomic)
    exit(0)
}
guard arguments.count >= 2, let folder = arguments.first else {
    print("usage: BenchmarkReport RESULTS EXPORT... or BenchmarkReport --redraw RESULTS")
    exit(2)
}
let results = try Results(exports: arguments.dropFirst().map { try Data(contentsOf: URL(filePath: $0)) })
guard !results.rounds.isEmpty else {
    print("There are no benchmarks in the export.")
    exit(1)
}
let environment = Environment()
let tables = Tables(results: results, environment: environment)
print(tables.targets)

/// Targets without a figure: a benchmark that failed leaves no trace in an export.
let missing = Target.all.filter { $0.measured(in: results) == nil }
if folder != "-" {
    let url = URL(filePath: folder, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(tables.markdown.utf8).write(to: url.appending(path: "results.md"), options: .atomic)
    let chart = Chart(results: results, environment: environment)
    try Data(chart.svg.utf8).write(to: url.appending(path: "chart.svg"), options: .atomic)
}
exit(missing.isEmpty ? 0 : 1)

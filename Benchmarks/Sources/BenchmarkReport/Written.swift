import BenchmarkSupport

/// The tables of an earlier `results.md`, for a chart that is drawn again without measuring again.
struct Written {
    let results: Results
    let environment: Environment

    /// Reads the table of times and the facts above it.
    ///
    /// - Parameter markdown: A document that `Tables.markdown` made.
    init(markdown: String) {
        var times: [Cell: Double] = [:]
        var facts: [(name: String, value: String)] = []
        var columns: [Contender?] = []
        for line in markdown.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { Format.trimmed($0) }
            guard let first = cells.first else { continue }
            if first == "operation" {
                columns = cells.map { title in Contender.allCases.first { $0.title == title } }
            } else if let operation = MeasuredOperation.allCases.first(where: { $0.title == first }), !operation.isFloor
            {
                for (contender, text) in zip(columns, cells) {
                    if let contender, let time = Format.nanoseconds(text) { times[Cell(operation, contender)] = time }
                }
            } else if cells.count == 2, Environment.names.contains(first) {
                facts.append((first, cells[1]))
            }
        }
        results = Results(times: times)
        environment = Environment(facts: facts)
    }
}

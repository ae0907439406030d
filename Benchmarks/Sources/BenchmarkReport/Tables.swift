import BenchmarkSupport
import Foundation

/// The tables, as Markdown, which is readable in a terminal too.
struct Tables {
    let results: Results
    let environment: Environment

    private var rounds: Int { results.rounds.count }

    /// A table of the targets, each beside its measured figure.
    var targets: String {
        let header = [
            "operation on the standard store on Linux", "target", "measured", "", "medians of the rounds",
        ]
        let rows = Target.all.map { target in
            guard let measured = target.measured(in: results), let medians = target.medians(in: results) else {
                return [target.title, target.boundText, "not measured", "", ""]
            }
            return [
                target.title, target.boundText, target.text(measured),
                target.isMet(by: measured) ? "met" : "missed",
                Format.spread(medians, target.text),
            ]
        }
        return Self.table(header, rows)
    }

    /// The number of targets that are met.
    private var met: String {
        let met = Target.all.count { target in
            guard let measured = target.measured(in: results) else { return false }
            return target.isMet(by: measured)
        }
        return "\(met) of \(Target.all.count) targets are met."
    }

    /// Each operation's time in every store that has it.
    var times: String {
        let contenders = Contender.allCases.filter { $0 != .floor }
        let rows = MeasuredOperation.allCases.filter { !$0.isFloor }.compactMap { operation -> [String]? in
            let cells = contenders.map { contender in
                results.time(Cell(operation, contender)).map { Format.time($0.median) } ?? ""
            }
            guard cells.contains(where: { !$0.isEmpty }) else { return nil }
            return [operation.title] + cells + [floor(of: operation)]
        }
        return Self.table(["operation"] + contenders.map(\.title) + ["floor"], rows)
    }

    private func floor(of operation: MeasuredOperation) -> String {
        let cell = operation.floor.map(Cell.init(floor:)) ?? Cell(operation, .floor)
        return (results.time(Cell(operation, .floor)) ?? results.time(cell)).map { Format.time($0.median) } ?? ""
    }

    var floors: String {
        let rows = MeasuredOperation.allCases.filter(\.isFloor).compactMap { operation in
            results.time(Cell(floor: operation)).map {
                [operation.title, Format.time($0.median), Format.spread($0, Format.time)]
            }
        }
        return Self.table(["floor", "time", "range over the rounds"], rows)
    }

    /// The whole document.
    var markdown: String {
        """
        # Measured

        Written by `Benchmarks/run`. Ratios carry over between machines, times do not. The times below are medians of \
        \(rounds) rounds, which take turns.

        \(Self.table(["", ""], environment.facts.map { [$0.name, $0.value] }))

        ## Targets

        \(met) Each is judged by the least times of all rounds, to which what else the machine does only adds, and those \
        with another process by the median of the rounds. Beside it are the least and the greatest of the rounds' medians, \
        of benchmarks that ran side by side. "1/60" is a sixtieth.

        \(targets)

        ## Times of one operation

        ![Times of one operation, by who does it](chart.svg)

        \(times)

        `UserDefaults` is \(Environment.foundation), with a `JSONEncoder` or `JSONDecoder` made for each use, as people write it \
        by hand; on Linux only `synchronize` brings anything to the disk. SQLite is GRDB's `DatabasePool` with write-ahead logging, \
        `synchronous = NORMAL` and prepared statements. LMDB does not sync (`MDB_NOSYNC`). The property list is read and, with a temporary file that is synced and \
        renamed, written as a whole each time. Sets change what is stored. The floor is what nothing that does the \
        operation can do without; the next table names them.

        \(floors)

        """
    }

    static func table(_ header: [String], _ rows: [[String]]) -> String {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return "| \(padded.joined(separator: " | ")) |"
        }
        let rule = "| \(widths.map { String(repeating: "-", count: max(3, $0)) }.joined(separator: " | ")) |"
        return ([line(header), rule] + rows.map(line)).joined(separator: "\n")
    }
}

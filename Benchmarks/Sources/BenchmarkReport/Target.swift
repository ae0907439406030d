import BenchmarkSupport

/// A figure that the library is to reach, measured in this run.
struct Target {
    enum Figure {
        /// Time over time.
        case ratio(Cell, Cell)
        /// The time itself, in nanoseconds, for the few targets that are not ratios.
        case time(Cell)
    }

    enum Bound {
        case atMost(Double)
        case atLeast(Double)
    }

    let title: String
    let figure: Figure
    let bound: Bound
    /// Whether another process takes part: then the least time is one in which that process did not run.
    let hasPeer: Bool

    static let all: [Target] = [
        Target(
            "settings type read, unchanged, over by hand with `UserDefaults`",
            .ratio(Cell(.settingsRead, .library), Cell(.settingsRead, .userDefaults)),
            .atMost(1 / 60)
        ),
        Target(
            "settings type read, unchanged, over a look-up",
            .ratio(Cell(.settingsRead, .library), Cell(floor: .lookUp)),
            .atMost(5)
        ),
        Target(
            "settings type write, changed, over by hand with `UserDefaults` and `synchronize`",
            .ratio(Cell(.settingsWrite, .library), Cell(.settingsWrite, .synchronized)),
            .atMost(1 / 80)
        ),
        Target(
            "settings type write, changed, over encode + flock + `pwrite`",
            .ratio(Cell(.settingsWrite, .library), Cell(floor: .encodeAndLockedWrite)),
            .atMost(1.15)
        ),
        Target("typed key get over a look-up", .ratio(Cell(.keyGet, .library), Cell(floor: .lookUp)), .atMost(3)),
        Target(
            "typed key `+= 1` over flock + `pwrite`",
            .ratio(Cell(.keyIncrement, .library), Cell(floor: .lockedWrite)),
            .atMost(1.4)
        ),
        Target(
            "set of 112 bytes over flock + `pwrite`",
            .ratio(Cell(.dataSet, .library), Cell(floor: .lockedWrite)),
            .atMost(1.3)
        ),
        Target(
            "set of 112 bytes among 10,000 keys over flock + `pwrite`",
            .ratio(Cell(.growth10000, .library), Cell(floor: .lockedWrite)),
            .atMost(1.4)
        ),
        Target("set of the same 112 bytes again", .time(Cell(.dataSetSame, .library)), .atMost(200)),
        Target(
            "one set each 5 ms over flock + `pwrite` each 5 ms",
            .ratio(Cell(.dataSetPaced, .library), Cell(floor: .lockedWritePaced)),
            .atMost(1.6)
        ),
        Target(
            "set while another process sets over LMDB's",
            .ratio(Cell(.dataSetProcesses2, .library), Cell(.dataSetProcesses2, .lmdb)),
            .atMost(0.8),
            hasPeer: true
        ),
        Target(
            "SQLite's set of 112 bytes over the library's",
            .ratio(Cell(.dataSet, .sqlite), Cell(.dataSet, .library)),
            .atLeast(5.5)
        ),
        Target(
            "open with 10 keys over SQLite's",
            .ratio(Cell(.open10, .library), Cell(.open10, .sqlite)),
            .atMost(1)
        ),
        Target("open with 10 keys", .time(Cell(.open10, .library)), .atMost(500_000)),
        Target("open with 10,000 keys", .time(Cell(.open10000, .library)), .atMost(2_000_000)),
        Target("open with 100,000 keys", .time(Cell(.open100000, .library)), .atMost(20_000_000)),
        Target(
            "set with 100,000 keys over set with 10",
            .ratio(Cell(.growth100000, .library), Cell(.growth10, .library)),
            .atMost(1.2)
        ),
        Target(
            "two threads' throughput over one's, `data(forKey:)`",
            .ratio(Cell(.dataGetThreads1, .library), Cell(.dataGetThreads2, .library)),
            .atLeast(1.8)
        ),
        Target(
            "two threads' throughput over one's, settings type read",
            .ratio(Cell(.settingsReadThreads1, .library), Cell(.settingsReadThreads2, .library)),
            .atLeast(1.8)
        ),
        Target(
            "from a write in one process to the value in another",
            .time(Cell(.observation, .library)),
            .atMost(2_000_000),
            hasPeer: true
        ),
    ]

    private init(_ title: String, _ figure: Figure, _ bound: Bound, hasPeer: Bool = false) {
        self.title = title
        self.figure = figure
        self.bound = bound
        self.hasPeer = hasPeer
    }

    /// The figure, from the least times of all rounds; with a peer the median of the rounds.
    func measured(in results: Results) -> Double? {
        if hasPeer { return medians(in: results)?.median }
        switch figure {
        case .ratio(let cell, let other): return results.leastRatio(cell, to: other)
        case .time(let cell): return results.leastTime(cell)
        }
    }

    /// The figure from the medians of each round.
    func medians(in results: Results) -> Spread? {
        switch figure {
        case .ratio(let cell, let other): results.ratio(cell, to: other)
        case .time(let cell): results.time(cell)
        }
    }

    func isMet(by value: Double) -> Bool {
        switch bound {
        case .atMost(let most): value <= most
        case .atLeast(let least): value >= least
        }
    }

    /// Formats a figure of this target, in its unit.
    func text(_ value: Double) -> String {
        switch figure {
        case .time: Format.time(value)
        case .ratio: Format.ratio(value)
        }
    }

    var boundText: String {
        switch bound {
        case .atMost(let most): "at most \(text(most))"
        case .atLeast(let least): "at least \(text(least))"
        }
    }
}

import Glibc
import SimulatedKernel

/// Runs plans, made from successive seeds or given as a line, and reports those that failed.
@main
struct Simulation {
    static let usage = """
        simulate [--seconds N] [--first SEED] [--processors N] [--with PLAN] [--all]
            Runs plans for some seconds, until one fails. With --all it goes on and counts them. All plans have the
            words of the one that is given.
        simulate --run PLAN [--log]
            Repeats a run from the line that was printed for it.
        simulate --mirror DIRECTORY
            Makes the calls of three hundred plans in a directory too, where each has to give the same.
        simulate --twice N
            Runs N plans twice, which has to make the same calls.
        """

    private var seconds = 10.0
    private var first = UInt64(Clock.fileTime())
    private var processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    private var goesOn = false
    private var isLogged = false
    private var repeated: Plan?
    private var runsTwice: UInt64?
    private var mirror: String?

    static func main() {
        for word in [
            MappedWindowPool.ofProcess.published.word, BackgroundWorker.ofProcess.published.word,
            JournalRegistry.ofProcess.published.word, JournalWatcher.ofProcess.published.word,
        ] {
            sim_add_process_word(word.address)
        }
        sim_on_kill { Run.addSuccessor() }
        sim_on_rename {
            run.renames += 1
            run.history.noteRename()
            run.checkImages(after: "a rename")
        }
        guard let simulation = Simulation(CommandLine.arguments.dropFirst()) else {
            print(usage)
            exit(2)
        }
        exit(simulation.perform() ? 0 : 1)
    }

    private init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--all": goesOn = true
            case "--log": isLogged = true
            default:
                guard let value = rest.popFirst() else { return nil }
                switch argument {
                case "--seconds": seconds = Double(value) ?? seconds
                case "--first": first = UInt64(value) ?? first
                case "--processors": processors = Int(value) ?? processors
                case "--mirror": mirror = value
                case "--with":
                    guard Plan(value) != nil else { return nil }
                    Plan.common = value
                case "--twice": runsTwice = UInt64(value)
                case "--run":
                    guard let plan = Plan(value) else { return nil }
                    repeated = plan
                default: return nil
                }
            }
        }
    }

    private func perform() -> Bool {
        if let mirror { return compare(with: mirror) }
        if let repeated {
            let problems = Run.perform(repeated, isLogged: isLogged)
            problems.forEach { print($0) }
            return problems.isEmpty
        }
        if let runsTwice { return compareRuns(runsTwice) }
        return search()
    }

    /// Compares the calls with a real file system, without losses of power, which that can't simulate.
    private func compare(with directory: String) -> Bool {
        sim_mirror(directory)
        let plans = repeated.map { [$0] } ?? (first..<first + 300).map(Plan.init(seed:))
        var (calls, differences) = (0 as UInt64, 0 as UInt64)
        for var plan in plans {
            (plan.powerLoss, plan.losesPowerAfterFlush) = (0, false)
            _ = Run.perform(plan)
            calls += UInt64(sim_current_report().pointee.calls)
            differences += sim_current_report().pointee.mirror_differences
        }
        print("Of \(calls) calls, \(differences) gave something else in \(directory).")
        return differences == 0
    }

    private func compareRuns(_ count: UInt64) -> Bool {
        var different = 0
        for seed in first..<first + count {
            let hashes = (0..<2).map { _ in
                _ = Run.perform(Plan(seed: seed))
                return sim_current_report().pointee.hash
            }
            if hashes[0] != hashes[1] { different += 1 }
        }
        print("Of \(count) plans that were run twice, from seed \(first) on, \(different) made other calls then.")
        return different == 0
    }
}

/// The counts of the children that run plans; each child has its own, in shared memory.
private struct Totals {
    var runs = 0, calls = 0, steps = 0, switches = 0, kills = 0, killsInWrites = 0, failedCalls = 0, meetings = 0
    var failures = 0
    /// The seed of the plan that is being run, or of the first one that failed.
    var seed: UInt64 = 0
    var hasFailed = false

    mutating func add(_ report: sim_report, hasFailed: Bool) {
        runs += 1
        calls += Int(report.calls)
        steps += Int(report.steps)
        switches += Int(report.switches)
        kills += Int(report.kills)
        killsInWrites += Int(report.kills_in_write)
        failedCalls += Int(report.failed_calls)
        meetings += report.refused_locks > 0 ? 1 : 0
        failures += hasFailed ? 1 : 0
    }
}

extension Simulation {
    /// The number of plans that one child runs, since killed engines leave their memory behind.
    private static let batch: UInt64 = 200

    private func search() -> Bool {
        let memory = mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return false }
        let start = memory.bindMemory(to: Totals.self, capacity: processors)
        let slots = UnsafeMutableBufferPointer(start: start, count: processors)
        slots.initialize(repeating: Totals())
        var children: [Int32: Int] = [:]
        var next = first
        var failed: [UInt64] = []
        let began = Clock.monotonic()
        var elapsed: Double { Double(Clock.monotonic() - began) / 1e9 }
        func begin(in slot: Int) {
            let seeds = next..<next + Self.batch
            next += Self.batch
            let child = fork()
            if child == 0 { Self.runPlans(seeds, goesOn: goesOn, &slots[slot]) }
            children[child] = slot
        }
        for slot in slots.indices { begin(in: slot) }
        while !children.isEmpty {
            var status: Int32 = 0
            guard let slot = children.removeValue(forKey: wait(&status)) else { continue }
            if status != 0 {
                failed.append(slots[slot].seed)
                if !slots[slot].hasFailed { print("The engine has crashed (status \(status)).") }
                slots[slot].hasFailed = false
            }
            if elapsed < seconds, goesOn || failed.isEmpty { begin(in: slot) }
        }
        Self.summarize(slots, from: first, in: elapsed)
        failed.prefix(goesOn ? 5 : 1).forEach(Self.explain)
        return failed.isEmpty
    }

    private static func runPlans(_ seeds: Range<UInt64>, goesOn: Bool, _ totals: inout Totals) -> Never {
        var status: Int32 = 0
        for seed in seeds {
            if !totals.hasFailed { totals.seed = seed }
            let problems = Run.perform(Plan(seed: seed))
            totals.add(sim_current_report().pointee, hasFailed: !problems.isEmpty)
            if problems.isEmpty { continue }
            totals.hasFailed = true
            status = 1
            if !goesOn { break }
        }
        _exit(status)
    }

    /// Prints a failed run, with as few decisions as possible, and how to repeat it.
    private static func explain(seed: UInt64) {
        let plan = Plan(seed: seed).shrunk()
        let nonzero = plan.decisions?.count { $0 != 0 } ?? 0
        print("Seed \(seed) fails, \(plan.decisions == nil ? "with its own decisions" : "with \(nonzero) decisions"):")
        fflush(nil)
        let child = fork()
        if child == 0 {
            Run.perform(plan).forEach { print("    \($0)") }
            fflush(nil)
            _exit(0)
        }
        waitpid(child, nil, 0)
        print("Repeat it with:\n    .ci/schedules --log --run '\(plan)'")
    }

    private static func summarize(_ slots: UnsafeMutableBufferPointer<Totals>, from first: UInt64, in seconds: Double) {
        func sum(_ count: KeyPath<Totals, Int>) -> Int { slots.reduce(0) { $0 + $1[keyPath: count] } }
        let runs = max(sum(\.runs), 1)
        print(
            """
            \(sum(\.runs)) runs from seed \(first) on in \((10 * seconds).rounded() / 10) s, \(Int(Double(runs) / seconds)) a second. \
            Each had \(sum(\.calls) / runs) calls, \(sum(\.steps) / runs) steps and \(sum(\.switches) / runs) switches. \
            In \(100 * sum(\.meetings) / runs) % processes met at the lock. \
            \(sum(\.kills)) processes were killed, \(sum(\.killsInWrites)) of them in a write, and \(sum(\.failedCalls)) calls \
            failed. \(sum(\.failures)) runs did what they must not do.
            """
        )
    }
}

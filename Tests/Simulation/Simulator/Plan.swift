import SimulatedKernel

/// The conditions of a run: everything but its decisions follows from the seed, or is written out to repeat a failed
/// run.
struct Plan {
    var seed: UInt64
    /// The number of processes that use the suite from the beginning; each that is killed gets a successor.
    var processes = 2
    /// The number of operations of each process.
    var operations = 8
    /// The frequency of each kind of operation, relative to the others.
    var weights: [Work.Kind: UInt32] = [:]
    /// Whether processes flush and compact in the background.
    var hasBackground = false
    /// Whether each process has a second thread, which reads.
    var hasReaders = false
    /// Whether the last process opens the suite only for reading.
    var hasObserver = false
    var stickiness: UInt32 = 4
    var kills: [UInt32] = []
    /// The number of the write in the middle of which its process is killed.
    var tornWrite: UInt32 = 0
    var stops: [UInt32] = []
    var powerLoss: UInt32 = 0
    /// Whether the power may be lost soon after a flush.
    var losesPowerAfterFlush = false
    var failures: UInt32 = 0
    var hasClockSteps = false
    /// Whether the file system needs a sync to keep a new directory, as some do.
    var forgetsDirectories = false
    /// Whether another program restores a backup over the suite.
    var restores = false
    /// Whether the backup replaces the suite's whole directory.
    var replacesDirectory = false
    /// Whether a byte of the journal is changed.
    var damages = false
    /// Whether each process is notified of changes.
    var hasWatchers = false
    /// Whether files can't be mapped, as on a network.
    var hasNoMappings = false
    /// Whether what goes to the disk takes long, and tasks that sleep wake up late.
    var hasDelays = false
    /// Decisions in place of those that the seed makes.
    var decisions: [UInt32]?

    /// The words that every plan has that is made from a seed, to search for what rarely happens.
    nonisolated(unsafe) static var common = ""

    /// Makes a plan with a random part of the possible events: runs with all of them rarely have enough of one kind.
    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix(state: seed)
        func oneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        func steps(_ count: Int) -> [UInt32] { (0..<count).map { _ in .random(in: 20...900, using: &random) } }
        processes = oneOf(2) ? 2 : 3
        stickiness = [1, 2, 4, 16, 64][Int.random(in: 0..<5, using: &random)]
        let isEven = oneOf(2)
        for kind in Work.Kind.allCases {
            weights[kind] = isEven ? kind.weight : [0, 1, 4, 12][Int.random(in: 0..<4, using: &random)]
        }
        if weights.values.allSatisfy({ $0 == 0 }) { weights[.update] = 1 }
        if !oneOf(3) { kills = steps(Int.random(in: 1...3, using: &random)) }
        if oneOf(4) { powerLoss = steps(1)[0] }
        if oneOf(3) { stops = steps(Int.random(in: 1...2, using: &random)) }
        losesPowerAfterFlush = powerLoss == 0 && oneOf(2)
        if oneOf(3) { failures = [20, 60, 200][Int.random(in: 0..<3, using: &random)] }
        hasClockSteps = oneOf(6)
        hasBackground = oneOf(3)
        hasReaders = oneOf(5)
        hasObserver = oneOf(4)
        forgetsDirectories = oneOf(2)
        restores = oneOf(5)
        replacesDirectory = restores && oneOf(3)
        damages = !restores && powerLoss == 0 && !losesPowerAfterFlush && oneOf(4)
        hasWatchers = oneOf(6)
        hasNoMappings = oneOf(4)
        hasDelays = oneOf(3)
        if oneOf(3) { tornWrite = .random(in: 3...30, using: &random) }
        _ = read(Self.common)
    }
}

/// The generator of plans, SplitMix64 by Steele, Lea and Flood (2014).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

// A plan as one line of words, `name=value`. Decisions of 0 are left out.
extension Plan: CustomStringConvertible {
    var description: String {
        var words = ["seed=\(seed)"]
        for field in Self.fields {
            let value = field.text(self)
            if value != field.text(Plan(empty: seed)) { words.append("\(field.name)=\(value)") }
        }
        return words.joined(separator: " ")
    }

    /// Reads a line; nil if it isn't that of a plan.
    init?(_ line: String) {
        self.init(empty: 0)
        guard read(line) else { return nil }
    }

    /// Changes what a line of words says.
    ///
    /// - Returns: Whether it consists of such words.
    private mutating func read(_ line: String) -> Bool {
        for word in line.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return false }
            if parts[0] == "seed" {
                guard let number = UInt64(parts[1]) else { return false }
                seed = number
            } else {
                guard let field = Self.fields.first(where: { $0.name == parts[0] }) else { return false }
                field.read(&self, String(parts[1]))
            }
        }
        return true
    }

    private init(empty seed: UInt64) {
        self.seed = seed
        for kind in Work.Kind.allCases { weights[kind] = kind.weight }
    }

    private struct Field {
        let name: String
        let text: (Plan) -> String
        let read: (inout Plan, String) -> Void

        init<Number: FixedWidthInteger>(_ name: String, _ path: WritableKeyPath<Plan, Number>) {
            self.name = name
            text = { String($0[keyPath: path]) }
            read = { $0[keyPath: path] = Number($1) ?? 0 }
        }

        init(_ name: String, _ path: WritableKeyPath<Plan, Bool>) {
            self.name = name
            text = { $0[keyPath: path] ? "1" : "0" }
            read = { $0[keyPath: path] = $1 == "1" }
        }

        init(_ name: String, _ path: WritableKeyPath<Plan, [UInt32]>) {
            self.name = name
            text = { $0[keyPath: path].map(String.init).joined(separator: ",") }
            read = { $0[keyPath: path] = $1.split(separator: ",").map { UInt32($0) ?? 0 } }
        }
    }

    private static var fields: [Field] {
        [
            Field("processes", \.processes), Field("operations", \.operations), Field("weights", \.weightList),
            Field("background", \.hasBackground), Field("readers", \.hasReaders), Field("observer", \.hasObserver),
            Field("stickiness", \.stickiness), Field("kills", \.kills), Field("torn", \.tornWrite),
            Field("stops", \.stops), Field("power", \.powerLoss), Field("flush-power", \.losesPowerAfterFlush),
            Field("failures", \.failures), Field("clock", \.hasClockSteps), Field("forgets", \.forgetsDirectories),
            Field("restores", \.restores), Field("directory", \.replacesDirectory), Field("damages", \.damages),
            Field("watchers", \.hasWatchers), Field("unmapped", \.hasNoMappings), Field("delays", \.hasDelays),
            Field("decisions", \.sparseDecisions),
        ]
    }

    private var weightList: [UInt32] {
        get { Work.Kind.allCases.map { weights[$0] ?? 0 } }
        set { for (kind, weight) in zip(Work.Kind.allCases, newValue) { weights[kind] = weight } }
    }

    /// The decisions other than 0, each after its index.
    private var sparseDecisions: [UInt32] {
        get {
            (decisions ?? []).enumerated().filter { $0.element != 0 }.flatMap { [UInt32($0.offset), $0.element] }
        }
        set {
            var all: [UInt32] = []
            for index in stride(from: 0, to: newValue.count - 1, by: 2) {
                let position = Int(newValue[index])
                while all.count < position { all.append(0) }
                all.append(newValue[index + 1])
            }
            decisions = all
        }
    }

    /// Calls a body with the part of the plan that the kernel needs.
    func withKernelPlan<Result>(isLogged: Bool, _ body: (UnsafePointer<sim_plan>) -> Result) -> Result {
        var plan = sim_plan()
        plan.seed = seed
        plan.stickiness = stickiness
        plan.has_mutex_steps = hasBackground || hasReaders || hasWatchers
        withUnsafeMutableBytes(of: &plan.kills) { Self.copy(kills, to: $0) }
        withUnsafeMutableBytes(of: &plan.stops) { Self.copy(stops, to: $0) }
        plan.torn_write = tornWrite
        plan.power_loss = powerLoss
        plan.failures = failures
        plan.has_clock_steps = hasClockSteps
        plan.forgets_directories = forgetsDirectories
        plan.has_no_mappings = hasNoMappings
        plan.has_delays = hasDelays
        plan.is_logged = isLogged
        guard let decisions else { return body(&plan) }
        return (decisions + [0]).withUnsafeBufferPointer { decisions in
            plan.decisions = decisions.baseAddress
            plan.decision_count = decisions.count
            return body(&plan)
        }
    }

    private static func copy(_ steps: [UInt32], to target: UnsafeMutableRawBufferPointer) {
        for (index, step) in steps.prefix(target.count / 4).enumerated() {
            target.storeBytes(of: step, toByteOffset: 4 * index, as: UInt32.self)
        }
    }
}

import Glibc
import SimulatedKernel

extension Plan {
    /// Whether the plan's run fails, tried in a child process: killed engines leave their memory behind.
    var fails: Bool {
        let child = fork()
        if child == 0 {
            // A crash of the engine counts as a failure too, without its messages.
            close(STDERR_FILENO)
            _exit(Run.perform(self).isEmpty ? 0 : 1)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        return status != 0
    }

    /// The same plan, with the decisions of its seed written out; nil if the engine crashes in its run.
    var withDecisions: Plan? {
        let limit = 1 << 18
        let memory = mmap(nil, 4 * limit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        defer { munmap(memory, 4 * limit) }
        let words = memory.bindMemory(to: UInt32.self, capacity: limit)
        let child = fork()
        if child == 0 {
            _ = Run.perform(self)
            let count = min(sim_current_report().pointee.decisions, limit - 1)
            words[0] = UInt32(count)
            for index in 0..<count { words[index + 1] = sim_decisions()?[index] ?? 0 }
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        guard status == 0 else { return nil }
        var plan = self
        plan.decisions = (0..<Int(words[0])).map { words[$0 + 1] }
        return plan
    }

    /// A smaller plan that fails too.
    ///
    /// The plan has fewer kills and stops, and more decisions that are 0, changed first in large ranges and then one by
    /// one (A. Zeller and R. Hildebrandt, 2002).
    func shrunk() -> Plan {
        guard let decided = withDecisions, decided.fails else { return self }
        var best = decided
        // Something that could not be left out before may be, once something else is.
        for _ in 0..<8 {
            let before = best.size
            best.leaveOut()
            if best.size == before { break }
        }
        while best.decisions?.last == 0 { best.decisions?.removeLast() }
        return best
    }

    private var size: Int { kills.count + stops.count + (tornWrite == 0 ? 0 : 1) + (decisions?.count { $0 != 0 } ?? 0) }

    private mutating func leaveOut() {
        for index in kills.indices.reversed() { tryChange { $0.kills.remove(at: index) } }
        for index in stops.indices.reversed() { tryChange { $0.stops.remove(at: index) } }
        tryChange { $0.tornWrite = 0 }
        tryChange { $0.powerLoss = 0 }
        tryChange { $0.hasClockSteps = false }
        let count = decisions?.count ?? 0
        var size = count / 2
        while size > 0 {
            for start in stride(from: 0, to: count, by: size) {
                let range = start..<min(start + size, count)
                guard decisions?[range].contains(where: { $0 != 0 }) == true else { continue }
                tryChange { plan in for index in range { plan.decisions?[index] = 0 } }
            }
            size /= 2
        }
    }

    private mutating func tryChange(_ change: (inout Plan) -> Void) {
        var other = self
        change(&other)
        if other.fails { self = other }
    }
}

internal import CDefaultSystem

/// What the journals of a process share: its threads, its registry, and its guarded memory.
///
/// A child made with `fork` has none of its parent's threads, and locks that those may have held. So it has services of its
/// own, and the first use after a fork creates them. What the parent opened stays the parent's.
final class ProcessServices: @unchecked Sendable {
    // The services do their own locking.
    let pages = GuardedPages()
    /// The parts of the layers above, by the order in which they were first used.
    private let parts = Guarded<[AnyObject]>([])
    private let forks: UInt64

    private init() {
        default_watch_forks()
        forks = default_fork_count()
    }

    /// The services' address, stored under the process's lock; the reference is never released.
    private static let published = Atomic<UInt>(0)

    /// The services of the running process.
    static var current: ProcessServices {
        if let known { return known }
        default_watch_forks()
        default_lock_process()
        defer { default_unlock_process() }
        if let known { return known }
        let services = ProcessServices()
        published.store(UInt(bitPattern: Unmanaged.passRetained(services).toOpaque()))
        return services
    }

    private static var known: ProcessServices? {
        guard let address = UnsafeRawPointer(bitPattern: published.load()) else { return nil }
        let services = Unmanaged<ProcessServices>.fromOpaque(address).takeUnretainedValue()
        return services.forks == default_fork_count() ? services : nil
    }

    /// How many forks there are between the first process with services and this one.
    static var forkCount: UInt64 { default_fork_count() }

    /// The process's only object of a class, created by the first use.
    func part<Part: AnyObject>(_ type: Part.Type, create: () -> Part) -> Part {
        parts.withLock { parts in
            for part in parts where Swift.type(of: part) == type { return unsafeDowncast(part, to: type) }
            let part = create()
            parts.append(part)
            return part
        }
    }
}

/// What surrounds a program: what it has from the process that started it, and its end.
package enum ProgramEnvironment {
    /// The value of an environment variable; nil without one.
    ///
    /// Foundation's `environment` makes a dictionary of all variables.
    package static func variable(_ name: String) -> String? {
        default_environment_variable(name).map { String(cString: $0) }
    }

    /// Writes a text to standard error.
    ///
    /// If that can't be written, there is nowhere left to report to.
    package static func writeError(_ text: String) {
        var text = text
        text.withUTF8 { default_write_error($0.baseAddress, $0.count) }
    }

    /// Calls a function when the program ends normally, by a return from `main` or a call of `exit`; returns whether it will be.
    static func callAtExit(_ handler: @convention(c) () -> Void) -> Bool { default_call_at_exit(handler) == 0 }
}

internal import DefaultJournal

/// What a process knows of a store's sources.
///
/// Weak references lead to the reader, and none leads here: references to an object that has weak ones are counted in a
/// slower way, which took a tenth of each read.
final class SourceState: Sendable {
    private let current = CurrentSnapshot()
    private let reader: SourceReader
    private let schedule = LookSchedule(interval: 1_000_000_000)
    /// Whether a look may find something new.
    private let mayChange: Bool

    init(_ entries: [SourceReader.Entry], notify: @escaping @Sendable (Set<String>) -> Void) {
        mayChange = entries.contains { entry in
            !(entry.source is ValuesSource || entry.source is EnvironmentSource || entry.source is LaunchArguments)
        }
        reader = SourceReader(entries, current: current, notify: notify)
        _ = schedule.takeDue()
        reader.look(isFirst: true)
    }

    /// Whether no source says anything.
    var isSilent: Bool { current.isSilent }

    /// The value that hides a stored one.
    func valueAbove(_ key: StoreKey) -> PropertyListValue? { current.valueAbove(key) }

    /// Calls a body with what the sources say; the body must use no store.
    func read<Result>(_ body: (SourceSnapshot) -> Result) -> Result { current.read(body) }

    /// Looks whether files have changed, once a second.
    func lookIfDue() {
        if mayChange, schedule.takeDue() { reader.look() }
    }

    /// Looks at all sources now.
    func look() { reader.look() }

    /// Forgets what is remembered of settings, since something else that they depend on has changed.
    func forget() { current.forget() }

    /// Watches the folders of files until the observation ends.
    func watch() -> StoreObservation { reader.watch() }
}

/// The snapshot of sources that is in use.
final class CurrentSnapshot: Sendable {
    private let snapshot = SharedLocked(SourceSnapshot(above: [], below: []))
    /// Those of the snapshot, which are looked at without its lock, since most keys are in no source.
    private let keysAbove = AtomicKeyEnds()
    private let isEmpty = Atomic<Bool>(true)

    /// Whether the sources say nothing.
    var isSilent: Bool { isEmpty.load() }

    func valueAbove(_ key: StoreKey) -> PropertyListValue? {
        guard keysAbove.load().mayContain(key) else { return nil }
        return snapshot.read { $0.valueAbove(key) }
    }

    func read<Result>(_ body: (SourceSnapshot) -> Result) -> Result { snapshot.read { body($0) } }

    func replace(by new: SourceSnapshot) {
        snapshot.withLock { snapshot in
            // First: who sees these waits for the lock, so that nobody sees the old snapshot after the new one.
            keysAbove.store(new.keysAbove)
            isEmpty.store(new.isEmpty)
            snapshot = new
        }
    }

    func forget() { snapshot.withLock { $0 = SourceSnapshot(above: $0.above, below: $0.below) } }
}

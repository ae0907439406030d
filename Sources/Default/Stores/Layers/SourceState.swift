#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import DefaultJournal

/// What a process knows of a store's sources.
final class SourceState: @unchecked Sendable {
    /// A source, and what it is to the store.
    struct Entry: Sendable {
        let kind: DefaultsOrigin.Kind
        let source: any DefaultsSource
    }

    /// What was found at the last look at a source.
    private struct Found {
        var look: TrustedFile.Look?
        /// The suite, if the source is the folder of one.
        var suite: FileDefaults?
        /// What was read last and could be used.
        var values: [StoreKey: PropertyListValue] = [:]
        /// Why it can't be used now.
        var fault: DefaultsError?
        /// Whether a source of the program's own says that it has changed.
        var isOutdated = true
    }

    private let entries: [Entry]
    private let notify: StoreObservation.Handler
    private let schedule = LookSchedule(interval: 1_000_000_000)
    /// Held while sources are looked at, by one thread; recursive, since a source of the program's own may read the
    /// store.
    private let looking = ThreadLock(isRecursive: true)
    // Used under `looking`.
    private var found: [Found]
    private let snapshot: SharedLocked<SourceSnapshot>
    private let outdated = Locked<Set<Int>>([])
    private let observations = Locked<[StoreObservation]>([])
    private let hasFiles: Bool
    /// The watches of the files' folders, while there are observations.
    private let watches = Locked<(count: Int, folders: [FolderWatch])>((0, []))

    init(_ entries: [Entry], notify: @escaping StoreObservation.Handler) {
        self.entries = entries
        self.notify = notify
        found = entries.map { _ in Found() }
        hasFiles = entries.contains { $0.source is FileSource }
        snapshot = SharedLocked(SourceSnapshot(above: [], below: []))
        let begun = entries.enumerated().compactMap { index, entry in
            entry.source.observeChanges { [weak self] in
                guard let self else { return }
                outdated.withLock { _ = $0.insert(index) }
                look()
            }
        }
        observations.withLock { $0 = begun }
        _ = schedule.takeDue()
        look(isFirst: true)
    }

    /// Calls a body with what the sources say; the body must use no store.
    func read<Result>(_ body: (SourceSnapshot) -> Result) -> Result { snapshot.read { body($0) } }

    /// Looks whether files have changed, once a second.
    func lookIfDue() {
        if hasFiles, schedule.takeDue() { look() }
    }

    /// Forgets what is remembered of settings, since something else that they depend on has changed.
    func forget() { snapshot.withLock { $0 = SourceSnapshot(above: $0.above, below: $0.below) } }

    /// Looks at all sources, and notifies the store's observers of what has changed.
    ///
    /// - Parameter isFirst: Whether nothing was known before, so that nothing has changed.
    func look(isFirst: Bool = false) {
        var events: [DefaultsDiagnostics.Event] = []
        var changed: Set<String> = []
        looking.lock()
        let changedSources = outdated.withLock { outdated in
            defer { outdated = [] }
            return outdated
        }
        for (index, entry) in entries.enumerated() {
            if changedSources.contains(index) { found[index].isOutdated = true }
            let before = found[index]
            update(&found[index], entry)
            let after = found[index]
            if after.fault?.description != before.fault?.description {
                let kind: DefaultsDiagnostics.Event.Kind = after.fault == nil ? .sourceRestored : .sourceUnusable
                let error = after.fault ?? .sourceRestored(entry.source.name)
                events.append(.init(kind: kind, error: error))
            }
            changed.formUnion(Self.changedKeys(layer(entry, before).values, layer(entry, after).values))
        }
        let layers = zip(entries, found).map { layer($0, $1) }
        let isAbove = { (layer: SourceSnapshot.Layer) in layer.origin.kind != .fallback }
        if isFirst || !changed.isEmpty || !events.isEmpty {
            let new = SourceSnapshot(above: layers.filter(isAbove), below: layers.filter { !isAbove($0) })
            snapshot.withLock { $0 = new }
        }
        looking.unlock()
        for event in events { DefaultsDiagnostics.report(event) }
        if !isFirst, !changed.isEmpty { notify(changed) }
    }

    private func layer(_ entry: Entry, _ found: Found) -> SourceSnapshot.Layer {
        let isMandatory = entry.kind == .mandatory
        let variables = (entry.source as? EnvironmentSource)?.variables
        return SourceSnapshot.Layer(
            origin: DefaultsOrigin(entry.kind, name: entry.source.name, url: entry.source.url),
            // A mandatory source that can't be used says nothing, in a new process as in one that has read it before.
            values: variables != nil || isMandatory && found.fault != nil ? [:] : found.values,
            variables: variables,
            fault: isMandatory ? found.fault : nil
        )
    }

    private static func changedKeys(
        _ old: [StoreKey: PropertyListValue],
        _ new: [StoreKey: PropertyListValue]
    ) -> Set<String> {
        var keys: Set<String> = []
        for (key, value) in old where !new[key].isSame(as: value) { keys.insert(key.string) }
        for key in new.keys where old[key] == nil { keys.insert(key.string) }
        return keys
    }

    // MARK: One source

    private func update(_ found: inout Found, _ entry: Entry) {
        do {
            guard let file = entry.source as? FileSource else {
                guard found.isOutdated else { return }
                found.isOutdated = false
                // Keys that only Swift's strings take for the same one are several arguments.
                let arguments = (entry.source as? LaunchArguments)?.entries
                found.values = try arguments ?? Self.keyed(entry.source.values())
                found.fault = nil
                return
            }
            try update(&found, SourceFile(file.path))
            found.fault = nil
        } catch let error as DefaultsError {
            found.fault = error
        } catch {
            found.fault = .sourceUnusable(entry.source.name, because: "\(error)")
        }
    }

    private func update(_ found: inout Found, _ file: SourceFile) throws {
        let look = TrustedFile.look(at: file.path)
        if case .file(let mark) = look, look == found.look, mark.isSettled {
            // The same as before, whether it could be used or not.
            if let fault = found.fault { throw fault }
            return
        }
        found.look = look
        if look != .directory { found.suite = nil }
        switch look {
        case .missing: found.values = [:]
        case .failed(let message): throw file.unusable(message)
        case .directory:
            let suite = try found.suite ?? FileDefaults(readingFrom: URL(fileURLWithPath: file.path, isDirectory: true))
            found.suite = suite
            try suite.checkAvailability()
            found.values = suite.ownValues()
        case .file:
            let contents = try file.read()
            found.look = contents.map { .file($0.mark) }
            found.values = Self.keyed(try contents.map { try file.values(in: $0) } ?? [:])
        }
    }

    private static func keyed(_ values: [String: PropertyListValue]) -> [StoreKey: PropertyListValue] {
        var keyed: [StoreKey: PropertyListValue] = [:]
        for (key, value) in values { keyed[StoreKey(unchecked: key)] = value }
        return keyed
    }

    // MARK: Watching

    /// Watches the folders of files until the observation ends.
    func watch() -> StoreObservation {
        watches.withLock { watches in
            if watches.count == 0 {
                let folders = Set(entries.compactMap { ($0.source as? FileSource)?.folder })
                watches.folders = folders.map { folder in
                    FolderWatch.begin(folder) { [weak self] in self?.look() }
                }
            }
            watches.count += 1
        }
        return StoreObservation { [self] in
            let ended = watches.withLock { watches -> [FolderWatch] in
                watches.count -= 1
                guard watches.count == 0 else { return [] }
                defer { watches.folders = [] }
                return watches.folders
            }
            for folder in ended { folder.end() }
        }
    }
}

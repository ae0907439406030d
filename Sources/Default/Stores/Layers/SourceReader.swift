#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import DefaultJournal

/// Reads a store's sources in one process, and looks for their changes.
final class SourceReader: @unchecked Sendable {
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

    private enum Looking { case once, again }

    private struct Watches {
        /// The number of observations.
        var count = 0
        var folders: [FolderWatch] = []
    }

    private let entries: [Entry]
    private let notify: @Sendable (Set<String>) -> Void
    /// Whether a thread looks at the sources, and has to look again; nil for none.
    private let looking = Locked<Looking?>(nil)
    // Used by the thread that looks.
    private var found: [Found]
    private let current: CurrentSnapshot
    /// The indices of the sources that have said that they changed.
    private let outdated = Locked<[Int]>([])
    private let observations = Locked<[StoreObservation]>([])
    /// The watches of the files' folders, while there are observations.
    private let watches = Locked(Watches())

    init(_ entries: [Entry], current: CurrentSnapshot, notify: @escaping @Sendable (Set<String>) -> Void) {
        self.entries = entries
        self.current = current
        self.notify = notify
        found = entries.map { _ in Found() }
        let begun = entries.enumerated().compactMap { index, entry in
            entry.source.observeChanges { [weak self] in
                guard let self else { return }
                outdated.withLock { $0.append(index) }
                look()
            }
        }
        observations.withLock { $0 = begun }
    }

    /// Looks at all sources, and notifies the store's observers of what has changed.
    ///
    /// One thread looks at a time. A call that comes meanwhile, from a source that signals a change or from another
    /// thread, has that one look again.
    ///
    /// - Parameter isFirst: Whether nothing was known before, so that nothing has changed.
    func look(isFirst: Bool = false) {
        let isAlone = looking.withLock { looking in
            defer { looking = looking == nil ? .once : .again }
            return looking == nil
        }
        guard isAlone else { return }
        var news = News()
        repeat {
            collect(&news, isFirst: isFirst)
        } while looking.withLock { looking in
            defer { looking = looking == .again ? .once : nil }
            return looking == .again
        }
        // With no lock held: handlers may use the store.
        for event in news.events { DefaultsDiagnostics.report(event) }
        if !isFirst, !news.keys.isEmpty { notify(news.keys) }
    }

    /// What a look has found.
    private struct News {
        var events: [DefaultsDiagnostics.Event] = []
        var keys: Set<String> = []
    }

    /// Brings what was found up to date; called by one thread at a time.
    private func collect(_ news: inout News, isFirst: Bool) {
        let signalled = outdated.exchange([])
        var isNew = isFirst
        for (index, entry) in entries.enumerated() {
            let before = found[index]
            var after = before
            if signalled.contains(index) { after.isOutdated = true }
            // On a copy: what a source of the program's own does may lead here again.
            guard update(&after, entry) else { continue }
            found[index] = after
            let hasOtherFault = after.fault?.description != before.fault?.description
            if hasOtherFault {
                let kind: DefaultsDiagnostics.Event.Kind = after.fault == nil ? .sourceRestored : .sourceUnusable
                news.events.append(.init(kind: kind, error: after.fault ?? .sourceRestored(entry.source.name)))
            }
            let changed = Self.changedKeys(layer(entry, before).values, layer(entry, after).values)
            news.keys.formUnion(changed)
            isNew = isNew || hasOtherFault || !changed.isEmpty
        }
        // The same snapshot as long as the sources say the same: what is remembered in it stays.
        guard isNew else { return }
        let layers = zip(entries, found).map { layer($0, $1) }
        let isAbove = { (layer: SourceSnapshot.Layer) in layer.origin.kind != .fallback }
        current.replace(by: SourceSnapshot(above: layers.filter(isAbove), below: layers.filter { !isAbove($0) }))
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

    /// Looks at one source.
    ///
    /// - Returns: Whether it was read; if not, nothing has changed.
    private func update(_ found: inout Found, _ entry: Entry) -> Bool {
        do {
            if let file = entry.source as? FileSource {
                guard try update(&found, SourceFile(file.path)) else { return false }
            } else {
                guard found.isOutdated else { return false }
                // Keys that only Swift's strings take for the same one are several arguments.
                let arguments = (entry.source as? LaunchArguments)?.entries
                found.values = try arguments ?? Self.keyed(entry.source.values())
                // One that throws is asked again at the next look.
                found.isOutdated = false
            }
            found.fault = nil
        } catch let error as DefaultsError {
            found.fault = error
        } catch {
            found.fault = .sourceUnusable(entry.source.name, because: "\(error)")
        }
        return true
    }

    private func update(_ found: inout Found, _ file: SourceFile) throws -> Bool {
        guard file.path.hasPrefix("/") else { throw file.unusable("it has no file URL") }
        let look = TrustedFile.look(at: file.path)
        // The same as before, whether it could be used or not.
        if case .file(let known)? = found.look, known.isSettled, look == found.look { return false }
        if look == .missing, found.look == .missing { return false }
        found.look = nil
        if look != .directory { found.suite = nil }
        switch look {
        case .missing:
            found.values = [:]
            found.look = .missing
        case .failed(let message): throw file.unusable(message)
        case .directory:
            let suite = try found.suite ?? file.openSuite()
            found.suite = suite
            try suite.checkAvailability()
            let values = suite.ownValues()
            if values == found.values, found.fault == nil { return false }
            found.values = values
        case .file:
            // What can't be read is tried again at the next look, and what can't be used when it has changed.
            let contents = try file.read()
            found.look = contents.map { .file($0.mark) } ?? .missing
            found.values = Self.keyed(try contents.map { try file.values(in: $0) } ?? [:])
        }
        return true
    }

    private static func keyed(_ values: [String: PropertyListValue]) -> [StoreKey: PropertyListValue] {
        var keyed: [StoreKey: PropertyListValue] = [:]
        for (key, value) in values {
            // A key that no store can have is left out.
            if let key = try? StoreKey(key) { keyed[key] = value }
        }
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

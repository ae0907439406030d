import Default
import Dispatch
import Foundation
import SettingsValues
import Synchronization

/// A suite that the page shows: its keys as they were last seen, and the changes since then.
final class LiveSuite: Sendable {
    /// A change of a key, with what was shown before.
    struct Change: Encodable, Sendable {
        let key: String
        let old: Row?
        let new: Row?
    }

    /// What changed together.
    struct Event: Encodable, Sendable {
        let date: Date
        let changes: [Change]
    }

    /// All keys, and the position of the last event that they include.
    struct Snapshot: Encodable {
        let position: String
        let rows: [Row]
    }

    /// What came after a position.
    enum Missed {
        case events([(position: String, event: Event)])
        /// The events since then are not known any more, or are those of another process.
        case tooMuch
    }

    private struct State {
        var rows: [[UInt8]: Row] = [:]
        var isLoaded = false
        var events: [Event] = []
        /// The number of the event after the last one.
        var end = 0
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastListener = 0
    }

    /// How many events are kept for pages that were away.
    private static let eventLimit = 1_000

    let suite: any PageSuite
    let editor: Editor
    private let hidden: KeyPatterns
    /// Positions of another process have another name.
    private let name = String(UInt64.random(in: .min ... .max), radix: 36)
    private let state = Mutex(State())
    /// Where values are read, one look after the other.
    private let queue = DispatchQueue(label: "SettingsPage.LiveSuite")
    private let observation = Mutex<StoreObservation?>(nil)

    init(_ suite: any PageSuite, hiding hidden: KeyPatterns) {
        self.suite = suite
        self.hidden = hidden
        editor = Editor(suite, hiding: hidden)
        // The handler may be called within a read, so it reads nothing itself.
        let begun = suite.store.observeChanges { [weak self] keys in
            guard let self else { return }
            queue.async { self.look(at: keys) }
        }
        observation.withLock { $0 = begun }
        wakeListenersLater()
    }

    deinit {
        observation.withLock { $0 }?.cancel()
    }

    /// All keys, in no particular order: the page sorts them.
    ///
    /// Waits for the store.
    func snapshot() -> Snapshot {
        queue.sync { lookAtAll() }
        return state.withLock { state in
            Snapshot(position: position(state.end), rows: Array(state.rows.values))
        }
    }

    // MARK: Events

    /// A stream with an element whenever there are new events.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        return stream
    }

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Has each listener send something every ten seconds, so that it finds out when its page has gone away.
    private func wakeListenersLater() {
        queue.asyncAfter(deadline: .now() + 10) { [weak self] in
            guard let self else { return }
            for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
            wakeListenersLater()
        }
    }

    /// Ends all streams.
    func endListening() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// The events after a position.
    func events(after text: String) -> Missed {
        state.withLock { state in
            let parts = text.split(separator: "-")
            guard parts.count == 2, parts[0] == name, let seen = Int(parts[1]),
                case let first = state.end - state.events.count, seen >= first, seen <= state.end
            else {
                return .tooMuch
            }
            let missed = state.events.dropFirst(seen - first).enumerated()
            return .events(missed.map { (position(seen + $0 + 1), $1) })
        }
    }

    private func position(_ number: Int) -> String { "\(name)-\(number)" }

    // MARK: Looking

    private func look(at keys: Set<String>?) {
        // Nothing was shown yet, so nothing has changed since.
        guard state.withLock(\.isLoaded) else { return }
        // Keys that are equal as strings may differ in their bytes, which a set of strings doesn't show.
        guard let keys, !keys.isEmpty, keys.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else {
            return lookAtAll()
        }
        update(keys.sorted().map { ($0, row(forKey: $0)) })
    }

    private func lookAtAll() {
        let store = suite.store
        var found: [[UInt8]: Row?] = [:]
        var keys = store.storedKeys() + suite.declaredValues.keys
        if store.sources != nil, let store = store as? any UserDefaultsVocabulary {
            keys += store.dictionaryRepresentation().keys
        }
        for key in keys where found[Array(key.utf8)] == nil {
            found[Array(key.utf8)] = row(forKey: key)
        }
        for key in state.withLock({ Array($0.rows.keys) }) where found[key] == nil {
            found.updateValue(nil, forKey: key)
        }
        update(found.map { (String(decoding: $0.key, as: UTF8.self), $0.value) })
    }

    private func row(forKey key: String) -> Row? {
        let store = suite.store
        if let value = store.storedValue(forKey: key) {
            let origin = store.sources == nil ? nil : store.origin(forKey: key)
            let own = store.sources == nil ? value : store.ownValue(forKey: key)
            return Row(key: key, value: value, own: own, origin: origin, hiding: hidden)
        }
        return suite.declaredValues[key].map { Row(key: key, value: $0, own: nil, hiding: hidden) }
    }

    private func update(_ found: [(key: String, row: Row?)]) {
        let listeners = state.withLock { state in
            var changes: [Change] = []
            for (key, row) in found {
                let bytes = Array(key.utf8)
                let old = state.rows[bytes]
                // Storing an equal value is not a change.
                guard old != row else { continue }
                state.rows[bytes] = row
                changes.append(Change(key: key, old: old, new: row))
            }
            guard state.isLoaded else {
                state.isLoaded = true
                return [AsyncStream<Void>.Continuation]()
            }
            guard !changes.isEmpty else { return [] }
            changes.sort { $0.key < $1.key }
            state.events.append(Event(date: Date(), changes: changes))
            state.end += 1
            if state.events.count > Self.eventLimit { state.events.removeFirst(Self.eventLimit / 10) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield() }
    }
}

// On other systems only tests use it.
#if canImport(Darwin) || DEBUG
internal import DefaultJournal

/// Finds out what changed in a suite whose signals say only that something may have changed.
///
/// Foundation's signals on Apple platforms are of this kind: there may be several for one change, on any thread, and
/// also for this library's own writes, from inside `set` and while the caller has exclusive access. So a signal only
/// makes the watch compare what is stored with what it knows. The first that finds a change reports it, with its key,
/// and the later ones find nothing.
///
/// The suite is read without a lock, because Foundation may send a signal while it holds locks of its own. So two
/// threads may read a key and note its value in another order than they read it. The later of two comparisons wins: it
/// was begun by the signal for the later change, or after it.
final class SuiteWatch: @unchecked Sendable {
    // The store is only read.
    private let store: any DefaultsStore
    private let hub: ChangeHub

    /// A value, and the comparison that found it.
    private struct Known {
        let value: PropertyListValue?
        let comparison: Int
    }

    private struct State {
        var values: [String: Known] = [:]
        /// Whether keys that get their first value are watched too.
        var includesNewKeys = false
        var comparisons = 0
    }

    private let state = Locked(State())

    init(of store: any DefaultsStore, reportingTo hub: ChangeHub) {
        self.store = store
        self.hub = hub
    }

    /// Watches more keys.
    ///
    /// - Parameter keys: The keys; nil for all, those that are stored later included.
    /// - Returns: The keys that were not watched before.
    func add(_ keys: Set<String>?) -> Set<String> {
        let found = (keys ?? Set(store.storedKeys())).map { ($0, store.storedValue(forKey: $0)) }
        return state.withLock { state in
            if keys == nil {
                state.includesNewKeys = true
            }
            let new = found.filter { state.values[$0.0] == nil }
            for (key, value) in new {
                state.values[key] = Known(value: value, comparison: state.comparisons)
            }
            return Set(new.map(\.0))
        }
    }

    /// Reports the keys that have changed, at the end of the calling thread's exclusive access if it has any.
    ///
    /// - Parameter keys: The keys to compare; nil compares all that are watched.
    func check(_ keys: Set<String>? = nil) {
        let (comparison, watched, includesNewKeys) = state.withLock { state in
            state.comparisons += 1
            return (state.comparisons, Set(state.values.keys), state.includesNewKeys)
        }
        var candidates = keys ?? watched
        if !includesNewKeys {
            candidates.formIntersection(watched)
        } else if keys == nil {
            candidates.formUnion(store.storedKeys())
        }
        let found = candidates.map { ($0, store.storedValue(forKey: $0)) }
        let changed = state.withLock { state in
            found.filter { key, value in
                let known = state.values[key] ?? Known(value: nil, comparison: 0)
                guard known.comparison < comparison else { return false }
                state.values[key] = Known(value: value, comparison: comparison)
                return !value.isSame(as: known.value)
            }
        }
        if !changed.isEmpty {
            ExclusiveAccess.ofProcess.notify(hub, Set(changed.map(\.0)))
        }
    }
}
#endif

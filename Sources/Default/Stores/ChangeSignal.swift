internal import DefaultJournal

/// Connects the writers of a storage with one task that waits for changes.
///
/// Collects the keys that have changed since the task last looked, and wakes it.
final class ChangeSignal: Sendable {
    /// The keys that have changed.
    enum Changes: Sendable {
        case keys(Set<String>)
        /// It isn't known which keys have changed.
        case any
    }

    private struct State {
        var changes: Changes?
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    /// Records that keys have changed; nil when it isn't known which.
    func note(_ keys: Set<String>?) {
        wake { state in
            switch (state.changes, keys) {
            case (.any, _), (_, nil): state.changes = .any
            case (.keys(let earlier), let keys?): state.changes = .keys(earlier.union(keys))
            case (nil, let keys?): state.changes = .keys(keys)
            }
        }
    }

    /// Waits for changes, and returns and clears them.
    ///
    /// - Returns: The changes; nil when the waiting task was cancelled.
    func next(isolation: isolated (any Actor)?) async -> Changes? {
        await withTaskCancellationHandler {
            while true {
                let (changes, isEnded) = state.withLock { state in
                    defer { state.changes = nil }
                    return (state.changes, state.isEnded)
                }
                if isEnded {
                    return nil
                }
                if let changes {
                    return changes
                }
                await withCheckedContinuation(isolation: isolation) { continuation in
                    let isWaiting = state.withLock { state in
                        guard state.changes == nil, !state.isEnded else {
                            return false
                        }
                        state.waiter = continuation
                        return true
                    }
                    if !isWaiting {
                        continuation.resume()
                    }
                }
            }
        } onCancel: {
            wake { $0.isEnded = true }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

internal import DefaultJournal

/// Connects the writers of a storage with one task that waits for changes.
///
/// Remembers whether something has changed since the task last looked, and wakes it.
final class ChangeSignal: Sendable {
    private struct State {
        var isChanged = false
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Records that something has changed.
    func note() { wake { $0.isChanged = true } }

    /// Waits for a change since the last one that was waited for.
    ///
    /// - Returns: Whether there is one; false when the waiting task was cancelled.
    func next(isolation: isolated (any Actor)?) async -> Bool {
        await withTaskCancellationHandler {
            while true {
                let (isChanged, isEnded) = state.withLock { state in
                    defer { state.isChanged = false }
                    return (state.isChanged, state.isEnded)
                }
                if isChanged || isEnded { return !isEnded }
                await withCheckedContinuation(isolation: isolation) { continuation in
                    // A change since the look above would not wake the task, so it is looked for again.
                    let isWaiting = state.withLock { state in
                        guard !state.isChanged, !state.isEnded else { return false }
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

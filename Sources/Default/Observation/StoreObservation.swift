internal import DefaultJournal

/// An observation of a storage's changes; it ends when it is cancelled or released.
public final class StoreObservation: Sendable {
    /// Receives the keys whose values may have changed; nil when it isn't known which.
    public typealias Handler = @Sendable (_ keys: Set<String>?) -> Void

    private let onCancel: Locked<(@Sendable () -> Void)?>

    /// Creates an observation, for third-party storages.
    ///
    /// - Parameter onCancel: Called once, when the observation is cancelled or released.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = Locked(onCancel) }

    /// Ends the observation.
    ///
    /// A running call of the handler continues; no further call begins.
    public func cancel() { onCancel.exchange(nil)?() }

    deinit { cancel() }
}

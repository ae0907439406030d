public import CDefaultSystem

/// State that each process makes for itself: a child made with `fork` begins with a new one.
///
/// In such a child only the thread that called `fork` goes on. A lock that another thread held is never released there,
/// and the state that it guards may be half changed. So each use finds out whether this process made the state. A child
/// leaves its parent's state as it is, and makes its own, with its own locks. Nothing here waits for a lock.
///
/// Public for the same reason as ``Atomic``: the layer above reaches its state through this type at each read.
public final class PerProcess<State: Sendable>: Sendable {
    // The address of an `Instance`, which is written before its address is published, and never changed; 0 before the
    // first use.
    @usableFromInline let published = Atomic<UInt>(0)
    @usableFromInline let make: @Sendable () -> State

    /// What one process has made.
    @frozen public struct Instance: ~Copyable, Sendable {
        /// The state.
        public let state: State
        @usableFromInline let forkCount: UInt64

        @usableFromInline init(state: State, forkCount: UInt64) { (self.state, self.forkCount) = (state, forkCount) }
    }

    /// - Parameter make: Makes the state at its first use in each process. Several threads may call it at the same
    ///   time; only one result is used.
    public init(_ make: @escaping @Sendable () -> State) { self.make = make }

    deinit {
        guard let instance else { return }
        // A parent's state stays: releasing it could wait for its locks.
        instance.deinitialize(count: 1)
        instance.deallocate()
    }

    /// The state of the running process.
    @inlinable public var current: State { (instance ?? makeForThisProcess()).pointee.state }

    /// Calls a body with the state of the running process, which isn't copied; see ``Borrowed``.
    ///
    /// - Throws: What the body throws.
    @inlinable public func withCurrent<Result, Failure: Error>(
        _ body: (borrowing Instance) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body((instance ?? makeForThisProcess()).pointee)
    }

    @usableFromInline var instance: UnsafeMutablePointer<Instance>? {
        @inlinable get {
            guard let instance = UnsafeMutablePointer<Instance>(bitPattern: published.load()),
                instance.pointee.forkCount == ForkCount.current
            else { return nil }
            return instance
        }
    }

    @usableFromInline func makeForThisProcess() -> UnsafeMutablePointer<Instance> {
        ForkCount.watch()
        let new = UnsafeMutablePointer<Instance>.allocate(capacity: 1)
        new.initialize(to: Instance(state: make(), forkCount: ForkCount.current))
        while true {
            let old = published.load()
            if let other = instance {
                // Another thread was faster.
                new.deinitialize(count: 1)
                new.deallocate()
                return other
            }
            if published.replace(old, with: UInt(bitPattern: new)) { return new }
        }
    }
}

extension PerProcess {
    /// Calls a body that may change the process's state, with its lock.
    ///
    /// - Throws: What the body throws.
    @inlinable public func withLock<Value, Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result where State == Locked<Value> {
        try current.withLock(body)
    }
}

/// How many forks there are between the process that began to count and this one, its descendant.
public enum ForkCount: Sendable {
    /// The number, which is another one in a child made with `fork`.
    @inlinable public static var current: UInt64 { default_fork_count() }

    /// Has forks counted from now on.
    static func watch() { default_watch_forks() }
}

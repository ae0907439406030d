internal import Default
internal import Foundation

/// One run of a check: makes its stores, and collects what it finds.
final class Trial: @unchecked Sendable {
    // What changes is reached under `lock` only.
    private let lock = NSLock()
    private var found: [StoreConformance.Finding] = []
    private var isOver = false

    private let promise: String
    private let conformance: StoreConformance

    /// How long to wait for a notification, in seconds.
    ///
    /// The check ends in time although none comes: it waits a short time only once it has found something.
    var patience: TimeInterval { lock.withLock { conformance.patience / (found.isEmpty ? 10 : 200) } }

    init(of check: StoreConformance.Check, in conformance: StoreConformance) {
        promise = check.name
        self.conformance = conformance
    }

    /// Takes no more findings: those of a thread that never ended would arrive out of turn.
    func end() -> [StoreConformance.Finding] {
        lock.withLock {
            isOver = true
            return found
        }
    }

    /// Notes a finding, once; of one that is long because of what a store says, the beginning.
    func note(_ details: String) {
        let details = details.count > 500 ? "\(details.prefix(500))…" : details
        let finding = StoreConformance.Finding(promise: promise, details: details)
        lock.withLock {
            if !isOver, !found.contains(finding) {
                found.append(finding)
            }
        }
    }
}

extension Trial {
    /// Runs a body on a fresh store.
    func withStore(_ body: @escaping @Sendable (any DefaultsStore) throws -> Void) {
        provide { store in
            let store = HandedOver(store)
            self.runOnThread { try body(store.value) }
        }
    }

    /// Runs a body on two fresh stores.
    func withTwoStores(_ body: @escaping @Sendable (any DefaultsStore, any DefaultsStore) throws -> Void) {
        provide { first in
            let first = HandedOver(first)
            self.provide { second in
                let second = HandedOver(second)
                self.runOnThread { try body(first.value, second.value) }
            }
        }
    }

    /// Runs a body on several threads that start together, and returns when all have ended.
    func onThreads(
        _ count: Int,
        sharing store: any DefaultsStore,
        _ body: @escaping @Sendable (any DefaultsStore, _ thread: Int) throws -> Void
    ) {
        let store = HandedOver(store)
        let start = DispatchSemaphore(value: 0)
        let threads = DispatchGroup()
        for index in 0..<count {
            threads.enter()
            startThread {
                start.wait()
                self.noteErrors { try body(store.value, index) }
                threads.leave()
            }
        }
        for _ in 0..<count {
            start.signal()
        }
        threads.wait()
    }

    private func provide(_ body: (any DefaultsStore) -> Void) {
        guard !lock.withLock({ isOver }) else {
            return
        }
        var count = 0
        do {
            try conformance.withStore { store in
                count += 1
                body(store)
            }
        } catch {
            note("The closure that makes stores threw \(type(of: error)): \(error)")
            return
        }
        if count != 1 {
            note("The closure that makes stores called its argument \(count) times, not once.")
        }
    }

    /// Runs a body to its end, or for as long as the caller's patience lasts; whatever still runs then is left alone.
    private func runOnThread(_ body: @escaping @Sendable () throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        startThread {
            self.noteErrors(body)
            done.signal()
        }
        if done.wait(timeout: .now() + conformance.patience) == .timedOut {
            note(
                "The check had not ended after \(conformance.patience) seconds: the store waits, perhaps for a lock that is its own."
            )
            _ = end()
        }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        // As much as a main thread has: some checks go deep, and so may a store.
        thread.stackSize = 8 << 20
        thread.start()
    }

    func noteErrors(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            note("A call that should succeed threw \(type(of: error)): \(error)")
        }
    }
}

/// What is handed to another thread.
struct HandedOver<Value>: @unchecked Sendable {
    // The thread that hands a store over waits until the other one is done with it. Several threads share a store only
    // in checks that require `Capabilities.threads`, with which the caller has said that they may.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

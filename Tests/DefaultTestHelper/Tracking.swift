import Default
import DefaultJournal
import Dispatch
import Foundation
import Observation

/// A thread that changes a value until it is stopped, and counts its changes.
private final class Changer: Sendable {
    private let changes = Atomic<Int>(0)
    private let isStopped = Atomic<Bool>(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// The number of changes that were made, and reported to all who observed the store at the time.
    var count: Int { changes.load() }

    init(of store: MemoryDefaults) {
        Thread {
            while !self.isStopped.load() {
                try? store.set(self.count + 1, forKey: "number")
                self.changes.wrappingAdd(1)
            }
            self.hasEnded.signal()
        }.start()
    }

    /// Waits until the thread has made this many more changes.
    func wait(forChanges number: Int) {
        let end = count + number
        while count < end { sched_yield() }
    }

    func stop() {
        isStopped.store(true)
        hasEnded.wait()
    }
}

/// Tracks one read after the other on several threads, while another thread changes the value, and prints how many
/// reads were never reported as changed.
///
/// A read counts as never reported if a hundred changes have been made after its tracking was installed. In one of
/// eight cases the tracked closure lasts some changes longer than the read, as if the thread had to wait for a
/// processor.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
func printReadsThatAreNeverReported(rounds: Int) {
    let store = MemoryDefaults()
    let changer = Changer(of: store)
    let missed = Atomic<Int>(0)
    let threads = DispatchGroup()
    for _ in 0..<3 {
        threads.enter()
        Thread {
            for round in 0..<rounds {
                let isReported = Locked(false)
                withObservationTracking {
                    let container: KeyValueContainer<Int> = store.makeContainer(key: "number")
                    _ = container.value
                    if round.isMultiple(of: 8) { changer.wait(forChanges: 1 + round / 8 % 4) }
                } onChange: {
                    isReported.withLock { $0 = true }
                }
                let end = changer.count + 100
                while !isReported.withLock({ $0 }), changer.count < end { sched_yield() }
                if !isReported.withLock({ $0 }) { missed.wrappingAdd(1) }
            }
            threads.leave()
        }.start()
    }
    threads.wait()
    changer.stop()
    print("\(missed.load()) of \(3 * rounds)")
}

/// Reads two values each from many sequences of Observation, while another thread changes the value, and prints how
/// many sequences had both.
///
/// If a sequence is never notified, this never ends.
func printSequencesThatGoOn(rounds: Int) -> Never {
    Task.detached {
        let complete = await countSequencesThatGoOn(rounds: rounds)
        printNow("\(complete) of \(rounds)")
        exit(0)
    }
    dispatchMain()
}

private func countSequencesThatGoOn(rounds: Int) async -> Int {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return rounds }
    let store = MemoryDefaults()
    let changer = Changer(of: store)
    var complete = 0
    for _ in 0..<rounds {
        let values = Observations {
            let container: KeyValueContainer<Int> = store.makeContainer(key: "number")
            return container.value
        }
        var iterator = values.makeAsyncIterator()
        if await iterator.next() != nil, await iterator.next() != nil { complete += 1 }
    }
    changer.stop()
    return complete
}

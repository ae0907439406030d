internal import Foundation

/// A queue from any threads to one that waits for what comes.
final class Mailbox<Element: Sendable>: @unchecked Sendable {
    // The elements are used under the condition only.
    private let condition = NSCondition()
    private var elements: [Element] = []

    func post(_ element: Element) {
        condition.withLock {
            elements.append(element)
            condition.signal()
        }
    }

    /// Takes the oldest element; nil when none came before the deadline.
    func next(until deadline: Deadline) -> Element? {
        condition.withLock {
            while elements.isEmpty {
                guard !deadline.hasPassed else { return nil }
                // The date is of a clock that may be set, so what it says is checked by the deadline.
                _ = condition.wait(until: Date(timeIntervalSinceNow: min(deadline.remaining.seconds, 60)))
            }
            return elements.removeFirst()
        }
    }
}

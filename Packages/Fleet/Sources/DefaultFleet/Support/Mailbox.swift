/// A queue from any threads to one that waits for what comes.
final class Mailbox<Element: Sendable>: @unchecked Sendable {
    // The elements are used under the condition only.
    private let condition = MonotonicCondition()
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
                condition.wait(until: deadline)
            }
            return elements.removeFirst()
        }
    }
}

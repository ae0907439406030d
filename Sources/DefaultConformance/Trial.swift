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

    /// Takes no more findings: those of a thread that never ended would come too late.
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
        withStore(of: nil, body)
    }

    /// Runs a body on a fresh store with sources.
    func withStore(
        of sources: StoreConformance.Sources?,
        _ body: @escaping @Sendable (any DefaultsStore) throws -> Void
    ) {
        provide(sources) { store in
            let store = HandedOver(value: store)
            self.runOnThread { try body(store.value) }
        }
    }

    /// Runs a body on two fresh stores.
    func withTwoStores(_ body: @escaping @Sendable (any DefaultsStore, any DefaultsStore) throws -> Void) {
        provide { first in
            let first = HandedOver(value: first)
            self.provide { second in
                let second = HandedOver(value: second)
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
        let store = HandedOver(value: store)
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

    private func provide(_ sources: StoreConformance.Sources? = nil, _ body: (any DefaultsStore) -> Void) {
        guard !lock.withLock({ isOver }) else { return }
        var count = 0
        do {
            let body = { (store: any DefaultsStore) in
                count += 1
                body(store)
            }
            if let sources {
                try conformance.withLayeredStore(sources, body)
            } else {
                try conformance.withStore(body)
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

/// A value that is handed to another thread.
struct HandedOver<Value>: @unchecked Sendable {
    // The thread that hands a store over waits until the other one is done with it. Several threads share a store only
    // in checks that require `Capabilities.threads`, with which the caller has said that they may.
    let value: Value
}

extension Trial {
    /// Notes a finding unless a condition holds.
    func expect(_ condition: Bool, _ details: @autoclosure () -> String) {
        if !condition {
            note(details())
        }
    }

    /// Notes a finding unless a call gave what it should have.
    func expect<Value: Equatable>(_ found: Value, is expected: Value, from call: @autoclosure () -> String) {
        expect(found == expected, "\(call()) gave \(found), not \(expected).")
    }

    /// Notes a finding unless a call gave the stored value that it should have: the same bytes, all the way down.
    func expect(
        _ found: PropertyListValue?,
        is expected: PropertyListValue?,
        from call: @autoclosure () -> String
    ) {
        // Their own == takes 0.0 and -0.0 for equal, and canonically equivalent strings as well.
        expect(
            found?.binaryForm == expected?.binaryForm,
            "\(call()) gave \(Self.describe(found)), not \(Self.describe(expected))."
        )
    }

    /// Notes a finding unless `storedValue(forKey:)` gives what it should.
    func expect(
        _ key: String,
        in store: any DefaultsStore,
        is expected: PropertyListValue?,
        _ circumstances: @autoclosure () -> String
    ) {
        expect(
            store.storedValue(forKey: key),
            is: expected,
            from: "storedValue(forKey: \(Self.describe(key: key))) \(circumstances())"
        )
    }

    /// Notes a finding unless a body throws a `DefaultsError` with a code.
    @discardableResult
    func expect(
        _ code: DefaultsError.Code,
        from call: @autoclosure () -> String,
        _ body: () throws -> Void
    ) -> DefaultsError? {
        do {
            try body()
        } catch let error as DefaultsError {
            expect(error.code == code, "\(call()) threw a DefaultsError with the code \(error.code), not \(code).")
            return error
        } catch {
            note("\(call()) threw \(type(of: error)) (\(error)), not a DefaultsError with the code \(code).")
            return nil
        }
        note("\(call()) threw nothing; it should throw a DefaultsError with the code \(code).")
        return nil
    }

    /// Notes a finding unless a body throws what it was made to throw.
    func expectStop(from call: @autoclosure () -> String, _ body: () throws -> Void) {
        do {
            try body()
        } catch is Stop {
            return
        } catch {
            note("\(call()) threw \(type(of: error)) (\(error)), not what its body threw.")
            return
        }
        note("\(call()) threw nothing, although its body did.")
    }

    /// An error that the checks throw from bodies.
    struct Stop: Error {}
}

extension Trial {
    /// A value with its case, cut off where it gets long.
    static func describe(_ value: PropertyListValue?) -> String {
        guard let value else { return "nil" }
        // Escaped, since strings that look the same may differ.
        let text = "\(value)".unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped(asASCII: true) }.joined()
        return ".\(text.count > 120 ? text.prefix(120) + "…" : text[...])"
    }

    static func describe(key: String) -> String {
        // Escaped, since keys that look the same may differ.
        let text = "\"\(key.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
        return key.utf8.count > 120 ? "\(text.prefix(20))…\" (\(key.utf8.count) bytes)" : text
    }
}

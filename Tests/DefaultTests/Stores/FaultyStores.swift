import Default
import DefaultJournal
import Foundation

/// A store that passes everything on to a `MemoryDefaults`, which keeps all promises; each store below breaks one of
/// them.
protocol FaultyStore: DefaultsStore {
    var base: MemoryDefaults { get }
}

extension FaultyStore {
    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
    }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() throws { base.flush() }
    var storeDescription: String { "Faulty \(base.storeDescription)" }
    func beginExclusiveAccess() throws { base.beginExclusiveAccess() }
    func endExclusiveAccess() { base.endExclusiveAccess() }
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try base.transaction(body) }
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges(handler)
    }
}

/// A store that breaks no promise.
struct FaultlessStore: FaultyStore {
    let base = MemoryDefaults()
}

/// A store that breaks no promise either: observers need not know which keys have changed, and may be notified more
/// than once.
struct NotifiesWithoutKeys: FaultyStore {
    let base = MemoryDefaults()
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges { _ in
            handler(nil)
            handler(nil)
        }
    }
}

// Values

struct BooleansAsNumbers: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if case .boolean(let boolean) = value {
            try base.setStoredValue(.integer(boolean ? 1 : 0), forKey: key)
        } else {
            try base.setStoredValue(value, forKey: key)
        }
    }
}

struct LargeNumbersAsReals: FaultyStore {
    let base = MemoryDefaults()
    func storedValue(forKey key: String) -> PropertyListValue? {
        let value = base.storedValue(forKey: key)
        if case .unsigned(let unsigned) = value {
            return .real(Double(unsigned))
        }
        return value
    }
}

struct ComposedStrings: FaultyStore {
    let base = MemoryDefaults()
    func storedValue(forKey key: String) -> PropertyListValue? {
        let value = base.storedValue(forKey: key)
        if case .string(let string) = value {
            return .string(string.precomposedStringWithCanonicalMapping)
        }
        return value
    }
}

struct ZeroWithoutSign: FaultyStore {
    let base = MemoryDefaults()
    func storedValue(forKey key: String) -> PropertyListValue? {
        let value = base.storedValue(forKey: key)
        return value == .real(0) ? .real(0) : value
    }
}

struct EmptyDataAsNothing: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value == .data(Data()) ? nil : value, forKey: key)
    }
}

struct DatesOfWholeSeconds: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if case .date(let date) = value {
            let seconds = date.timeIntervalSinceReferenceDate.rounded()
            try base.setStoredValue(.date(Date(timeIntervalSinceReferenceDate: seconds)), forKey: key)
        } else {
            try base.setStoredValue(value, forKey: key)
        }
    }
}

/// A store with the limit of a coder that nests less deep.
struct ShallowValuesOnly: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if let value {
            // Inside this array, a value of the maximum depth is one level too deep.
            try PropertyListValue.array([value]).checkDepth(forKey: key, in: self)
        }
        try base.setStoredValue(value, forKey: key)
    }
}

// Changes, keys and refusals

struct OldCaseStays: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if case .date = value, base.storedValue(forKey: key) != nil {
            return
        }
        try base.setStoredValue(value, forKey: key)
    }
}

struct EqualValuesSkipped: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if value == nil || value != base.storedValue(forKey: key) {
            try base.setStoredValue(value, forKey: key)
        }
    }
}

/// A store that takes a key that was removed once for one that has no value.
struct SecondRemovalDropped: FaultyStore {
    let base = MemoryDefaults()
    private let removed = MemoryDefaults()

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if value == nil, removed.storedValue(forKey: key) != nil {
            return
        }
        try base.setStoredValue(value, forKey: key)
        if value == nil {
            try removed.setStoredValue(.boolean(true), forKey: key)
        }
    }
}

/// A store that lists the keys that were set, even after their removal.
struct RemovedKeysListed: FaultyStore {
    let base = MemoryDefaults()
    private let list = MemoryDefaults()

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
        if value != nil {
            try list.setStoredValue(.boolean(true), forKey: key)
        }
    }

    func storedKeys() -> [String] { list.storedKeys() }
}

struct KeysListedTwice: FaultyStore {
    let base = MemoryDefaults()
    func storedKeys() -> [String] { base.storedKeys() + base.storedKeys() }
}

struct FlushThatForgets: FaultyStore {
    let base = MemoryDefaults()
    func flush() throws {
        for key in base.storedKeys() {
            try base.setStoredValue(nil, forKey: key)
        }
    }
}

struct ComposedKeys: FaultyStore {
    let base = MemoryDefaults()
    func storedValue(forKey key: String) -> PropertyListValue? {
        base.storedValue(forKey: key.precomposedStringWithCanonicalMapping)
    }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key.precomposedStringWithCanonicalMapping)
    }
}

struct ShortKeysOnly: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        guard key.utf8.count <= 4_096 else {
            throw DefaultsError(.invalidKey, reason: "The key is too long.", key: key)
        }
        try base.setStoredValue(value, forKey: key)
    }
}

struct InvalidKeysSwallowed: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        do {
            try base.setStoredValue(value, forKey: key)
        } catch DefaultsError.Code.invalidKey {
            // Swallowing the error is the fault.
        }
    }
}

struct DeepValuesCut: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        do {
            try base.setStoredValue(value, forKey: key)
        } catch DefaultsError.Code.unsupportedValue {
            try base.setStoredValue(.array([]), forKey: key)
        }
    }
}

struct RefusedValueRemoves: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        do {
            try base.setStoredValue(value, forKey: key)
        } catch DefaultsError.Code.unsupportedValue {
            try base.setStoredValue(nil, forKey: key)
            try base.setStoredValue(value, forKey: key)
        }
    }
}

struct SpeechlessRefusals: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        do {
            try base.setStoredValue(value, forKey: key)
        } catch DefaultsError.Code.unsupportedValue {
            throw DefaultsError(.unsupportedValue, reason: "That can't be stored.")
        }
    }
}

// The layers above

/// A store that cuts off a settings type's value, but nothing as short as the values of other checks.
struct LongJSONCut: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if case .data(let data) = value, data.first == UInt8(ascii: "{") {
            try base.setStoredValue(.data(data.prefix(16)), forKey: key)
        } else {
            try base.setStoredValue(value, forKey: key)
        }
    }
}

/// A store with exclusive access only for closures, which changes in place are not.
struct AccessThatDoesNotBegin: FaultyStore {
    struct Refusal: Error {}

    let base = MemoryDefaults()
    func beginExclusiveAccess() throws { throw Refusal() }
    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try base.withExclusiveAccess(body)
    }
}

struct ForgetfulStorage: FaultyStore {
    let base = MemoryDefaults()
    func setValue<T: Codable>(_ value: T?, forKey key: String) {}
}

// Exclusive access, transactions and threads

/// A lock that a test can break open.
final class BreakableLock: @unchecked Sendable {
    // Used only under `condition`.
    private var owner: ObjectIdentifier?
    private var depth = 0
    private var isBroken = false
    private let condition = NSCondition()
    private let isRecursive: Bool

    init(isRecursive: Bool = false) {
        self.isRecursive = isRecursive
    }

    func lock() {
        let thread = ObjectIdentifier(Thread.current)
        condition.withLock {
            while depth > 0, !isBroken, !(isRecursive && owner == thread) {
                condition.wait()
            }
            owner = thread
            depth += 1
        }
    }

    func unlock() {
        condition.withLock {
            depth -= 1
            condition.signal()
        }
    }

    /// Lets every thread in from now on, so that none is left waiting.
    func breakOpen() {
        condition.withLock {
            isBroken = true
            condition.broadcast()
        }
    }
}

/// A meeting point of threads, which a test can break open.
final class Meeting: @unchecked Sendable {
    // Both are used only under `condition`.
    private var missing: Int
    private var isBroken = false
    private let condition = NSCondition()

    init(of count: Int) {
        missing = count
    }

    /// Waits until the expected number of threads have come; later ones don't wait.
    func join() {
        condition.withLock {
            missing -= 1
            condition.broadcast()
            while missing > 0, !isBroken {
                condition.wait()
            }
        }
    }

    /// Counts as a participant without waiting.
    func count() {
        condition.withLock {
            missing -= 1
            condition.broadcast()
        }
    }

    /// Lets every thread go on, so that none is left waiting.
    func breakOpen() {
        condition.withLock {
            isBroken = true
            condition.broadcast()
        }
    }
}

struct AccessThatDoesNotNest: FaultyStore {
    let base = MemoryDefaults()
    let lock: BreakableLock
    func beginExclusiveAccess() throws { lock.lock() }
    func endExclusiveAccess() { lock.unlock() }
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try withExclusiveAccess(body) }
}

struct AccessThatStopsReads: FaultyStore {
    let base = MemoryDefaults()
    let lock: BreakableLock
    func beginExclusiveAccess() throws { lock.lock() }
    func endExclusiveAccess() { lock.unlock() }
    func storedValue(forKey key: String) -> PropertyListValue? {
        lock.lock()
        defer { lock.unlock() }
        return base.storedValue(forKey: key)
    }
}

/// A store that lets every thread in, and in which the first two readers go on only when both have read.
struct AccessForAll: FaultyStore {
    let base = MemoryDefaults()
    private let readers = Meeting(of: 2)

    func beginExclusiveAccess() throws {}
    func endExclusiveAccess() {}

    func storedValue(forKey key: String) -> PropertyListValue? {
        let value = base.storedValue(forKey: key)
        readers.join()
        return value
    }
}

/// A store that excludes only threads that ask for exclusive access, and keeps the first of them from reading until
/// another thread has written.
struct WritesThatDoNotWait: FaultyStore {
    let base = MemoryDefaults()
    private let access = BreakableLock(isRecursive: true)
    private let writers = Meeting(of: 3)

    func beginExclusiveAccess() throws { access.lock() }
    func endExclusiveAccess() { access.unlock() }

    func storedValue(forKey key: String) -> PropertyListValue? {
        writers.join()
        return base.storedValue(forKey: key)
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
        writers.count()
    }
}

/// A store that distinguishes keys only by the part after their first period.
struct KeysHashedBadly: FaultyStore {
    let base = MemoryDefaults()
    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: Self.slot(of: key)) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: Self.slot(of: key))
    }

    private static func slot(of key: String) -> String {
        key.firstIndex(of: ".").map { String(key[$0...]) } ?? key
    }
}

struct AccessThatUndoes: FaultyStore {
    let base = MemoryDefaults()
    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try base.transaction(body)
    }
}

struct TransactionThatKeepsAll: FaultyStore {
    let base = MemoryDefaults()
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try withExclusiveAccess(body) }
}

struct TransactionThatWrapsErrors: FaultyStore {
    let base = MemoryDefaults()
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try base.transaction(body)
        } catch {
            throw DefaultsError(.storeFailed, reason: "The transaction failed.", underlyingError: error)
        }
    }
}

// Observers

/// The handlers of a store that calls them itself.
final class Handlers: Sendable {
    private let handlers = Locked<[Int: StoreObservation.Handler]>([:])
    private let count = Locked(0)

    func add(_ handler: @escaping StoreObservation.Handler, onCancel: @escaping @Sendable (Handlers, Int) -> Void)
        -> StoreObservation
    {
        let id = count.withLock { count in
            count += 1
            return count
        }
        handlers.withLock { $0[id] = handler }
        return StoreObservation { onCancel(self, id) }
    }

    func remove(_ id: Int) { handlers.withLock { $0[id] = nil } }
    func removeAll() { handlers.withLock { $0 = [:] } }

    func notify(_ key: String) {
        for handler in handlers.withLock({ Array($0.values) }) {
            handler([key])
        }
    }
}

struct ChangesNotifiedTwice: FaultyStore {
    let base = MemoryDefaults()
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges { keys in
            handler(keys)
            handler(keys)
        }
    }
}

struct RemovalsNotNotified: FaultyStore {
    let base = MemoryDefaults()
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges { [weak base] keys in
            let left = keys?.filter { base?.storedValue(forKey: $0) != nil }
            if left?.isEmpty == false {
                handler(left)
            }
        }
    }
}

struct ChangesNotifiedBefore: FaultyStore {
    let base = MemoryDefaults()
    private let handlers = Handlers()

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        handlers.notify(key)
        try base.setStoredValue(value, forKey: key)
    }

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        handlers.add(handler) { $0.remove($1) }
    }
}

struct CancellationIgnored: FaultyStore {
    let base = MemoryDefaults()
    private let observations = Locked<[StoreObservation]>([])

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = base.observeChanges(handler)
        observations.withLock { $0.append(observation) }
        return StoreObservation {}
    }
}

struct CancellationOfAll: FaultyStore {
    let base = MemoryDefaults()
    private let observations = Locked<[StoreObservation]>([])

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = base.observeChanges(handler)
        observations.withLock { $0.append(observation) }
        return StoreObservation { [observations] in
            for observation in observations.withLock({ $0 }) {
                observation.cancel()
            }
        }
    }
}

/// A store that calls its observers one at a time, under a lock that an observer needs when it changes something.
struct ObserversOneAtATime: FaultyStore {
    let base = MemoryDefaults()
    let lock: BreakableLock

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        base.observeChanges { [lock] keys in
            lock.lock()
            defer { lock.unlock() }
            handler(keys)
        }
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        // Waits until no observer is being called.
        lock.lock()
        lock.unlock()
        try base.setStoredValue(value, forKey: key)
    }
}

/// A store that calls its observers before it has released the lock that a change takes.
struct ObserversUnderLock: FaultyStore {
    let base = MemoryDefaults()
    let lock: BreakableLock
    let writers: Meeting
    private let handlers = Handlers()

    init(lock: BreakableLock, writers: Meeting) {
        self.lock = lock
        self.writers = writers
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        lock.lock()
        defer { lock.unlock() }
        try base.setStoredValue(value, forKey: key)
        writers.join()
        handlers.notify(key)
    }

    func beginExclusiveAccess() throws { lock.lock() }
    func endExclusiveAccess() { lock.unlock() }

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        handlers.add(handler) { $0.remove($1) }
    }
}

/// A store with its own exclusive access, which the default implementation of `observeChanges` doesn't know.
struct ChangesNotifiedInside: DefaultsStore {
    let base = MemoryDefaults()
    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
    }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() throws { base.flush() }
    var storeDescription: String { "Faulty \(base.storeDescription)" }
    func beginExclusiveAccess() throws { base.beginExclusiveAccess() }
    func endExclusiveAccess() { base.endExclusiveAccess() }
}

/// A store that keeps what a body leaves of a value even if the body throws.
struct StepsThatThrowAreMade: FaultyStore {
    let base = MemoryDefaults()
    func updateStoredValue<Result>(
        forKey key: String,
        _ body: (inout PropertyListValue?) throws -> Result
    ) throws -> Result {
        try base.withExclusiveAccess {
            var value = base.storedValue(forKey: key)
            let result = Swift.Result { try body(&value) }
            try base.setStoredValue(value, forKey: key)
            return try result.get()
        }
    }
}

/// A store that undoes a transaction by setting the old values.
struct TransactionUndoneByWrites: FaultyStore {
    let base = MemoryDefaults()
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try base.withExclusiveAccess {
            let before = base.storedKeys().reduce(into: [:]) { $0[$1] = base.storedValue(forKey: $1) }
            do {
                return try body()
            } catch {
                for key in Set(base.storedKeys()).union(before.keys) {
                    try base.setStoredValue(before[key], forKey: key)
                }
                throw error
            }
        }
    }
}

// Identity

struct SharedByAll: FaultyStore {
    let base: MemoryDefaults
}

struct NamelessWhenEmpty: FaultyStore {
    let base = MemoryDefaults()
    var storeDescription: String { base.storedKeys().isEmpty ? "" : "Faulty \(base.storeDescription)" }
}

struct OneNameForAll: FaultyStore {
    let base = MemoryDefaults()
    var storeDescription: String { "Faulty" }
}

// Stores for which the kit must come to an end

struct NeverNotifies: FaultyStore {
    let base = MemoryDefaults()
    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation { StoreObservation {} }
}

/// A store in which no call returns while another thread or process has the lock.
struct NeverReturns: FaultyStore {
    private let store = MemoryDefaults()
    let lock: BreakableLock

    init(lock: BreakableLock) {
        self.lock = lock
    }

    var base: MemoryDefaults {
        lock.lock()
        defer { lock.unlock() }
        return store
    }
}

/// A store that stores a value once, and notifies of all later ones.
struct FirstValueStays: FaultyStore {
    let base = MemoryDefaults()
    private let handlers = Handlers()

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        if base.storedValue(forKey: key) == nil {
            try base.setStoredValue(value, forKey: key)
        }
        handlers.notify(key)
    }

    func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        handlers.add(handler) { $0.remove($1) }
    }
}

/// A store that throws errors with a long description, on all threads.
struct Verbose: FaultyStore {
    let base = MemoryDefaults()
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        throw DefaultsError(.storeFailed, reason: String(repeating: "The disk is full. ", count: 5_000), key: key)
    }
}

import Default
import Foundation

/// Passes everything on to a `MemoryDefaults`, which keeps all promises; the stores below each break one.
protocol FaultyStore: DefaultsStore {
    var base: MemoryDefaults { get }
}

extension FaultyStore {
    func object(forKey key: String) -> Any? { base.object(forKey: key) }
    func data(forKey key: String) -> Data? { base.data(forKey: key) }
    func set(_ value: Any?, forKey key: String) throws { try base.set(value, forKey: key) }
    func removeObject(forKey key: String) throws { try base.removeObject(forKey: key) }
    func dictionaryRepresentation() -> [String: Any] { base.dictionaryRepresentation() }
    func synchronize() throws -> Bool { base.synchronize() }
    func storedKeys() -> [String] { base.storedKeys() }
    var storeDescription: String { "Faulty \(base.storeDescription)" }
    func beginExclusiveAccess() throws { base.beginExclusiveAccess() }
    func endExclusiveAccess() { base.endExclusiveAccess() }
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try base.transaction(body) }
}

/// Breaks no promise.
struct FaultlessStore: FaultyStore {
    let base = MemoryDefaults()
}

// Values

struct BooleansAsNumbers: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        if let boolean = value as? Bool {
            try base.set(boolean ? 1 : 0, forKey: key)
        } else {
            try base.set(value, forKey: key)
        }
    }
}

struct LargeNumbersAsReals: FaultyStore {
    let base = MemoryDefaults()
    func object(forKey key: String) -> Any? {
        let object = base.object(forKey: key)
        if let unsigned = object as? UInt {
            return Double(unsigned)
        }
        return object
    }
}

struct ComposedStrings: FaultyStore {
    let base = MemoryDefaults()
    func object(forKey key: String) -> Any? {
        let object = base.object(forKey: key)
        return (object as? String)?.precomposedStringWithCanonicalMapping ?? object
    }
}

struct StringsAsData: FaultyStore {
    let base = MemoryDefaults()
    func data(forKey key: String) -> Data? {
        base.data(forKey: key) ?? (base.object(forKey: key) as? String).map { Data($0.utf8) }
    }
}

/// Keeps what it is given in a cache, and gives it back as it is by then.
final class ReferencesKept: FaultyStore {
    let base = MemoryDefaults()
    private var arrays: [String: NSMutableArray] = [:]

    func set(_ value: Any?, forKey key: String) throws {
        arrays[key] = value as? NSMutableArray
        try base.set(value, forKey: key)
    }

    func object(forKey key: String) -> Any? {
        if let array = arrays[key] {
            return array.map { $0 }
        }
        return base.object(forKey: key)
    }
}

/// Has a cache of spelled-out values that removals don't reach.
final class StaleFastPath: FaultyStore {
    let base = MemoryDefaults()
    private var cache: [String: PropertyListValue] = [:]

    func propertyListValue(forKey key: String) -> PropertyListValue? {
        cache[key] = base.propertyListValue(forKey: key) ?? cache[key]
        return cache[key]
    }
}

/// Keeps `Data` in a place of its own, which other types don't clear.
final class DataElsewhere: FaultyStore {
    let base = MemoryDefaults()
    private let bytes = MemoryDefaults()

    func set(_ data: Data, forKey key: String) throws { try bytes.set(data, forKey: key) }
    func data(forKey key: String) -> Data? { bytes.data(forKey: key) ?? base.data(forKey: key) }
}

// Changes and refusals

struct RemovalsDropped: FaultyStore {
    let base = MemoryDefaults()
    func removeObject(forKey key: String) throws {
        if key.isEmpty || key.utf8.count > 65_535 || key.utf8.contains(0) {
            try base.removeObject(forKey: key)
        }
    }
}

struct OldTypeStays: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        if value is Date, base.object(forKey: key) != nil {
            return
        }
        try base.set(value, forKey: key)
    }
}

struct SynchronizesFalse: FaultyStore {
    let base = MemoryDefaults()
    func synchronize() throws -> Bool { false }
}

struct ComposedKeys: FaultyStore {
    let base = MemoryDefaults()
    func object(forKey key: String) -> Any? { base.object(forKey: key.precomposedStringWithCanonicalMapping) }
    func data(forKey key: String) -> Data? { base.data(forKey: key.precomposedStringWithCanonicalMapping) }
    func set(_ value: Any?, forKey key: String) throws {
        try base.set(value, forKey: key.precomposedStringWithCanonicalMapping)
    }
    func removeObject(forKey key: String) throws {
        try base.removeObject(forKey: key.precomposedStringWithCanonicalMapping)
    }
}

struct ShortKeysOnly: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        guard key.utf8.count <= 4_096 else {
            throw DefaultsError(.invalidKey, reason: "The key is too long.", key: key)
        }
        try base.set(value, forKey: key)
    }
}

struct InvalidKeysSwallowed: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        do {
            try base.set(value, forKey: key)
        } catch DefaultsError.Code.invalidKey {
            // That is the fault.
        }
    }
}

struct UnsupportedValuesDescribed: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        do {
            try base.set(value, forKey: key)
        } catch {
            guard error.code == .unsupportedValue else {
                throw error
            }
            try base.set(value.map { "\(type(of: $0))" }, forKey: key)
        }
    }
}

struct FailedSetRemoves: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        try base.removeObject(forKey: key)
        try base.set(value, forKey: key)
    }
}

struct SpeechlessRefusals: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: Any?, forKey key: String) throws {
        do {
            try base.set(value, forKey: key)
        } catch DefaultsError.Code.unsupportedValue {
            throw DefaultsError(.unsupportedValue, reason: "That can't be stored.")
        }
    }
}

// Listings and what stands above

struct NothingListed: FaultyStore {
    let base = MemoryDefaults()
    func dictionaryRepresentation() -> [String: Any] { [:] }
}

final class RemovedKeysListed: FaultyStore {
    let base = MemoryDefaults()
    private var keys: Set<String> = []

    func set(_ value: Any?, forKey key: String) throws {
        try base.set(value, forKey: key)
        keys.insert(key)
    }

    func storedKeys() -> [String] { Array(keys) }
}

struct ForgetfulStorage: FaultyStore {
    let base = MemoryDefaults()
    func setValue<T: Codable>(_ value: T?, forKey key: String) {}
}

/// Has room for what a typed key or a container stores, but not for the bytes of a settings type.
struct TruncatedData: FaultyStore {
    let base = MemoryDefaults()
    func set(_ data: Data, forKey key: String) throws { try base.set(data.prefix(16), forKey: key) }
}

struct TypedWritesLost: FaultyStore {
    let base = MemoryDefaults()
    func set(_ value: PropertyListValue, forKey key: String) throws {}
}

// Exclusive access, transactions and threads

/// A lock that is not recursive, and that a test can break open.
final class PlainLock: @unchecked Sendable {
    // Both are reached under `condition` only.
    private var isHeld = false
    private var isBroken = false
    private let condition = NSCondition()

    func lock() {
        condition.withLock {
            while isHeld && !isBroken {
                condition.wait()
            }
            isHeld = true
        }
    }

    func unlock() {
        condition.withLock {
            isHeld = false
            condition.signal()
        }
    }

    /// Lets everybody in from now on, so that no thread is left waiting.
    func breakOpen() {
        condition.withLock {
            isBroken = true
            condition.broadcast()
        }
    }
}

struct AccessThatDoesNotNest: FaultyStore {
    let base = MemoryDefaults()
    let lock: PlainLock
    func beginExclusiveAccess() throws { lock.lock() }
    func endExclusiveAccess() { lock.unlock() }
    func transaction<Result>(_ body: () throws -> Result) throws -> Result { try withExclusiveAccess(body) }
}

struct AccessThatStopsReads: FaultyStore {
    let base = MemoryDefaults()
    let lock: PlainLock
    func beginExclusiveAccess() throws { lock.lock() }
    func endExclusiveAccess() { lock.unlock() }
    func data(forKey key: String) -> Data? {
        lock.lock()
        defer { lock.unlock() }
        return base.data(forKey: key)
    }
}

/// Lets everybody in, and the first two readers go on only once both have read.
final class AccessForAll: FaultyStore {
    let base = MemoryDefaults()
    private let readers = NSCondition()
    private var readerCount = 0

    func beginExclusiveAccess() throws {}
    func endExclusiveAccess() {}

    func object(forKey key: String) -> Any? {
        let object = base.object(forKey: key)
        readers.withLock {
            readerCount += 1
            readers.broadcast()
            while readerCount < 2 {
                readers.wait()
            }
        }
        return object
    }
}

/// Tells keys apart by what follows their first period.
struct KeysHashedBadly: FaultyStore {
    let base = MemoryDefaults()
    func object(forKey key: String) -> Any? { base.object(forKey: Self.slot(of: key)) }
    func set(_ value: Any?, forKey key: String) throws { try base.set(value, forKey: Self.slot(of: key)) }

    private static func slot(of key: String) -> String {
        key.firstIndex(of: ".").map { String(key[$0...]) } ?? key
    }
}

struct AccessThatUndoes: FaultyStore {
    let base = MemoryDefaults()
    func beginExclusiveAccess() throws { base.beginExclusiveAccess() }
    func endExclusiveAccess() {
        try? base.removeObject(forKey: "k")
        base.endExclusiveAccess()
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

// Identity

struct SharedByAll: FaultyStore {
    let base: MemoryDefaults
}

struct NamelessStore: FaultyStore {
    let base = MemoryDefaults()
    var storeDescription: String { "" }
}

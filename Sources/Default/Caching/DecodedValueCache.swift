internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Caches which stored bytes can be decoded as a type, and the values they decode to, for this process.
///
/// Before a stored value is replaced, it has to be decoded, because undecodable bytes are quarantined. A read of unchanged
/// bytes need not decode them again. Both results depend only on the bytes and the type, as long as a built-in coder decodes
/// them. So an entry never becomes stale, even when other processes write to the store, and entries need not be separate for
/// each store: two stores that share a type and a key only cause additional decoding. The cache holds the latest bytes for
/// each type and key, unless they share a slot with another type and key: then it holds the latest of both.
///
/// A decoded value is cached when the same bytes are read for the second time, if ``ValueSemantics`` finds that two decoded
/// values are interchangeable. So values that are read only once between writes are never inspected.
///
/// The same holds for values that the bytes can only be turned into with changes, and for errors. A value of this kind that
/// may be shared takes the place of the decoded one, as an entry that says so.
final class DecodedValueCache: Sendable {
    private static let ofProcess = PerProcess { DecodedValueCache() }

    #if DEBUG
    /// The cache of a test that counts decodings: in that of the process, the tests beside it may take its slots.
    @TaskLocal static var ofTest: DecodedValueCache?

    /// The cache of the process.
    static var shared: DecodedValueCache { ofTest ?? ofProcess.current }
    #else
    /// The cache of the process.
    static var shared: DecodedValueCache { ofProcess.current }
    #endif

    /// The number of slots, each for one entry: several times as many as the keys of a program.
    static let capacity = 4_096

    private struct EntryKey {
        let type: ObjectIdentifier
        let key: String

        init(_ key: String, _ type: Any.Type) {
            self.type = ObjectIdentifier(type)
            self.key = key
        }

        /// The slot of the entry.
        ///
        /// A dictionary would take four times as long for this, a sixth of a read. Its protection against keys that were
        /// chosen to collide isn't needed: they only cause additional decoding.
        var slot: Int {
            let seed = UInt64(UInt(bitPattern: type))
            let hash = key.utf8.withContiguousStorageIfAvailable { Self.hash(UnsafeRawBufferPointer($0), seed: seed) }
            return Int(truncatingIfNeeded: hash ?? UInt64(bitPattern: Int64(key.hashValue))) & (capacity - 1)
        }

        /// The hash FNV-1a of Fowler, Noll and Vo, eight bytes at a time, with the upper bits folded in at the end.
        private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
            var hash = seed
            var offset = 0
            while offset + 8 <= bytes.count {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x100_0000_01B3
                offset += 8
            }
            while offset < bytes.count {
                hash = (hash ^ UInt64(bytes[offset])) &* 0x100_0000_01B3
                offset += 1
            }
            hash ^= hash >> 32
            return hash ^ hash >> 12
        }
    }

    private enum Knowledge {
        /// The bytes can be decoded.
        case decodable
        /// They were decoded for one read.
        case read
        /// They were read again, and reads may share the value of the ``SharedEntry``.
        case shared
        /// The same, while another key has the value of the entry's ``Condition``.
        case sharedConditionally
        /// They were read again, and each read needs its own value.
        case unshared
        /// They can't be decoded.
        case failed(any Error)
    }

    /// What a value depends on besides its bytes.
    final class Condition: Sendable {
        /// Another key of the store.
        let key: String
        /// The value that is stored under it; nil for none.
        let value: PropertyListValue?

        init(key: String, value: PropertyListValue?) { (self.key, self.value) = (key, value) }
    }

    /// Thrown when there is no shared value; see ``value(of:forKey:where:)``.
    struct NotShared: Error {}

    private class Entry: @unchecked Sendable {
        // Entries are immutable. A value is stored only if it shares no mutable state.
        let key: EntryKey
        let bytes: Data
        let knowledge: Knowledge
        /// Whether the bytes are decoded as they are.
        let isExact: Bool
        /// Whether the type knows everything that is in the bytes.
        let isComplete: Bool

        init(_ key: EntryKey, _ bytes: Data, _ knowledge: Knowledge, isExact: Bool = true, isComplete: Bool) {
            (self.key, self.bytes, self.knowledge) = (key, bytes, knowledge)
            (self.isExact, self.isComplete) = (isExact, isComplete)
        }

        /// The same entry for bytes that turned out to be complete.
        func completed() -> Entry { Entry(key, bytes, knowledge, isComplete: true) }

        func isAbout(_ other: EntryKey) -> Bool { key.type == other.type && key.key == other.key }
    }

    private final class SharedEntry<Value>: Entry, @unchecked Sendable {
        let value: Value
        let condition: Condition?

        init(
            _ key: EntryKey,
            _ bytes: Data,
            value: Value,
            condition: Condition? = nil,
            isExact: Bool = true,
            isComplete: Bool
        ) {
            (self.value, self.condition) = (value, condition)
            let knowledge = condition == nil ? Knowledge.shared : .sharedConditionally
            super.init(key, bytes, knowledge, isExact: isExact, isComplete: isComplete)
        }

        override func completed() -> Entry {
            SharedEntry(key, bytes, value: value, condition: condition, isComplete: true)
        }
    }

    private let entries = SharedGuarded<[Entry?]>(Array(repeating: nil, count: capacity))

    /// Whether bytes are known to be decodable as they are.
    func contains(_ data: Data, of type: Any.Type, forKey key: String) -> Bool {
        entry(of: data, forKey: EntryKey(key, type))?.isExact ?? false
    }

    /// Lets reads share a value that the bytes are turned into, or what is known of bytes that are read as a type.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - data: The bytes.
    ///   - type: The type that they are read as.
    ///   - key: The key they are stored under.
    ///   - condition: What has to hold for that; nil if it depends only on the bytes.
    func share<Value>(
        _ value: Value,
        of data: Data,
        as type: Any.Type = Value.self,
        forKey key: String,
        while condition: Condition? = nil
    ) {
        let key = EntryKey(key, type)
        let known = entry(of: data, forKey: key)
        let (isExact, isComplete) = (known?.isExact ?? false, known?.isComplete ?? false)
        set(SharedEntry(key, data, value: value, condition: condition, isExact: isExact, isComplete: isComplete))
    }

    /// The value that reads share while another key has a value, or none.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key they are stored under.
    ///   - isMet: Whether the other key has that value.
    /// - Returns: The value.
    /// - Throws: ``NotShared`` when there is none, or the other key has another value. An optional would be slower.
    func value<Value>(
        of data: Data,
        forKey key: String,
        where isMet: (Condition) -> Bool
    ) throws(NotShared) -> Value {
        guard let entry = entry(of: data, forKey: EntryKey(key, Value.self)),
            case .sharedConditionally = entry.knowledge
        else { throw NotShared() }
        // The entry's key determines the type.
        let shared = unsafeDowncast(entry, to: SharedEntry<Value>.self)
        guard let condition = shared.condition, isMet(condition) else { throw NotShared() }
        return shared.value
    }

    /// What is known of bytes that are read as a type; nil when nothing is.
    func sharedValue<Value>(of data: Data, as type: Any.Type, forKey key: String) -> Value? {
        (entry(of: data, forKey: EntryKey(key, type)) as? SharedEntry<Value>)?.value
    }

    /// Whether bytes are known to be decodable as they are, and to have nothing that the type doesn't know.
    func isComplete(_ data: Data, of type: Any.Type, forKey key: String) -> Bool {
        entry(of: data, forKey: EntryKey(key, type))?.isComplete ?? false
    }

    /// Records that bytes can be decoded as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: The type.
    ///   - key: The key they are stored under.
    ///   - isComplete: Whether they are known to have nothing that the type doesn't know.
    func insert(_ data: Data, of type: Any.Type, forKey key: String, isComplete: Bool = false) {
        let key = EntryKey(key, type)
        guard let entry = entry(of: data, forKey: key) else {
            return set(Entry(key, data, .decodable, isComplete: isComplete))
        }
        if isComplete, entry.isExact, !entry.isComplete {
            set(entry.completed())
        }
    }

    /// Removes the entry for a key, to free its memory.
    func remove(_ key: String, of type: Any.Type) {
        let key = EntryKey(key, type)
        let slot = key.slot
        if entries.read({ $0[slot]?.isAbout(key) ?? false }) {
            entries.withLock { $0[slot] = nil }
        }
    }

    /// The value that bytes decode to: the shared one if there is one, otherwise a new one.
    ///
    /// - Parameters:
    ///   - data: The bytes. They are retained and share their storage with the store's.
    ///   - key: The key they are stored under.
    ///   - isLasting: Whether the same bytes will always have this error; never by default.
    ///   - decode: Decodes the bytes with a built-in coder.
    /// - Returns: The value.
    /// - Throws: Any error that `decode` throws.
    func value<Value>(
        of data: Data,
        forKey key: String,
        isLasting: (any Error) -> Bool = { _ in false },
        decode: () throws -> Value
    ) throws -> Value {
        let key = EntryKey(key, Value.self)
        let entry = entry(of: data, forKey: key)
        if let entry, case .shared = entry.knowledge {
            // The entry's key determines the type. A checked cast would dominate the cost of a read.
            return unsafeDowncast(entry, to: SharedEntry<Value>.self).value
        }
        if case .failed(let error)? = entry?.knowledge { throw error }
        let value: Value
        do {
            value = try decode()
        } catch {
            if isLasting(error) {
                set(Entry(key, data, .failed(error), isExact: false, isComplete: false))
            }
            throw error
        }
        let isComplete = entry?.isComplete ?? false
        switch entry?.knowledge {
        case nil, .decodable:
            set(Entry(key, data, .read, isComplete: isComplete))
        case .read:
            let areInterchangeable = try ValueSemantics.areInterchangeable(value, decode())
            set(
                areInterchangeable
                    ? SharedEntry(key, data, value: value, isComplete: isComplete)
                    : Entry(key, data, .unshared, isComplete: isComplete)
            )
        case .shared, .sharedConditionally, .unshared, .failed:
            break
        }
        return value
    }

    private func entry(of data: Data, forKey key: EntryKey) -> Entry? {
        let slot = key.slot
        return entries.read { entries in
            guard let entry = entries[slot], entry.isAbout(key),
                haveSameRepresentation(entry.bytes, data) || entry.bytes.isSame(as: data)
            else { return nil }
            return entry
        }
    }

    private func set(_ entry: Entry) {
        let slot = entry.key.slot
        entries.withLock { $0[slot] = entry }
    }
}

/// A value protected by a lock that readers share.
final class SharedGuarded<Value>: @unchecked Sendable {
    // `value` is only accessed under `lock`, which excludes overlapping accesses. Exclusivity checks would take a fifth of a
    // read of unchanged settings.
    private let lock = SharedLock()
    @exclusivity(unchecked) private var value: Value

    init(_ value: Value) { self.value = value }

    /// Calls a body with the value, concurrently with other readers; the body should be short.
    func read<Result>(_ body: (borrowing Value) -> Result) -> Result {
        let token = lock.lockShared()
        defer { lock.unlockShared(token) }
        return body(value)
    }

    /// Calls a body that changes the value, with exclusive access.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}

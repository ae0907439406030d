internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Caches which stored bytes can be decoded as a type, and the values they decode to, for this process.
///
/// Before a stored value is replaced, it has to be decoded, because undecodable bytes are quarantined. A read of
/// unchanged bytes need not decode them again. Both results depend only on the bytes and the type, as long as a
/// built-in coder decodes them. So an entry never becomes stale, even when other processes write to the store. The
/// cache holds the latest bytes for each store, type and key.
///
/// A decoded value is cached when the same bytes are read for the second time, if ``ValueSemantics`` finds that two
/// decoded values are interchangeable. So values that are read only once between writes are never inspected.
///
/// The same holds for values that the bytes can only be turned into with changes, and for errors. A value of this kind
/// that may be shared takes the place of the decoded one, as an entry that says so.
struct DecodedValueCache: Sendable {
    private static let ofProcess = PerProcess { SharedLocked(Table()) }

    /// The table of a cache of its own; nil for the process's, which threads that read at once use without counting.
    private let own: SharedLocked<Table>?
    /// The store that the entries are about.
    private let store: UInt

    #if DEBUG
    /// The cache of a test that counts decodings; the entries of other tests don't displace its own.
    @TaskLocal static var ofTest: DecodedValueCache?
    #endif

    /// An empty cache for one store.
    init() { self.init(SharedLocked(Table()), of: 0) }

    private init(_ own: SharedLocked<Table>?, of store: UInt) { (self.own, self.store) = (own, store) }

    /// The process's cache for a store.
    static func of(_ store: any DefaultsStore) -> DecodedValueCache {
        let store = identity(of: store)
        #if DEBUG
        if let ofTest { return DecodedValueCache(ofTest.own, of: store) }
        #endif
        return DecodedValueCache(nil, of: store)
    }

    private func withTable<Result>(_ body: (borrowing SharedLocked<Table>) -> Result) -> Result {
        if let own { return body(own) }
        return Self.ofProcess.withCurrent { body($0.state) }
    }

    /// A number for a store: the address of an object, or a part of a value.
    ///
    /// It need not be unique. Two stores with one number only cause additional decoding, as does one that has another
    /// number the next time. A cast to `AnyObject` would take as long as a read (400 ns instead of 3).
    private static func identity<Store: DefaultsStore>(of store: Store) -> UInt {
        guard MemoryLayout<Store>.size >= MemoryLayout<UInt>.size else { return 0 }
        return withUnsafeBytes(of: store) { $0.load(as: UInt.self) }
    }

    private struct EntryKey {
        let store: UInt
        let type: ObjectIdentifier
        let key: String
        let hash: Int

        init(_ key: String, _ type: Any.Type, in store: UInt) {
            (self.store, self.type, self.key) = (store, ObjectIdentifier(type), key)
            let seed = UInt64(UInt(bitPattern: self.type)) ^ UInt64(store) &* 0x9E37_79B9_7F4A_7C15
            // The hash of the standard library would take four times as long, a sixth of a read. Its protection against
            // keys that were chosen to collide isn't needed: they are the program's own.
            let hash = key.utf8.withContiguousStorageIfAvailable {
                FNV1a.hashByWords(UnsafeRawBufferPointer($0), seed: seed)
            }
            self.hash = Int(truncatingIfNeeded: hash ?? seed ^ UInt64(bitPattern: Int64(key.hashValue)))
        }

        static func == (lhs: EntryKey, rhs: EntryKey) -> Bool {
            lhs.hash == rhs.hash && lhs.store == rhs.store && lhs.type == rhs.type && lhs.key == rhs.key
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

    /// A dependency of a value besides its bytes: the value of another key.
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

    /// The entries, in a hash table with open addressing and linear probing, of which at most half is used.
    private struct Table {
        private var slots: [Entry?] = Array(repeating: nil, count: 16)
        private var count = 0

        private var mask: Int { slots.count - 1 }

        /// The index of the slot of an entry, or of the free one for it.
        private func index(of key: EntryKey) -> Int {
            var index = key.hash & mask
            while let entry = slots[index], !(entry.key == key) {
                index = (index + 1) & mask
            }
            return index
        }

        func entry(for key: EntryKey) -> Entry? { slots[index(of: key)] }

        mutating func insert(_ entry: Entry) {
            var index = index(of: entry.key)
            if slots[index] == nil {
                // This may move all entries, so the free slot is looked for again.
                makeRoom()
                index = self.index(of: entry.key)
                count += 1
            }
            slots[index] = entry
        }

        /// Makes room for one more entry; if there are too many, all others are forgotten.
        private mutating func makeRoom() {
            guard 2 * (count + 1) > slots.count else { return }
            let entries = slots
            let isFull = count >= DecodedValueCache.capacity
            slots = Array(repeating: nil, count: isFull ? 16 : 2 * entries.count)
            if isFull {
                count = 0
                return
            }
            for case let entry? in entries {
                slots[index(of: entry.key)] = entry
            }
        }

        mutating func remove(_ key: EntryKey) {
            var free = index(of: key)
            guard slots[free] != nil else { return }
            slots[free] = nil
            count -= 1
            // An entry that probing would no longer reach moves up to the slot that became free.
            var index = (free + 1) & mask
            while let entry = slots[index] {
                let home = entry.key.hash & mask
                if (index - home) & mask >= (index - free) & mask {
                    slots.swapAt(free, index)
                    free = index
                }
                index = (index + 1) & mask
            }
        }
    }

    /// The number of entries that the process keeps at most: more than the keys of five hundred suites.
    static let capacity = 16_384

    /// Whether bytes are known to be decodable as they are.
    func contains(_ data: Data, of type: Any.Type, forKey key: String) -> Bool {
        entry(of: data, forKey: EntryKey(key, type, in: store))?.isExact ?? false
    }

    /// Lets reads share a value that the bytes are turned into, or remembers the outcome of reading them as a type.
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
        let key = EntryKey(key, type, in: store)
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
        guard let entry = entry(of: data, forKey: EntryKey(key, Value.self, in: store)),
            case .sharedConditionally = entry.knowledge
        else { throw NotShared() }
        // The entry's key determines the type.
        let shared = unsafeDowncast(entry, to: SharedEntry<Value>.self)
        guard let condition = shared.condition, isMet(condition) else { throw NotShared() }
        return shared.value
    }

    /// The remembered outcome of reading bytes as a type; nil for none.
    func sharedValue<Value>(of data: Data, as type: Any.Type, forKey key: String) -> Value? {
        (entry(of: data, forKey: EntryKey(key, type, in: store)) as? SharedEntry<Value>)?.value
    }

    /// Whether bytes are known to be decodable as they are, and to have nothing that the type doesn't know.
    func isComplete(_ data: Data, of type: Any.Type, forKey key: String) -> Bool {
        entry(of: data, forKey: EntryKey(key, type, in: store))?.isComplete ?? false
    }

    /// Records that bytes can be decoded as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: The type.
    ///   - key: The key they are stored under.
    ///   - isComplete: Whether they are known to have nothing that the type doesn't know.
    func insert(_ data: Data, of type: Any.Type, forKey key: String, isComplete: Bool = false) {
        let key = EntryKey(key, type, in: store)
        guard let entry = entry(of: data, forKey: key) else {
            return set(Entry(key, data, .decodable, isComplete: isComplete))
        }
        if isComplete, entry.isExact, !entry.isComplete {
            set(entry.completed())
        }
    }

    /// Removes the entry for a key, to free its memory.
    func remove(_ key: String, of type: Any.Type) {
        let key = EntryKey(key, type, in: store)
        withTable { table in
            if table.read({ $0.entry(for: key) != nil }) {
                table.withLock { $0.remove(key) }
            }
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
        let key = EntryKey(key, Value.self, in: store)
        let entry = entry(of: data, forKey: key)
        if let entry, case .shared = entry.knowledge {
            // The entry's key determines the type. A checked cast would dominate the cost of a read.
            return unsafeDowncast(entry, to: SharedEntry<Value>.self).value
        }
        // The same bytes fail in the same way, so they are not decoded again.
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
            // Most values are read once between two writes, so the first read compares nothing.
            set(Entry(key, data, .read, isComplete: isComplete))
        case .read:
            // The second read of the same bytes pays for another decoding, so that later ones may need none.
            let areInterchangeable = try ValueSemantics.areInterchangeable(value, decode())
            set(
                areInterchangeable
                    ? SharedEntry(key, data, value: value, isComplete: isComplete)
                    : Entry(key, data, .unshared, isComplete: isComplete)
            )
        case .shared, .sharedConditionally, .unshared, .failed:
            // This read needs its own value, or there is a condition, which the caller has not looked at.
            break
        }
        return value
    }

    private func entry(of data: Data, forKey key: EntryKey) -> Entry? {
        let entry = withTable { table in table.read { $0.entry(for: key) } }
        guard let entry, haveSameRepresentation(entry.bytes, data) || entry.bytes.isSame(as: data) else { return nil }
        return entry
    }

    private func set(_ entry: Entry) { withTable { table in table.withLock { $0.insert(entry) } } }
}

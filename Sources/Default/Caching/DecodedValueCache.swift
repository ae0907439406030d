internal import Foundation

/// Caches which stored bytes can be decoded as a type, and the values they decode to, for this process.
///
/// Before a stored value is replaced, it has to be decoded, because undecodable bytes are quarantined. A read of unchanged
/// bytes need not decode them again. Both results depend only on the bytes and the type, as long as a built-in coder decodes
/// them. So an entry never becomes stale, even when other processes write to the store, and entries need not be separate for
/// each store: two stores that share a type and a key only cause additional decoding. The cache holds the latest bytes for
/// each type and key.
///
/// A decoded value is cached when the same bytes are read for the second time, if ``ValueSemantics`` finds that two decoded
/// values are interchangeable. So values that are read only once between writes are never inspected.
final class DecodedValueCache: Sendable {
    /// The cache of the process; tests create others.
    static let shared = DecodedValueCache()

    /// The maximum number of entries, enough for the keys of a program; when it is exceeded, all entries are removed.
    static let capacity = 4_096

    private struct EntryKey: Hashable {
        let type: ObjectIdentifier
        let key: StoreKey

        init(_ key: String, _ type: Any.Type) {
            self.type = ObjectIdentifier(type)
            self.key = StoreKey(unchecked: key)
        }
    }

    private enum Knowledge {
        /// The bytes can be decoded.
        case decodable
        /// They were decoded for one read.
        case read
        /// They were read again, and reads may share the value of the ``SharedEntry``.
        case shared
        /// They were read again, and each read needs its own value.
        case unshared
    }

    private class Entry: @unchecked Sendable {
        // Entries are immutable. A value is stored only if it shares no mutable state.
        let bytes: Data
        let knowledge: Knowledge

        init(_ bytes: Data, _ knowledge: Knowledge) {
            self.bytes = bytes
            self.knowledge = knowledge
        }
    }

    private final class SharedEntry<Value>: Entry, @unchecked Sendable {
        let value: Value

        init(_ bytes: Data, value: Value) {
            self.value = value
            super.init(bytes, .shared)
        }
    }

    private let entries = SharedGuarded<[EntryKey: Entry]>([:])

    /// Whether bytes are known to be decodable.
    func contains(_ data: Data, of type: Any.Type, forKey key: String) -> Bool {
        entry(of: data, forKey: EntryKey(key, type)) != nil
    }

    /// Records that bytes can be decoded.
    func insert(_ data: Data, of type: Any.Type, forKey key: String) {
        let key = EntryKey(key, type)
        if entry(of: data, forKey: key) == nil {
            set(Entry(data, .decodable), forKey: key)
        }
    }

    /// Removes the entry for a key, to free its memory.
    func remove(_ key: String, of type: Any.Type) {
        let key = EntryKey(key, type)
        if entries.read({ $0[key] != nil }) {
            entries.withLock { $0[key] = nil }
        }
    }

    /// The value that bytes decode to: the shared one if there is one, otherwise a new one.
    ///
    /// - Parameters:
    ///   - data: The bytes. They are retained and share their storage with the store's.
    ///   - key: The key they are stored under.
    ///   - decode: Decodes the bytes with a built-in coder.
    /// - Returns: The value.
    /// - Throws: Any error that `decode` throws.
    func value<Value>(of data: Data, forKey key: String, decode: () throws -> Value) throws -> Value {
        let key = EntryKey(key, Value.self)
        let entry = entry(of: data, forKey: key)
        if let entry, entry.knowledge == .shared {
            // The entry's key determines the type. A checked cast would dominate the cost of a read.
            return unsafeDowncast(entry, to: SharedEntry<Value>.self).value
        }
        let value = try decode()
        switch entry?.knowledge {
        case nil, .decodable:
            set(Entry(data, .read), forKey: key)
        case .read:
            let areInterchangeable = try ValueSemantics.areInterchangeable(value, decode())
            set(areInterchangeable ? SharedEntry(data, value: value) : Entry(data, .unshared), forKey: key)
        case .shared, .unshared:
            break
        }
        return value
    }

    private func entry(of data: Data, forKey key: EntryKey) -> Entry? {
        entries.read { entries in
            guard let entry = entries[key], haveSameRepresentation(entry.bytes, data) || entry.bytes == data else {
                return nil
            }
            return entry
        }
    }

    private func set(_ entry: Entry, forKey key: EntryKey) {
        entries.withLock { entries in
            if entries.count >= Self.capacity, entries[key] == nil {
                entries = [:]
            }
            entries[key] = entry
        }
    }
}

internal import Foundation

/// What this process knows of stored contents: that they can be decoded as a type, and what they decode to.
///
/// Before a value is replaced, what is stored has to be decoded: bytes that can't be are quarantined. And reading what hasn't
/// changed need not decode it again. Both follow from the bytes and the type alone, as long as a built-in coder decodes them;
/// so no entry can become wrong, whoever writes to the store, and stores need not be distinguished: two that share a type
/// and a key only cost each other a decoding. For each type and key the content that was last
/// seen is known.
///
/// A decoded value is kept when the same bytes are read for the second time, if ``ValueSemantics`` finds that two decodings
/// are interchangeable. So values that are read once between writes cost no look at them.
final class DecodedValueCache: Sendable {
    /// The cache that is used; others are for tests.
    static let shared = DecodedValueCache()

    /// Enough for the keys of a program; when there are more, all entries are dropped.
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
        /// They were decoded for a reader.
        case read
        /// They were read again, and readers may share the value of the ``SharedEntry``.
        case shared
        /// They were read again, and each reader needs its own value.
        case unshared
    }

    private class Entry: @unchecked Sendable {
        // Never changes; a value is kept only if it shares nothing that could be changed.
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

    /// Notes that bytes can be decoded.
    func insert(_ data: Data, of type: Any.Type, forKey key: String) {
        let key = EntryKey(key, type)
        if entry(of: data, forKey: key) == nil {
            set(Entry(data, .decodable), forKey: key)
        }
    }

    /// Drops what is known, so that the memory is free.
    func remove(_ key: String, of type: Any.Type) {
        let key = EntryKey(key, type)
        if entries.read({ $0[key] != nil }) {
            entries.withLock { $0[key] = nil }
        }
    }

    /// What bytes decode to: a value that readers share, if there is one, else a new one.
    ///
    /// - Parameters:
    ///   - data: The bytes; they are kept, shared with the store that gave them.
    ///   - key: The key they are stored under.
    ///   - decode: Decodes the bytes with a built-in coder.
    /// - Returns: The value.
    /// - Throws: What `decode` throws.
    func value<Value>(of data: Data, forKey key: String, decode: () throws -> Value) throws -> Value {
        let key = EntryKey(key, Value.self)
        let entry = entry(of: data, forKey: key)
        if let entry, entry.knowledge == .shared {
            // The entry's key has the type. A checked cast would be most of the cost of a read.
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

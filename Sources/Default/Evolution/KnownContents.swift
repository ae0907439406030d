internal import DefaultJournal
internal import Foundation

/// What this process knows of stored contents: that they can be decoded as a type, and what they decode to.
///
/// Before a value is replaced, what is stored has to be looked at: bytes that can't be decoded are kept aside. And reading what
/// hasn't changed need not decode it again. Both follow from the bytes and the type alone; so what is known here can't
/// become wrong, whoever writes to the store, and stores need not be told apart: two that share a type and a key only
/// cost each other a decode.
///
/// Each type has its own, see ``KnownType``; in it, each key has the content that was last known.
final class KnownContents: Sendable {
    /// Enough for the keys of a type; when there are more, all of them are looked at anew.
    static let capacity = 256
    /// Longer contents are known by their digests, unless their values are kept as well.
    static let longest = 16_384

    /// What is known of the content under one key.
    ///
    /// Immutable, so that comparing takes no copies: those cost more than what is compared.
    private class Entry: @unchecked Sendable {
        let key: StoreKey
        private let bytes: Data
        /// Of contents that are too long to be kept.
        private let digest: (count: Int, ContentDigest)?
        /// Whether this is a ``DecodedEntry``.
        let isDecoded: Bool

        init(key: StoreKey, bytes: Data, isDecoded: Bool = false) {
            self.key = key
            self.bytes = bytes
            digest = nil
            self.isDecoded = isDecoded
        }

        init(key: StoreKey, digestOf data: Data) {
            self.key = key
            bytes = Data()
            digest = (data.count, ContentDigest(data))
            isDecoded = false
        }

        func isAbout(_ data: Data) -> Bool {
            guard let digest else {
                return bytes.isSame(as: data)
            }
            return digest == (data.count, ContentDigest(data))
        }
    }

    /// The same, with what the bytes were decoded to: a value that shares nothing which could be changed.
    private final class DecodedEntry<Value>: Entry, @unchecked Sendable {
        let value: Value

        init(_ value: Value, of bytes: Data, key: StoreKey) {
            self.value = value
            super.init(key: key, bytes: bytes, isDecoded: true)
        }
    }

    /// Used under `lock`, alone by whoever changes it.
    private final class State: @unchecked Sendable {
        @exclusivity(unchecked)
        private(set) var entries: [StoreKey: Entry] = [:]
        /// The one added last, which is among the entries: most types have one.
        ///
        /// Counting references to it would make threads that read the same settings wait for each other.
        @exclusivity(unchecked)
        private var latest: Unmanaged<Entry>?

        func entry(for key: StoreKey) -> Unmanaged<Entry>? {
            if let latest, latest._withUnsafeGuaranteedRef({ $0.key == key }) {
                return latest
            }
            return entries[key].map(Unmanaged.passUnretained)
        }

        func add(_ entry: Entry) {
            if entries.count >= KnownContents.capacity, entries[entry.key] == nil {
                entries = [:]
            }
            entries[entry.key] = entry
            latest = .passUnretained(entry)
        }

        func remove(_ key: StoreKey) {
            latest = nil
            entries[key] = nil
        }
    }

    private let lock = SharedLock()
    private let state = State()

    /// Whether bytes are known to be decodable.
    func isKnown(_ data: Data, forKey key: String) -> Bool {
        // Compared after the lock: long contents take a while.
        entry(for: StoreKey(unchecked: key))?.isAbout(data) ?? false
    }

    private func entry(for key: StoreKey) -> Entry? {
        let turn = lock.lockShared()
        defer { lock.unlockShared(turn) }
        return state.entry(for: key)?.takeUnretainedValue()
    }

    /// Takes note of bytes that can be decoded.
    func note(_ data: Data, forKey key: String) {
        guard !isKnown(data, forKey: key) else {
            return
        }
        let key = StoreKey(unchecked: key)
        add(data.count <= Self.longest ? Entry(key: key, bytes: data) : Entry(key: key, digestOf: data))
    }

    /// Forgets what is known, so that the memory is free.
    func forget(_ key: String) {
        lock.lock()
        defer { lock.unlock() }
        state.remove(StoreKey(unchecked: key))
    }

    /// What bytes decode to: the value that was made of them before, if it may be given again, else a new one.
    ///
    /// - Parameters:
    ///   - data: The bytes; they are kept, shared with the store that gave them.
    ///   - key: The key they are stored under.
    ///   - decode: Makes a value of the type that these contents belong to.
    /// - Returns: The value.
    /// - Throws: What `decode` throws.
    func value<Value>(of data: Data, forKey key: String, decode: () throws -> Value) throws -> Value {
        do {
            let turn = lock.lockShared()
            defer { lock.unlockShared(turn) }
            if let known = state.entry(for: StoreKey(unchecked: key)),
                known._withUnsafeGuaranteedRef({ $0.isDecoded && $0.isAbout(data) })
            {
                // Each type has contents of its own.
                return known._withUnsafeGuaranteedRef { unsafeDowncast($0, to: DecodedEntry<Value>.self).value }
            }
        }
        let value = try decode()
        if PlainValues.isPlain(value) {
            add(DecodedEntry(value, of: data, key: StoreKey(unchecked: key)))
        } else {
            note(data, forKey: key)
        }
        return value
    }

    private func add(_ entry: Entry) {
        lock.lock()
        defer { lock.unlock() }
        state.add(entry)
    }

    var count: Int {
        let turn = lock.lockShared()
        defer { lock.unlockShared(turn) }
        return state.entries.count
    }
}

extension Data {
    /// Whether these are the same bytes, without looking at them where both are the same `Data`, bit for bit.
    fileprivate func isSame(as other: Data) -> Bool {
        isBitwiseCopy(self, of: other) || self == other
    }
}

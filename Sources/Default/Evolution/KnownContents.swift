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

    /// What stands for contents that are too long to be kept.
    private struct Digest: Equatable {
        private let count: Int
        private let digest: ContentDigest

        /// Nil for contents that are kept themselves.
        init?(_ data: Data) {
            guard data.count > KnownContents.longest else {
                return nil
            }
            count = data.count
            digest = ContentDigest(data)
        }
    }

    /// What is known of the content under one key; used under `lock`, as ``State`` is.
    private class Entry: @unchecked Sendable {
        let key: StoreKey
        /// Whether this is a ``DecodedEntry`` whose value is that of the content.
        @exclusivity(unchecked)
        private(set) var isDecoded: Bool
        @exclusivity(unchecked)
        private var bytes: Data
        @exclusivity(unchecked)
        private var digest: Digest?

        init(_ bytes: Data, _ digest: Digest?, key: StoreKey, isDecoded: Bool = false) {
            self.key = key
            self.isDecoded = isDecoded
            self.bytes = digest == nil ? bytes : Data()
            self.digest = digest
        }

        func set(_ bytes: Data, _ digest: Digest?) {
            self.bytes = digest == nil ? bytes : Data()
            self.digest = digest
            isDecoded = false
        }

        func isAbout(_ data: Data, _ digest: Digest?) -> Bool {
            if let own = self.digest {
                return own == digest
            }
            return bytes.isSame(as: data)
        }
    }

    /// The same, with what the bytes it began with were decoded to: a value that shares nothing which could be changed.
    private final class DecodedEntry<Value>: Entry, @unchecked Sendable {
        let value: Value

        init(_ value: Value, of bytes: Data, key: StoreKey) {
            self.value = value
            super.init(bytes, nil, key: key, isDecoded: true)
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
        // Made before the lock is taken: it takes a while.
        let digest = Digest(data)
        let turn = lock.lockShared()
        defer { lock.unlockShared(turn) }
        return state.entry(for: StoreKey(unchecked: key))?._withUnsafeGuaranteedRef { $0.isAbout(data, digest) }
            ?? false
    }

    /// Takes note of bytes that can be decoded.
    func note(_ data: Data, forKey key: String) {
        let digest = Digest(data)
        let key = StoreKey(unchecked: key)
        lock.lock()
        defer { lock.unlock() }
        guard let known = state.entry(for: key)?.takeUnretainedValue() else {
            return state.add(Entry(data, digest, key: key))
        }
        if !known.isDecoded || !known.isAbout(data, digest) {
            known.set(data, digest)
        }
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
                known._withUnsafeGuaranteedRef({ $0.isDecoded && $0.isAbout(data, nil) })
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

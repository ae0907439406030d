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

    private enum Content {
        case bytes(Data)
        case digest(count: Int, ContentDigest)
        /// The value is a ``DecodedValue``.
        case value(Data, any AnyObject & Sendable)
    }

    private final class Entry {
        let key: StoreKey
        var content: Content

        init(key: StoreKey, content: Content) {
            self.key = key
            self.content = content
        }
    }

    private struct State {
        /// The one asked for last: most types have one.
        var latest: Entry?
        var entries: [StoreKey: Entry] = [:]

        mutating func entry(for key: StoreKey) -> Entry? {
            if let latest, latest.key == key {
                return latest
            }
            guard let entry = entries[key] else {
                return nil
            }
            latest = entry
            return entry
        }

        mutating func set(_ content: Content, for key: StoreKey) {
            if let entry = entry(for: key) {
                entry.content = content
                return
            }
            if entries.count >= KnownContents.capacity {
                entries = [:]
            }
            let entry = Entry(key: key, content: content)
            entries[key] = entry
            latest = entry
        }
    }

    private let state = Guarded(State())

    /// Whether bytes are known to be decodable.
    func isKnown(_ data: Data, forKey key: String) -> Bool {
        state.withLock { state in
            switch state.entry(for: StoreKey(unchecked: key))?.content {
            case nil: false
            case .bytes(let bytes), .value(let bytes, _): bytes.isSame(as: data)
            case .digest(let count, let digest): count == data.count && digest == ContentDigest(data)
            }
        }
    }

    /// Takes note of bytes that can be decoded.
    func note(_ data: Data, forKey key: String) {
        guard data.count <= Self.longest else {
            if !isKnown(data, forKey: key) {
                let digest = Content.digest(count: data.count, ContentDigest(data))
                state.withLock { $0.set(digest, for: StoreKey(unchecked: key)) }
            }
            return
        }
        state.withLock { state in
            let key = StoreKey(unchecked: key)
            if case .value(let bytes, _) = state.entry(for: key)?.content, bytes.isSame(as: data) {
                return
            }
            state.set(.bytes(data), for: key)
        }
    }

    /// Forgets what is known, so that the memory is free.
    func forget(_ key: String) {
        state.withLock { state in
            state.entries[StoreKey(unchecked: key)] = nil
            state.latest = nil
        }
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
        if let known = knownValue(of: data, forKey: key) {
            // Each type has contents of its own.
            return unsafeDowncast(known, to: DecodedValue<Value>.self).value
        }
        let value = try decode()
        if PlainValues.isPlain(value) {
            let known = Content.value(data, DecodedValue(value))
            state.withLock { $0.set(known, for: StoreKey(unchecked: key)) }
        } else {
            note(data, forKey: key)
        }
        return value
    }

    private func knownValue(of data: Data, forKey key: String) -> (any AnyObject & Sendable)? {
        state.withLock { state in
            guard case .value(let bytes, let value) = state.entry(for: StoreKey(unchecked: key))?.content,
                bytes.isSame(as: data)
            else {
                return nil
            }
            return value
        }
    }

    var count: Int { state.withLock { $0.entries.count } }
}

/// A value that shares nothing which could be changed.
private final class DecodedValue<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Data {
    /// Whether these are the same bytes, without looking at them where both are the same `Data`, bit for bit.
    fileprivate func isSame(as other: Data) -> Bool {
        let isCopy = Swift.withUnsafeBytes(of: self) { own in
            Swift.withUnsafeBytes(of: other) { memcmp(own.baseAddress!, $0.baseAddress!, own.count) == 0 }
        }
        return isCopy || self == other
    }
}

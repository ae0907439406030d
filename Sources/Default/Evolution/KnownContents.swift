internal import DefaultJournal
internal import Foundation

/// What this process knows of stored contents: that they can be decoded as a type, and what they decode to.
///
/// Before a value is replaced, what is stored has to be looked at: bytes that can't be decoded are kept aside. And reading what
/// hasn't changed need not decode it again. Both follow from the bytes and the type alone; so what is known here can't
/// become wrong, whoever writes to the store, and stores need not be told apart: two that share a type and a key only
/// cost each other a decode.
final class KnownContents: Sendable {
    static let shared = KnownContents()

    /// Enough for the settings types and keys of a program; when there are more, all of them are looked at anew.
    static let capacity = 256

    private let types = Guarded<[ObjectIdentifier: TypeContents]>([:])

    /// What is known for a type and a key.
    func content(for type: Any.Type, forKey key: String) -> KnownContent {
        let id = ObjectIdentifier(type)
        let contents = types.withLock { types in
            if let contents = types[id] {
                return contents
            }
            if types.count >= Self.capacity {
                types = [:]
            }
            let contents = TypeContents()
            types[id] = contents
            return contents
        }
        return contents.content(forKey: key)
    }

    /// Forgets what is known, so that the memory is free.
    func forget(_ type: Any.Type, forKey key: String) {
        types.withLock { $0[ObjectIdentifier(type)] }?.forget(key)
    }

    var count: Int { types.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}

/// The contents of one type, by key.
private final class TypeContents: Sendable {
    private struct State {
        /// The one asked for last: most types have one.
        var latest: (key: StoreKey, content: KnownContent)?
        var contents: [StoreKey: KnownContent] = [:]
    }

    private let state = Guarded(State())

    var count: Int { state.withLock { $0.contents.count } }

    func content(forKey key: String) -> KnownContent {
        let key = StoreKey(unchecked: key)
        return state.withLock { state in
            if let latest = state.latest, latest.key == key {
                return latest.content
            }
            if state.contents[key] == nil, state.contents.count >= KnownContents.capacity {
                state.contents = [:]
            }
            let content = state.contents[key] ?? KnownContent()
            state.contents[key] = content
            state.latest = (key, content)
            return content
        }
    }

    func forget(_ key: String) {
        state.withLock { state in
            state.contents[StoreKey(unchecked: key)] = nil
            state.latest = nil
        }
    }
}

/// The content last known to be decodable as one type, under one key.
final class KnownContent: Sendable {
    /// Longer contents are known by their digests, unless their values are kept as well.
    static let longest = 16_384

    private enum State {
        case nothing
        case bytes(Data)
        case digest(count: Int, ContentDigest)
        /// The value is a ``DecodedValue``.
        case value(Data, any AnyObject & Sendable)
    }

    private let state = Guarded(State.nothing)

    /// Whether bytes are known to be decodable.
    func isKnown(_ data: Data) -> Bool {
        state.withLock { state in
            switch state {
            case .nothing: false
            case .bytes(let bytes), .value(let bytes, _): bytes.isSame(as: data)
            case .digest(let count, let digest): count == data.count && digest == ContentDigest(data)
            }
        }
    }

    /// Takes note of bytes that can be decoded.
    func note(_ data: Data) {
        guard !isKnown(data) else {
            return
        }
        let new: State = data.count > Self.longest ? .digest(count: data.count, ContentDigest(data)) : .bytes(data)
        state.withLock { $0 = new }
    }

    /// What bytes decode to: the value that was made of them before, if it may be given again, else a new one.
    ///
    /// - Parameters:
    ///   - data: The bytes; they are kept, shared with the store that gave them.
    ///   - decode: Makes a value of the type that this content was asked for.
    /// - Returns: The value.
    /// - Throws: What `decode` throws.
    func value<Value>(of data: Data, decode: () throws -> Value) throws -> Value {
        let known: (any AnyObject & Sendable)? = state.withLock { state in
            guard case .value(let bytes, let value) = state, bytes.isSame(as: data) else {
                return nil
            }
            return value
        }
        if let known {
            // Each type has contents of its own.
            return unsafeDowncast(known, to: DecodedValue<Value>.self).value
        }
        let value = try decode()
        if PlainValues.isPlain(value) {
            state.withLock { $0 = .value(data, DecodedValue(value)) }
        } else {
            note(data)
        }
        return value
    }
}

/// A value that shares nothing which could be changed.
private final class DecodedValue<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Data {
    fileprivate func isSame(as other: Data) -> Bool {
        count == other.count && withUnsafeBytes { own in other.withUnsafeBytes { own.isSame(as: $0) } }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the same bytes, without comparing them where they stand in the same place: what shares its place
    /// with something that is still held has not been changed.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return start == others || memcmp(start, others, count) == 0
    }
}

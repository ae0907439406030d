internal import DefaultJournal
internal import Foundation

/// What this process knows to be decodable: the contents that it last wrote or read for a type and a key.
///
/// Before a value is replaced, what is stored has to be looked at: bytes that can't be decoded are kept aside. Decoding
/// them at each write would double its cost, so they are compared with the last ones known to be good. Whether bytes can
/// be decoded follows from the bytes and the type alone; so what is known here can't become wrong, whoever writes to the
/// store, and stores need not be told apart: two that share a type and a key only cost each other a decode.
final class KnownContents: Sendable {
    static let shared = KnownContents()

    /// Enough for the settings types of a program; when there are more, all of them are looked at anew.
    static let capacity = 256

    private struct Place: Hashable {
        let type: ObjectIdentifier
        let key: StoreKey
    }

    private let slots = Guarded<[Place: KnownContent]>([:])

    /// What is known for a type and a key.
    func content(for type: Any.Type, forKey key: String) -> KnownContent {
        let place = Place(type: ObjectIdentifier(type), key: StoreKey(unchecked: key))
        return slots.withLock { slots in
            if let slot = slots[place] {
                return slot
            }
            if slots.count >= Self.capacity {
                slots = [:]
            }
            let slot = KnownContent()
            slots[place] = slot
            return slot
        }
    }

    /// Forgets what is known, so that the memory is free.
    func forget(_ type: Any.Type, forKey key: String) {
        _ = slots.withLock {
            $0.removeValue(forKey: Place(type: ObjectIdentifier(type), key: StoreKey(unchecked: key)))
        }
    }

    var count: Int { slots.withLock { $0.count } }
}

/// The content last known to be decodable as one type, under one key.
final class KnownContent: Sendable {
    /// Longer contents are known by their digests.
    static let longest = 16_384

    private enum State {
        case nothing
        case bytes(Data)
        case digest(count: Int, ContentDigest)
    }

    private let state = Guarded(State.nothing)

    /// Whether bytes are known to be decodable.
    func isKnown(_ data: Data) -> Bool {
        state.withLock { state in
            switch state {
            case .nothing: false
            case .bytes(let bytes): bytes == data
            case .digest(let count, let digest): count == data.count && digest == ContentDigest(data)
            }
        }
    }

    /// Takes note of bytes that can be decoded.
    func note(_ data: Data) {
        let new: State = data.count > Self.longest ? .digest(count: data.count, ContentDigest(data)) : .bytes(data)
        state.withLock { $0 = new }
    }
}

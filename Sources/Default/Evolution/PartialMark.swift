#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The mark beside bytes that are only a part of a value.
///
/// A write stores what differs from what other layers say. Where those can't be read any more, what is missing is that
/// of the default value, also of an optional property, which would be read as nil otherwise. And it is no news.
enum PartialMark {
    /// Whether bytes are marked.
    static func isPartial(_ data: Data, beside key: String, in store: any DefaultsStore) -> Bool {
        guard case .string(let digest)? = store.ownValue(forKey: CompanionKey.partial(of: key)) else { return false }
        return digest == ContentDigest(data).text
    }

    /// Whether a value is a mark, and not one of the program's own.
    static func isMark(_ value: PropertyListValue?) -> Bool {
        guard case .string(let text)? = value else { return false }
        return text.utf8.count == 16 && UInt64(text, radix: 16) != nil
    }

    /// Whether another mark, or none, is beside bytes than they are to have.
    ///
    /// - Throws: `typeMismatch` if they are to have one, and something else has its key.
    static func differs(
        _ mark: PropertyListValue?,
        beside key: String,
        of type: Any.Type,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> Bool {
        let markKey = CompanionKey.partial(of: key)
        let present = store.ownValue(forKey: markKey)
        guard present == nil || isMark(present) else {
            if mark == nil { return false }
            let context = ErrorContext(markKey, type, in: store)
            throw .companionKeyOccupied(purpose: "the mark of a part of a value", context)
        }
        return !present.isSame(as: mark)
    }

    /// The mark for bytes.
    static func mark(of data: Data) -> PropertyListValue { .string(ContentDigest(data).text) }
}

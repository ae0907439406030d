internal import DefaultJournal

/// What all sources of a store say at one time; it never changes.
final class SourceSnapshot: Sendable {
    /// What one source says.
    struct Layer: Sendable {
        let origin: DefaultsOrigin
        let values: [StoreKey: PropertyListValue]
        /// The variables, if the source is the environment.
        var variables: EnvironmentVariables?
        /// Why a mandatory source can't be used; nil for all others.
        var fault: DefaultsError?

        func value(for key: StoreKey) -> PropertyListValue? { values[key] ?? variables?.value(forKey: key.string) }

        /// Whether texts of this source may stand for other values.
        var isText: Bool { variables != nil || [.argument, .override].contains(origin.kind) }
    }

    /// The layers above what is stored, the highest first.
    let above: [Layer]
    /// The layers below it, the highest first.
    let below: [Layer]
    /// Why a mandatory source can't be used, so that nothing may be written; nil if all can.
    let fault: DefaultsError?
    /// Whether no source says anything.
    var isEmpty: Bool { remembered == nil }
    /// What layers above this one remember as long as the sources say the same; nil if they say nothing.
    let remembered: SharedLocked<[RememberedKey: any AnyObject & Sendable]>?

    let keysAbove: KeyEnds
    private let keysBelow: KeyEnds

    /// What something is remembered for.
    struct RememberedKey: Hashable {
        let type: ObjectIdentifier
        let key: StoreKey?
    }

    init(above: [Layer], below: [Layer]) {
        (self.above, self.below) = (above, below)
        (keysAbove, keysBelow) = (KeyEnds(above), KeyEnds(below))
        fault = above.lazy.compactMap(\.fault).first
        remembered = keysAbove.isEmpty && keysBelow.isEmpty && fault == nil ? nil : SharedLocked([:])
    }

    /// The value that hides a stored one.
    func valueAbove(_ key: StoreKey) -> PropertyListValue? { keysAbove.mayContain(key) ? Self.first(above, key) : nil }

    /// The value that is read while nothing is stored.
    func valueBelow(_ key: StoreKey) -> PropertyListValue? { keysBelow.mayContain(key) ? Self.first(below, key) : nil }

    private static func first(_ layers: [Layer], _ key: StoreKey) -> PropertyListValue? {
        for layer in layers {
            if let value = layer.value(for: key) { return value }
        }
        return nil
    }

    /// The mandatory layer that has a value for a key; nil if there is none.
    func mandatoryLayer(for key: StoreKey) -> Layer? {
        guard keysAbove.mayContain(key) else { return nil }
        return above.first { $0.origin.kind == .mandatory && $0.value(for: key) != nil }
    }

    /// Whether a source may say something of settings under one of some keys.
    func mayMention(_ identifiers: [String]) -> Bool {
        if isEmpty { return false }
        return identifiers.contains { identifier in
            let key = StoreKey(unchecked: identifier)
            return (above + below).contains { $0.values[key] != nil || $0.variables?.mayMention(identifier) == true }
        }
    }
}

/// The first and the last characters of some keys: most others differ in them, so that one look tells most keys that
/// no source has.
struct KeyEnds {
    fileprivate var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }

    fileprivate init(bits: UInt64) { self.bits = bits }

    init(_ layers: [SourceSnapshot.Layer]) {
        for layer in layers {
            for key in layer.values.keys { bits |= Self.bit(of: key) }
            for name in (layer.variables?.values ?? [:]).keys { bits |= Self.bit(of: StoreKey(unchecked: name)) }
        }
    }

    func mayContain(_ key: StoreKey) -> Bool { bits != 0 && bits & Self.bit(of: key) != 0 }

    private static func bit(of key: StoreKey) -> UInt64 {
        key.withUTF8 { utf8 in
            guard let first = utf8.first, let last = utf8.last else { return 1 }
            return 1 << ((folded(first) &* 31 &+ folded(last)) & 63)
        }
    }

    /// A character as it is in a variable's name, without its case.
    private static func folded(_ byte: UInt8) -> UInt64 {
        let isAlphanumeric =
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte >= 0x80
        return UInt64(isAlphanumeric ? byte | 0x20 : 0)
    }
}

/// ``KeyEnds`` that are replaced while others look at them.
struct AtomicKeyEnds: ~Copyable, Sendable {
    private let bits = Atomic<UInt64>(0)

    func load() -> KeyEnds { KeyEnds(bits: bits.load()) }

    func store(_ ends: KeyEnds) { bits.store(ends.bits) }
}

internal import Default
internal import Foundation

/// Where in the cluster a suite is.
struct SuiteKeys: Hashable, Sendable {
    /// Before each of the suite's own keys.
    let prefix: Data
    /// The key of the store's identity.
    let store: Data
    /// A key that is changed for its revision only; see ``Heartbeat``.
    let pulse: Data
    /// A key that exists while a host fills the suite from its copy: whose turn it is.
    let seed: Data
    /// Before the names of writers, whose markers say what each has written last.
    private let markers: Data

    init(suiteName: String) {
        let base = "defaults/\(suiteName)/"
        prefix = Data((base + "k/").utf8)
        store = Data((base + "store").utf8)
        pulse = Data((base + "pulse").utf8)
        seed = Data((base + "seed").utf8)
        markers = Data((base + "w/").utf8)
    }

    init(validating suiteName: String, store: String) throws(DefaultsError) {
        guard (1...190).contains(suiteName.utf8.count), !suiteName.utf8.contains(0), !suiteName.utf8.contains(0x2F)
        else {
            throw DefaultsError(
                .invalidSuiteName,
                reason: "A suite's name has 1 to 190 bytes of UTF-8, no slash and no NUL.",
                store: store
            )
        }
        self.init(suiteName: suiteName)
    }

    /// The key after the suite's last one.
    var prefixEnd: Data { Self.successor(of: prefix) }

    /// The key after the store's identity: what is watched, from the first of the suite's keys on, includes the pulse
    /// and the identity, but no markers.
    var watchEnd: Data { store + [0] }

    /// Where a key's value is.
    func key(_ key: String) -> Data { prefix + Data(key.utf8) }

    /// Whether a place is one of the suite's own keys.
    ///
    /// What is watched has places of other data: those between the suite's last key and the store's identity.
    func contains(_ place: Data) -> Bool { place.starts(with: prefix) }

    /// The key whose value is at a place; nil for places of other data, and for names that are not valid keys.
    func key(at place: Data) -> StoreKey? {
        guard contains(place), let name = String(validating: place.dropFirst(prefix.count), as: UTF8.self),
            name != Replica.stateKey
        else {
            return nil
        }
        return try? StoreKey(name)
    }

    func marker(of writer: String) -> Data { markers + Data(writer.utf8) }

    private static func successor(of prefix: Data) -> Data {
        var end = prefix
        // It ends with a slash, so there is a next byte.
        end[end.index(before: end.endIndex)] += 1
        return end
    }
}

import Default
import Foundation
import Testing

private struct Track: Codable, Equatable {
    var title = ""
}

/// `Track` in the next release.
private struct Track2: Codable, Equatable {
    var title = ""
    var rating: Int?
}

private enum Side: String, Codable, CodingKeyRepresentable {
    case left, right
}

@Suite("Typed keys and containers over several releases", .ownCache)
struct KeyReleaseTests {
    private func json(_ store: any DefaultsStore, _ key: String) -> String {
        store.data(forKey: key).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test(
        "keep what only a newer release knows, in the value and in elements that are written back",
        arguments: StoreKind.allCases
    )
    func unknownFields(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let defaults = Defaults(suite: store)
            let (old, new) = (
                Defaults.Key<Track>("track", default: Track()), Defaults.Key<Track2>("track", default: Track2())
            )
            defaults[new] = Track2(title: "a", rating: 5)
            defaults[old].title = "b"
            defaults[old].title += "c"
            #expect(defaults[new] == Track2(title: "bc", rating: 5))
            defaults[old] = Track(title: "d")
            #expect(defaults[new] == Track2(title: "d", rating: 5))
            try #expect(defaults.quarantined(old).isEmpty)

            let (list, newList) = (
                Defaults.Key<[Track]>("list", default: []), Defaults.Key<[Track2]>("list", default: [])
            )
            defaults[newList] = [Track2(title: "a", rating: 1), Track2(title: "b", rating: 2)]
            defaults[list].append(Track(title: "c"))
            #expect(defaults[newList].map(\.rating) == [1, 2, nil])
            // The rating of a changed element has no place any more.
            defaults[list][0].title = "A"
            #expect(defaults[newList].map(\.rating) == [nil, 2, nil])
            #expect(try defaults.quarantined(list).count == 1)
        }
    }

    @Test("keep it when the value has to be filled in too")
    func filledIn() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let key = Defaults.Key<Track>("track", default: Track(title: "default"))
        try store.set(Data(#"{"rating":3}"#.utf8), forKey: "track")
        EventCollector().collect {
            #expect(defaults[key] == Track(title: "default"))
            defaults[key].title = "x"
        }
        #expect(json(store, "track") == #"{"rating":3,"title":"x"}"#)
        #expect(try defaults.quarantined(key).isEmpty)
    }

    @Test("read a dictionary by strings as one by an enum whose cases are names")
    func dictionaryByEnum() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        defaults[Defaults.Key<[String: Int]>("sizes", default: [:])] = ["left": 1, "right": 2]
        defaults[Defaults.Key<[String: Track]>("tracks", default: [:])] = ["left": Track(title: "l")]
        let sizes = Defaults.Key<[Side: Int]>("sizes", default: [:])
        let tracks = Defaults.Key<[Side: Track]>("tracks", default: [:])
        #expect(defaults[sizes] == [.left: 1, .right: 2])
        #expect(defaults[tracks] == [.left: Track(title: "l")])
        defaults[sizes][.left] = 3
        #expect(defaults[sizes] == [.left: 3, .right: 2])
        #expect(try defaults.quarantined(sizes).isEmpty)
    }
}

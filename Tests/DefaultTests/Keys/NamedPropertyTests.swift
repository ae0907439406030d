import Default
import Foundation
import Testing

private enum Theme: String, Codable { case light, dark }

private struct Track: Codable, Equatable { var title: String }

private struct Player {
    @Stored("volume") var volume = 0.5
    @Stored("theme") var theme = Theme.light
    @Stored("tracks") var tracks = [Track(title: "first")]
    @Stored("names") var names: [String] = []
    @Stored("nickname") var nickname: String?
    @Stored("icon") var icon: URL?
}

extension Defaults.Keys {
    fileprivate static let volume = Key<Double>("volume")
    fileprivate static let theme = Key<Theme>("theme", default: .light)
    fileprivate static let tracks = Key<[Track]>("tracks")
    fileprivate static let nickname = Key<String?>("nickname")
    fileprivate static let name = Key<String>("name")
}

@Suite("A stored property that names its key")
struct NamedPropertyTests {
    @Test("has its initial value as its default, and stores as a typed key does")
    func standardStore() {
        let store = MemoryDefaults()
        withDefaults(store) {
            let player = Player()
            #expect(player.volume == 0.5 && player.theme == .light && player.tracks.count == 1)
            #expect(player.nickname == nil && player.icon == nil && store.storedKeys() == [])
            player.volume += 0.25
            player.theme = .dark
            player.tracks.append(Track(title: "second"))
            player.names.append("a")
            player.nickname = "otto"
            player.icon = URL(string: "https://example.org")
            #expect(store.storedValue(forKey: "volume") == 0.75 && store.storedValue(forKey: "theme") == "dark")
            #expect(
                store.storedValue(forKey: "names") == ["a"]
                    && store.storedValue(forKey: "icon") == "https://example.org"
            )
            #expect(Defaults[.volume] == 0.75 && Defaults[.theme] == .dark && Defaults[.nickname] == "otto")
            #expect(Defaults[.tracks] == [Track(title: "first"), Track(title: "second")])
            player.nickname = nil
            #expect(store.storedValue(forKey: "nickname") == nil)
        }
    }

    @Test("is kept in the store that it names")
    func givenStore() {
        let store = MemoryDefaults(["level": 3])
        struct Game {
            @Stored<Int, any DefaultsStore> var level: Int
            @Stored<String?, any DefaultsStore> var title: String?
            init(_ store: MemoryDefaults) {
                _level = Stored(wrappedValue: 1, "level", suite: store)
                _title = Stored("title", suite: store)
            }
        }
        let game = Game(store)
        game.level += 1
        game.title = "x"
        #expect(store.integer(forKey: "level") == 4 && store.string(forKey: "title") == "x")
    }

    @Test("may be called like a property of keys, as a key may")
    func keyCalledName() {
        withDefaults(MemoryDefaults()) {
            Defaults[.name] = "otto"
            #expect(Defaults[.name] == "otto")
        }
    }
}

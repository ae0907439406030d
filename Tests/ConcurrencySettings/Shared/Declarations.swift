// Compiled in each test target beside this folder, with the concurrency settings that an app can have. The test is that
// it compiles.
import Default
import Foundation
import Observation

struct Item: Codable, Hashable {
    var name = "a"
    static let standard = Item()
}

enum Theme: String {
    case light
    case dark
}

enum Mode: String, Codable {
    case slow
    case fast
}

struct Sides: OptionSet {
    let rawValue: Int
    static let left = Sides(rawValue: 1)
}

struct Color: PropertyListConvertible {
    var name: String

    init(name: String) {
        self.name = name
    }

    var propertyListValue: PropertyListValue { .string(name) }

    init?(propertyListValue: PropertyListValue) {
        guard case .string(let name) = propertyListValue else { return nil }
        self.name = name
    }
}

let standardItem = Item()
let standardMode = Mode.slow

extension Defaults.Keys {
    static let item = Key<Item>("item", default: Item())
    static let globalItem = Key<Item>("globalItem", default: standardItem)
    static let staticItem = Key<Item>("staticItem", default: .standard)
    static let optionalItem = Key<Item?>("optionalItem")
    static let itemOrNot = Key<Item?>("itemOrNot", default: standardItem)
    static let items = Key<[Item]>("items")
    static let someItems = Key<[Item]>("someItems", default: [standardItem])
    static let itemSet = Key<Set<Item>>("itemSet")
    static let itemsByName = Key<[String: Item]>("itemsByName")
    static let theme = Key<Theme>("theme", default: .light)
    static let optionalTheme = Key<Theme?>("optionalTheme")
    static let themes = Key<[Theme]>("themes", default: [.light])
    static let rows = Key<[[Theme]]>("rows")
    static let bookmarks = Key<[Bookmark]>("bookmarks")
    static let coded = Key<Item?>("coded", coder: .propertyList)
    static let codedItem = Key<Item>("codedItem", default: Item(), coder: .propertyList)
    static let mode = Key<Mode>("mode", default: standardMode)
    static let optionalMode = Key<Mode?>("optionalMode")
    static let modes = Key<[Mode]>("modes")
    static let sides = Key<Sides>("sides")
    static let color = Key<Color>("color", default: Color(name: "red"))
    static let colors = Key<[Color]>("colors")
    static let count = Key<Int>("count")
    static let name = Key<String?>("name")
    static let list = Key<[Any]>("list")
    static let installed = Key<Date>("installed") { Date() }
}

struct Settings: DefaultStorable {
    var level = 3
    static let defaultValue = Settings()
}

struct Bookmark: DefaultProviding {
    var url = "about:blank"
    static let defaultValue = Bookmark()
}

struct Visual: Codable, DefaultStorable {
    let themeName: String
}

let storage = PersistentStorage(keyPrefix: "v1.")!

extension PersistentStorage {
    var counter: KeyValueContainer<Int> { makeContainer() }
    var volume: KeyValueContainer<Double> { makeContainer(default: 0.5) }
    var item: KeyValueContainer<Item> { makeContainer(default: Item()) }
}

@MainActor @Observable
final class Model {
    @ObservationIgnored @Stored(.volume) var volume
    @ObservationIgnored @Stored(.theme) var theme
    var isPlaying = false
}

struct Player {
    @Stored(.count) var count
    @Stored(.item) var item
}

nonisolated final class Listener: Sendable {
    func hear(_ count: Int, in store: MemoryDefaults) {
        store.df.store(count, forKey: "changed to")
    }
}

func useDeclarations() {
    Defaults[.item].name += "b"
    Defaults[.items].append(Item())
    Defaults[.theme] = .dark
    Settings(level: 4).write()
    Visual(themeName: "dark").write()
    storage.item.value = Item()
    storage.counter.value = 1
    Player().count += 1
}

import Default
import Foundation
import Testing

private enum Theme: String {
    case light
    case dark
}

private struct Palette: Codable, Equatable {
    var colors = ["red", "green"]
}

extension DefaultsKeys {
    fileprivate static let username = DefaultsKey<String?>("username")
    fileprivate static let launchCount = DefaultsKey<Int>("launchCount")
    fileprivate static let volume = DefaultsKey<Double>("volume")
    fileprivate static let libraries = DefaultsKey<[String]>("libraries")
    fileprivate static let hotkey = DefaultsKey<Data>("hotkey")
    fileprivate static let firstLaunch = DefaultsKey<Date?>("firstLaunch")
    fileprivate static let homepage = DefaultsKey<URL?>("homepage")
    fileprivate static let palette = DefaultsKey<Palette?>("palette")
    fileprivate static let theme = DefaultsKey<Theme>("theme", default: .light)
}

#if Foundation
extension DefaultsKeys {
    fileprivate static let token = DefaultsKey<NSUUID?>("token")
}
#endif

private struct Keys {
    static let counter = DefaultsKey<Int>("counter")
}

@Suite("The calls of typed keys")
struct TypedKeysBlock {
    @Test("read, assign and change in place", arguments: StoreKind.allCases)
    func typedKeys(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            #expect(Defaults[.username] == nil)
            #expect(Defaults[.launchCount] == 0)
            #expect(Defaults[.libraries] == [])
            Defaults[.launchCount] += 1
            #expect(Defaults[.launchCount] == 1)
            Defaults[.volume] -= 0.1
            #expect(Defaults[.volume] == -0.1)
            Defaults[.libraries].append("Default")
            Defaults[.libraries][0] += " 4"
            #expect(Defaults[.libraries] == ["Default 4"])
            Defaults[.username] = "otto"
            #expect(Defaults[.username] == "otto")
            Defaults[.username] = nil
            #expect(Defaults[.username] == nil)
            #expect(store.object(forKey: "username") == nil)
            let key = DefaultsKey<String?>("color")
            Defaults[key] = "green"
            #expect(Defaults[key] == "green")
            #expect(Defaults[Keys.counter] == 0)
            Defaults[Keys.counter] += 2
            #expect(Defaults[Keys.counter] == 2)
        }
    }

    @Test("store every kind of type, each in its own form", arguments: StoreKind.allCases)
    func types(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let date = Date(timeIntervalSinceReferenceDate: 700_000_000)
            Defaults[.hotkey] = Data([1, 2])
            Defaults[.firstLaunch] = date
            Defaults[.homepage] = URL(string: "https://example.com/a")
            Defaults[.palette] = Palette(colors: ["blue"])
            Defaults[.theme] = .dark
            #expect(Defaults[.hotkey] == Data([1, 2]))
            #expect(Defaults[.firstLaunch] == date)
            #expect(Defaults[.homepage] == URL(string: "https://example.com/a"))
            #expect(Defaults[.palette] == Palette(colors: ["blue"]))
            #expect(Defaults[.theme] == .dark)
            #expect(store.object(forKey: "homepage") as? String == "https://example.com/a")
            #expect(store.data(forKey: "palette") == Data(#"{"colors":["blue"]}"#.utf8))
            #expect(store.object(forKey: "theme") as? String == "dark")
            Defaults[.palette]?.colors.append("red")
            #expect(Defaults[.palette]?.colors == ["blue", "red"])
        }
    }

    #if Foundation
    @Test("store an object as its archive", arguments: StoreKind.allCases)
    func objects(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let token = NSUUID()
            Defaults[.token] = token
            #expect(Defaults[.token] == token)
            #expect(store.data(forKey: "token") != nil)
        }
    }
    #endif
}

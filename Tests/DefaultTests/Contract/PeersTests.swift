import Default
import Foundation
import Testing

extension Defaults.Keys {
    fileprivate static let frogName = DefaultsKey<String?>("frogName")
    fileprivate static let frogCount = DefaultsKey<Int>("frogCount")
    fileprivate static let frogRatio = DefaultsKey<Double>("frogRatio")
    fileprivate static let frogIsGreen = DefaultsKey<Bool>("frogIsGreen")
    fileprivate static let frogBorn = DefaultsKey<Date?>("frogBorn")
    fileprivate static let frogData = DefaultsKey<Data>("frogData")
    fileprivate static let frogNames = DefaultsKey<[String]>("frogNames")
    fileprivate static let frogTrack = DefaultsKey<PlayerTrack?>("frogTrack")
    fileprivate static let frogTracks = DefaultsKey<[PlayerTrack]>("frogTracks")
    fileprivate static let frogTheme = DefaultsKey<PlayerTheme>("frogTheme", default: .light)
    fileprivate static let frogThemes = DefaultsKey<[PlayerTheme]>("frogThemes")

    fileprivate static let viewName = Key<String>("viewName")
    fileprivate static let viewCount = Key<Int>("viewCount")
    fileprivate static let viewRatio = Key<Double>("viewRatio")
    fileprivate static let viewIsOpen = Key<Bool>("viewIsOpen")
    fileprivate static let viewData = Key<Data>("viewData")
    fileprivate static let viewTheme = Key<PlayerTheme>("viewTheme", default: .light)
    fileprivate static let viewQuality = Key<PlayerQuality?>("viewQuality")
    fileprivate static let viewHome = Key<URL?>("viewHome")
}

#if Foundation
extension Defaults.Keys {
    fileprivate static let frogHome = DefaultsKey<URL?>("frogHome")
    fileprivate static let frogLinks = DefaultsKey<[URL]>("frogLinks")
    fileprivate static let frogToken = DefaultsKey<NSUUID?>("frogToken")
    fileprivate static let frogTokens = DefaultsKey<[NSUUID]>("frogTokens")
}
#endif

private struct Window: Codable, Equatable {
    var width: Double
    var isOpen: Bool
}

private struct Default3Theme: Codable, DefaultStorable, Equatable {
    enum Accent: String, Codable {
        case light
        case dark
    }

    var themeName: String
    var backgroundImageURL: URL?
    var opened = Date(timeIntervalSinceReferenceDate: 736_480_089)
    var icon = Data([1, 2])
    var accent = Accent.dark
    var sizes = [0.5, 1]
    var windows = ["main": Window(width: 640.5, isOpen: true)]
    var slots = [1: "a", -2: "b"]
    var tags: Set<String> = ["rock"]
    var device = UUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")
    var counts: [Int8] = [1, 99, -3]
    var note: String?
}

private struct Default3Level: DefaultStorable, Equatable {
    var level = 1
    static var defaultValue: Default3Level? { Default3Level() }
}

private struct NamedLevel: DefaultStorable, Equatable {
    var level = 1
    static var defaultIdentifier: String { "theme.v2" }
}

private struct Default3Layout: DefaultStorable, Equatable {
    var name = "wide"
    var opened = Date(timeIntervalSince1970: 1_714_979_289)
    var icon = Data([1, 2])
    var widths = [1.5, 2]
    var isOpen = true
    var windows = ["main": Window(width: 640.5, isOpen: true)]
    static var defaultCoder: DefaultsCoder { .propertyList }
}

private struct VolumeSetting: Codable, Equatable {
    let sourceName: String
    let value: Double
}

/// Settings of another library in Fixtures/Foreign, as property lists.
private struct ForeignSettings {
    let values: [String: PropertyListValue]
    let store: any DefaultsStore

    /// Stores the values of a property list.
    init(_ name: String, in store: any DefaultsStore) throws {
        let data = try #require(Fixtures.data(named: "Foreign/\(name).plist"))
        guard case .dictionary(let values) = try StoredForm.value(of: data) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        for (key, value) in values {
            try store.setStoredValue(value, forKey: key)
        }
        self.values = values
        self.store = store
    }

    /// Checks that a key reads a value before and after it was written, and that nothing is reported or quarantined.
    func check<Value: Equatable>(
        _ key: Defaults.Key<Value>,
        _ value: Value,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let defaults = Defaults(suite: store)
        let foreign = values[key.storedName]
        #expect(foreign != nil && value != key.defaultValue, sourceLocation: location)
        expectEvents([]) {
            #expect(defaults[key] == value, "\(key.storedName)", sourceLocation: location)
            #expect(store.storedValue(forKey: key.storedName) == foreign, sourceLocation: location)
            defaults[key] = value
            #expect(defaults[key] == value, "\(key.storedName)", sourceLocation: location)
        }
        #expect((try? defaults.quarantined(key).isEmpty) == true, sourceLocation: location)
    }

    /// Checks that a settings type reads a value before and after it was written, that the other library's value stays
    /// in place, and that nothing is reported or quarantined.
    func check<Settings: DefaultStorable & Equatable>(
        _ value: Settings,
        forKey key: String? = nil,
        storedUnder foreignKey: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let foreign = try #require(values[foreignKey], sourceLocation: location)
        let ownKey = key ?? Settings.defaultIdentifier
        try expectEvents([]) {
            #expect(Settings.read(from: store, forKey: key) == value, sourceLocation: location)
            let report = try Settings.loadWithReport(from: store, forKey: key)?.report
            #expect(report?.filledIn == [] && report?.unusable == [], sourceLocation: location)
            #expect(store.storedValue(forKey: foreignKey) == foreign, sourceLocation: location)
            try value.save(to: store, withKey: key)
            #expect(Settings.read(from: store, forKey: key) == value, sourceLocation: location)
        }
        guard case .data(let own)? = store.storedValue(forKey: ownKey) else {
            Issue.record("Nothing is stored under \(ownKey).", sourceLocation: location)
            return
        }
        #expect(try Settings.defaultCoder.decode(Settings.self, from: own) == value, sourceLocation: location)
        if ownKey != foreignKey {
            #expect(store.storedValue(forKey: foreignKey) == foreign, sourceLocation: location)
        }
        #expect(try Settings.quarantined(in: store, forKey: key).isEmpty, sourceLocation: location)
    }

    /// Checks that `df` fetches a value before and after it was stored.
    func checkAccessor<Value: Codable & Equatable>(
        _ value: Value,
        forKey key: String,
        encoder: any DefaultsEncoder = DefaultsCoder.json,
        decoder: any DefaultsDecoder = DefaultsCoder.json,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let foreign = try #require(values[key], sourceLocation: location)
        expectEvents([]) {
            #expect(store.df.fetch(forKey: key, type: Value.self, decoder: decoder) == value, sourceLocation: location)
            #expect(store.storedValue(forKey: key) == foreign, sourceLocation: location)
            store.df.store(value, forKey: key, encoder: encoder)
            #expect(store.df.fetch(forKey: key, type: Value.self, decoder: decoder) == value, sourceLocation: location)
        }
        #expect(store.storedValue(forKey: "\(key).quarantine") == nil, sourceLocation: location)
    }
}

@Suite("The settings of another library")
struct PeersTests {
    @Test("Defaults, 70 of every type, are read and written", arguments: StoreKind.allCases)
    func defaults(kind: StoreKind) throws {
        try kind.withStore { store in
            let settings = try ForeignSettings("Defaults9", in: store)
            #expect(settings.values.count == 70)
            func check<Value: Equatable>(
                _ key: Defaults.Key<Value>,
                _ value: Value,
                _ location: SourceLocation = #_sourceLocation
            ) {
                settings.check(key, value, location)
            }
            check(.playerName, "Otto")
            check(.playerTitle, "Main")
            check(.playerEmpty, "")
            check(.playerLaunches, 12)
            check(.playerOffset, -3)
            check(.playerLimit, 99)
            check(.playerVolume, 0.25)
            check(.playerBalance, -1.5)
            check(.playerSpeed, 1.5)
            check(.playerIsMuted, true)
            check(.playerIsLooping, false)
            check(.playerIsPinned, true)
            check(.playerWidth, 640.5)
            check(.playerSmall, -8)
            check(.playerShort, -1600)
            check(.playerLong, 1_099_511_627_776)
            check(.playerByte, 255)
            check(.playerCount, 42)
            check(.playerBig, 2_199_023_255_552)
            check(.playerInstalled, Date(timeIntervalSince1970: 1_714_979_289))
            check(.playerOpened, Date(timeIntervalSince1970: 1_735_787_045))
            check(.playerBookmark, Data([1, 2]))
            check(.playerCookie, Data("{}".utf8))
            check(.playerNames, ["a", "b"])
            check(.playerRatings, [3, 1, 2])
            check(.playerLevels, [0.5, 1])
            check(.playerFlags, [true, false])
            check(.playerDates, [Date(timeIntervalSince1970: 1_714_979_289)])
            check(.playerGrid, [[1, 2], [3]])
            check(.playerScores, ["a": 1, "b": 2])
            check(.playerGroups, ["a": ["x", "y"]])
            check(.playerShortcuts, ["a": "b"])
            check(.playerHomepage, URL(string: "https://example.com/a?b=c"))
            check(.playerFolder, URL(string: "file:///tmp/music/")!)
            check(.playerFeeds, [URL(string: "https://example.com/1")!, URL(string: "https://example.com/2")!])
            check(.playerMirrors, ["eu": URL(string: "https://example.com/eu")!])
            check(.playerTheme, .dark)
            check(.playerNextTheme, .light)
            check(.playerThemes, [.dark, .light])
            check(.playerThemeSet, [.dark])
            check(.playerThemeNames, ["day": .light])
            check(.playerQuality, .high)
            check(.playerQualities, [.high, .low])
            check(.playerSide, .right)
            check(.playerSides, [.right, .left])
            check(.playerSideSet, [.right])
            check(.playerSideNames, ["a": .right])
            check(.playerMode, .party)
            check(.playerOutput, .network(host: "a/b"))
            check(.playerOutputs, [.speaker, .network(host: "c")])
            check(.playerTrack, PlayerTrack(title: "Song", seconds: 180))
            check(.playerNext, PlayerTrack(title: "Next \"one\"", seconds: 60))
            check(.playerQueue, [PlayerTrack(title: "A", seconds: 1), PlayerTrack(title: "B, C", seconds: 2)])
            check(.playerHistory, [PlayerTrack(title: "A", seconds: 1)])
            check(.playerLibrary, ["a": PlayerTrack(title: "A", seconds: 1)])
            check(.playerAlbums, ["x": [PlayerTrack(title: "A", seconds: 1)]])
            check(.playerPages, [[PlayerTrack(title: "A", seconds: 1)], []])
            check(.playerSlots, [1: "a", -2: "b"])
            check(.playerSlotTracks, [3: PlayerTrack(title: "A", seconds: 1)])
            check(.playerTags, ["rock", "jazz"])
            check(.playerYears, [1999, 2001])
            check(.playerDevice, UUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D"))
            check(
                .playerDevices,
                [
                    UUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")!,
                    UUID(uuidString: "1A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")!,
                ]
            )
            check(.playerWindow, 2..<5)
            check(.playerBand, 0.25...0.75)
            check(.playerSpan, Date(timeIntervalSince1970: 1_714_979_289)...Date(timeIntervalSince1970: 1_735_787_045))
            check(.playerChecked, Date(timeIntervalSince1970: 1_714_979_289))
        }
    }

    @Test("SwiftyUserDefaults are read and written", arguments: StoreKind.allCases)
    func swiftyUserDefaults(kind: StoreKind) throws {
        try kind.withStore { store in
            let settings = try ForeignSettings("SwiftyUserDefaults5", in: store)
            settings.check(.frogName, "Otto")
            settings.check(.frogCount, 3)
            settings.check(.frogRatio, 0.5)
            settings.check(.frogIsGreen, true)
            settings.check(.frogBorn, Date(timeIntervalSince1970: 1_714_979_289))
            settings.check(.frogData, Data([1]))
            settings.check(.frogNames, ["a", "b"])
            settings.check(.frogTrack, PlayerTrack(title: "Song", seconds: 180))
            settings.check(.frogTracks, [PlayerTrack(title: "A", seconds: 1)])
            settings.check(.frogTheme, .dark)
            settings.check(.frogThemes, [.dark, .light])
        }
    }

    #if Foundation
    @Test(
        "the others are read and written, if they are archived objects",
        arguments: StoreKind.allCases
    )
    func archives(kind: StoreKind) throws {
        try kind.withStore { store in
            let settings = try ForeignSettings("Defaults9", in: store)
            settings.check(.playerToken, NSUUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D"))
            settings.check(.playerTokens, [NSUUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")!])
            settings.check(.playerTokenNames, ["a": NSUUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")!])
        }
        try kind.withStore { store in
            let settings = try ForeignSettings("SwiftyUserDefaults5", in: store)
            let token = try #require(NSUUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D"))
            settings.check(.frogHome, URL(string: "https://example.com/a"))
            settings.check(.frogLinks, [try #require(URL(string: "https://example.com/1"))])
            settings.check(.frogToken, token)
            settings.check(.frogTokens, [token])
        }
        try kind.withStore { store in
            let settings = try ForeignSettings("AppStorage", in: store)
            settings.check(.viewHome, URL(string: "https://example.com/a"))
        }
    }
    #endif

    @Test("Default 3 are read and written", arguments: StoreKind.allCases)
    func default3(kind: StoreKind) throws {
        try kind.withStore { store in
            let settings = try ForeignSettings("Default3", in: store)
            let address = URL(string: "https://example.com/a.png")
            try settings.check(
                Default3Theme(themeName: "bright", backgroundImageURL: address),
                storedUnder: "Default3Theme.Type"
            )
            try settings.check(
                Default3Theme(themeName: "night \"1\"", backgroundImageURL: address),
                forKey: "nightTheme",
                storedUnder: "nightTheme"
            )
            try settings.check(Default3Level(level: 3), storedUnder: "Default3Level.Type")
            try settings.check(NamedLevel(level: 5), storedUnder: "theme.v2")
            try settings.check(Default3Layout(), storedUnder: "Default3Layout.Type")
            try settings.check(Default3Layout(), forKey: "savedLayout", storedUnder: "savedLayout")
            let amp = VolumeSetting(sourceName: "amp", value: 0.5)
            try settings.checkAccessor(VolumeSetting(sourceName: "amp", value: 0.4), forKey: "volume")
            try settings.checkAccessor([amp, VolumeSetting(sourceName: "mixer", value: 1)], forKey: "volumes")
            try settings.checkAccessor(["a": amp], forKey: "volumesByName")
            try settings.checkAccessor(
                amp,
                forKey: "layoutOfVolumes",
                encoder: PropertyListEncoder(),
                decoder: PropertyListDecoder()
            )
            try settings.checkAccessor(["a", "b"], forKey: "names")
            try settings.checkAccessor(12, forKey: "launches")
            try settings.checkAccessor("Main", forKey: "title")
        }
    }

    @Test("Default 3 are read and written by typed keys and containers", arguments: StoreKind.allCases)
    func default3Keys(kind: StoreKind) throws {
        try kind.withStore { store in
            let settings = try ForeignSettings("Default3", in: store)
            let amp = VolumeSetting(sourceName: "amp", value: 0.5)
            settings.check(Defaults.Key<VolumeSetting?>("volume"), VolumeSetting(sourceName: "amp", value: 0.4))
            settings.check(Defaults.Key<[String: VolumeSetting]>("volumesByName"), ["a": amp])
            let container: KeyValueContainer<[VolumeSetting]> = store.makeContainer(key: "volumes")
            expectEvents([]) {
                #expect(container.value == [amp, VolumeSetting(sourceName: "mixer", value: 1)])
                container.value?.append(amp)
                #expect(container.value?.count == 3)
            }
            #expect(store.storedValue(forKey: "volumes.quarantine") == nil)
        }
    }

    @Test("AppStorage are read and written", arguments: StoreKind.allCases)
    func appStorage(kind: StoreKind) throws {
        try kind.withStore { store in
            let settings = try ForeignSettings("AppStorage", in: store)
            settings.check(.viewName, "Otto")
            settings.check(.viewCount, 3)
            settings.check(.viewRatio, 0.5)
            settings.check(.viewIsOpen, true)
            settings.check(.viewData, Data([1]))
            settings.check(.viewTheme, .dark)
            settings.check(.viewQuality, .high)
        }
    }

    @Test("Defaults are converted all at once", arguments: StoreKind.allCases)
    func conversion(kind: StoreKind) throws {
        try kind.withStore { store in
            _ = try ForeignSettings("Defaults9", in: store)
            let defaults = Defaults(suite: store)
            let converted = try defaults.convertForms(
                of: .playerName,
                .playerTheme,
                .playerTrack,
                .playerQueue,
                .playerSlots,
                .playerHomepage,
                .playerTags
            )
            #expect(
                converted == ["playerTheme", "playerTrack", "playerQueue", "playerSlots", "playerHomepage"]
            )
            #expect(store.storedValue(forKey: "playerHomepage") == .string("https://example.com/a?b=c"))
            #expect(defaults[.playerQueue].map(\.title) == ["A", "B, C"])
        }
    }
}

@Suite("A file of keys in the spelling of another library")
struct PortingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

    @Test("is ported by the sed command of the guide alone")
    func porting() throws {
        let guide = try String(
            contentsOf: Self.root.appending(path: "Sources/Default/Default.docc/ComingFromOtherLibraries.md"),
            encoding: .utf8
        )
        // The first command of the guide, with the standard input in place of its file.
        let command = try #require(guide.components(separatedBy: "```sh\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let expressions = command.split(separator: "\n").filter { $0.hasPrefix("    -e ") }
            .map { $0.dropFirst("    -e ".count).drop { $0 == "'" }.prefix { $0 != "'" } }
        #expect(command.hasPrefix("sed -E -i.bak"))
        #expect(expressions.count >= 5)
        let sed = Process()
        sed.executableURL = URL(filePath: "/usr/bin/env")
        sed.arguments =
            ["sed", "-E"] + expressions.flatMap { ["-e", String($0)] }
            + [Self.root.appending(path: "Tests/DefaultTests/Fixtures/Foreign/PlayerKeys.swift.txt").path]
        let output = Pipe()
        sed.standardOutput = output
        try sed.run()
        let ported = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        sed.waitUntilExit()
        // The result is compiled with these tests.
        let compiled = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "PlayerKeys.swift"),
            encoding: .utf8
        )
        #expect(ported == compiled)
        #expect(ported.components(separatedBy: " = Key<").count == 71)
    }
}

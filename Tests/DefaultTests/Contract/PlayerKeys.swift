import Default
import Foundation

// The settings of a music player, in the spelling of the library Defaults.

enum PlayerTheme: String, Codable {
    case light
    case dark
}

enum PlayerQuality: Int, Codable {
    case low = 1
    case high
}

enum PlayerSide: String {
    case left
    case right
}

enum PlayerMode: String, Codable {
    case off
    case party
}

enum PlayerOutput: Codable, Equatable {
    case speaker
    case network(host: String)
}

struct PlayerTrack: Codable, Hashable {
    var title = ""
    var seconds = 0
}

extension Defaults.Keys {
    static let playerName = Key<String>("playerName", default: "")
    static let playerTitle = Key<String?>("playerTitle")
    static let playerEmpty = Key<String?>("playerEmpty")
    static let playerLaunches = Key<Int>("playerLaunches", default: 0)
    static let playerOffset = Key<Int>("playerOffset", default: 7)
    static let playerLimit = Key<Int?>("playerLimit")
    static let playerVolume = Key<Double>("playerVolume", default: 0.5)
    static let playerBalance = Key<Double?>("playerBalance")
    static let playerSpeed = Key<Float>("playerSpeed", default: 1)
    static let playerIsMuted = Key<Bool>("playerIsMuted", default: false)
    static let playerIsLooping = Key<Bool>("playerIsLooping", default: true)
    static let playerIsPinned = Key<Bool?>("playerIsPinned")
    static let playerWidth = Key<CGFloat>("playerWidth", default: 320)
    static let playerSmall = Key<Int8>("playerSmall", default: 0)
    static let playerShort = Key<Int16>("playerShort", default: 0)
    static let playerLong = Key<Int64>("playerLong", default: 0)
    static let playerByte = Key<UInt8>("playerByte", default: 0)
    static let playerCount = Key<UInt>("playerCount", default: 0)
    static let playerBig = Key<UInt64>("playerBig", default: 0)
    static let playerInstalled = Key<Date>("playerInstalled", default: .distantPast)
    static let playerOpened = Key<Date?>("playerOpened")
    static let playerBookmark = Key<Data>("playerBookmark", default: Data())
    static let playerCookie = Key<Data?>("playerCookie")
    static let playerNames = Key<[String]>("playerNames", default: [])
    static let playerRatings = Key<[Int]>("playerRatings", default: [])
    static let playerLevels = Key<[Double]>("playerLevels", default: [])
    static let playerFlags = Key<[Bool]>("playerFlags", default: [])
    static let playerDates = Key<[Date]>("playerDates", default: [])
    static let playerGrid = Key<[[Int]]>("playerGrid", default: [])
    static let playerScores = Key<[String: Int]>("playerScores", default: [:])
    static let playerGroups = Key<[String: [String]]>("playerGroups", default: [:])
    static let playerShortcuts = Key<[String: String]?>("playerShortcuts")
    static let playerHomepage = Key<URL?>("playerHomepage")
    static let playerFolder = Key<URL>("playerFolder", default: URL(fileURLWithPath: "/"))
    static let playerFeeds = Key<[URL]>("playerFeeds", default: [])
    static let playerMirrors = Key<[String: URL]>("playerMirrors", default: [:])
    static let playerTheme = Key<PlayerTheme>("playerTheme", default: .light)
    static let playerNextTheme = Key<PlayerTheme?>("playerNextTheme")
    static let playerThemes = Key<[PlayerTheme]>("playerThemes", default: [])
    static let playerThemeSet = Key<Set<PlayerTheme>>("playerThemeSet", default: [])
    static let playerThemeNames = Key<[String: PlayerTheme]>("playerThemeNames", default: [:])
    static let playerQuality = Key<PlayerQuality>("playerQuality", default: .low)
    static let playerQualities = Key<[PlayerQuality]>("playerQualities", default: [])
    static let playerSide = Key<PlayerSide>("playerSide", default: .left)
    static let playerSides = Key<[PlayerSide]>("playerSides", default: [])
    static let playerSideSet = Key<Set<PlayerSide>>("playerSideSet", default: [])
    static let playerSideNames = Key<[String: PlayerSide]>("playerSideNames", default: [:])
    static let playerMode = Key<PlayerMode>("playerMode", default: .off)
    static let playerOutput = Key<PlayerOutput>("playerOutput", default: .speaker)
    static let playerOutputs = Key<[PlayerOutput]>("playerOutputs", default: [])
    static let playerTrack = Key<PlayerTrack>("playerTrack", default: PlayerTrack())
    static let playerNext = Key<PlayerTrack?>("playerNext")
    static let playerQueue = Key<[PlayerTrack]>("playerQueue", default: [])
    static let playerHistory = Key<Set<PlayerTrack>>("playerHistory", default: [])
    static let playerLibrary = Key<[String: PlayerTrack]>("playerLibrary", default: [:])
    static let playerAlbums = Key<[String: [PlayerTrack]]>("playerAlbums", default: [:])
    static let playerPages = Key<[[PlayerTrack]]>("playerPages", default: [])
    static let playerSlots = Key<[Int: String]>("playerSlots", default: [:])
    static let playerSlotTracks = Key<[Int: PlayerTrack]>("playerSlotTracks", default: [:])
    static let playerTags = Key<Set<String>>("playerTags", default: [])
    static let playerYears = Key<Set<Int>>("playerYears", default: [])
    static let playerDevice = Key<UUID?>("playerDevice")
    static let playerDevices = Key<[UUID]>("playerDevices", default: [])
    static let playerWindow = Key<Range<Int>>("playerWindow", default: 0..<10)
    static let playerBand = Key<ClosedRange<Double>>("playerBand", default: 0...1)
    static let playerSpan = Key<ClosedRange<Date>?>("playerSpan")
    static let playerChecked = Key<Date>("playerChecked") { Date() }
}

#if Foundation
extension Defaults.Keys {
    static let playerToken = Key<NSUUID?>("playerToken")
    static let playerTokens = Key<[NSUUID]>("playerTokens", default: [])
    static let playerTokenNames = Key<[String: NSUUID]>("playerTokenNames", default: [:])
}
#endif

struct PlayerSettings {
    @Stored(.playerVolume) var volume
    @Stored(.playerTheme) var theme

    func restart() {
        Defaults[.playerLaunches] += 1
        Defaults[.playerQueue].removeAll()
        Defaults.reset(.playerVolume, .playerTheme)
        Defaults.Keys.playerNext.reset()
    }
}

// What people write before they have read how: a program that imports the library, type-checked by check.sh in Swift 6
// mode, and once more with declarations isolated to the main actor. The tests of FirstTryBlock.swift run the same calls
// on Linux.
import Default
import Foundation
import Observation

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue = Settings()
}

struct Typed: DefaultStorable {
    var theme = "bright"
    static let defaultValue: Typed? = Typed()
}

struct Computed: DefaultStorable {
    var theme = "bright"
    static var defaultValue: Self { Self() }
}

class Document: DefaultStorable {
    var title = ""
    required init() {}
    class var defaultValue: Self { Self() }
}

enum Theme: String { case light, dark }

nonisolated struct Token: Codable { var text: String }

extension FileDefaults {
    nonisolated static let shared = FileDefaults.standard
}

nonisolated extension DefaultsCoder {
    static var sealed: DefaultsCoder { .propertyList }
}

nonisolated extension Defaults.Keys {
    static let volume = Key<Double>("volume")
    static let launchCount = Key<Int>("launchCount")
    static let list = Key<[String]>("list")
    static let rows = Key<[[Theme]]>("rows")
    static let groups = Key<[String: [Theme]]>("groups")
    static let token = Key<Token?>("token", coder: .sealed)
    static let bytes = Key<NSData>("bytes")
    static let names = Key<NSArray>("names")
    static let text = Key<NSString>("text")
    static let table = Key<NSDictionary>("table")
    static let name = Key<String>("name")
    static let installation = Key<UUID?>("installation")
}

extension PersistentStorage {
    var token: KeyValueContainer<Token> { makeContainer(coder: .sealed) }
}

nonisolated let defaults = Defaults(suite: FileDefaults.shared)
nonisolated let other = Defaults(suite: .standard)
nonisolated let group = Defaults(suite: UserDefaults(suiteName: "group.app") ?? .standard)
let keys: [Defaults.Keys] = [.rows, .names]

@MainActor @Observable
final class Model {
    @ObservationIgnored @Stored(.volume) var volume
    @ObservationIgnored @Stored("muted") var isMuted = false
}

func calls(store: any DefaultsStore) throws {
    FileDefaults.shared[.volume] = 0.4
    UserDefaults.standard[.launchCount] += 1
    store[.list].append("x")
    let count: Int = UserDefaults.standard[.launchCount]
    defaults[.launchCount] = count
    store[.rows].append([.dark])
    store[.token] = Token(text: "secret")
    let settings = Settings.read() ?? .defaultValue
    settings.write()
    try Document.update { $0.title = "Untitled" }
    store.df.store(5, forKey: "n")
    print(Settings.current.theme, Document.current.title, Defaults[.name])
    let id: UUID = try Defaults.load(.installation, storing: UUID())
    print(id)
}

actor Player {
    func play() throws {
        try Settings.update { $0.theme = "dark" }
        UserDefaults.standard[.volume] += 0.1
        other[.volume] = group[.volume]
    }
}

@concurrent
func playConcurrently() async throws {
    try Settings.update { $0.theme = "dark" }
    for await settings in Settings.updates() where settings != nil {
        break
    }
}

func playInTask() {
    Task.detached {
        try Settings.update { $0.theme = "dark" }
        defaults[.launchCount] += 1
    }
}

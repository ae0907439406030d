import Default
import Foundation
import Testing

/// One of five releases of an app, which all store their settings under one key.
private protocol Release: DefaultStorable where DefaultsSuite == CurrentStore {
    static var number: Int { get }
    var name: String { get set }
    /// The loudness between 0 and 1, in each release.
    var loudness: Double { get set }
    /// The properties that later releases have added, or changed since the first.
    var theme: String? { get set }
    var balance: Double? { get set }
}

extension Release {
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultIdentifier: String { "Player" }
    static var defaultCoder: DefaultsCoder { TestedFormat.coder }
    var theme: String? {
        get { nil }
        set {}
    }
    var balance: Double? {
        get { nil }
        set {}
    }
}

private struct Release1: Release {
    static var number: Int { 1 }
    var name = "none"
    var volume = 20
    static var defaultValue: Release1? { Release1() }
    var loudness: Double {
        get { Double(volume) / 100 }
        set { volume = Int(newValue * 100) }
    }
}

/// Release 2, which added a property.
private struct Release2: Release {
    static var number: Int { 2 }
    var name = "none"
    var volume = 20
    var look = "bright"
    static var defaultValue: Release2? { Release2() }
    var loudness: Double {
        get { Double(volume) / 100 }
        set { volume = Int(newValue * 100) }
    }
    var theme: String? {
        get { look }
        set { look = newValue ?? look }
    }
}

/// Release 3, in which the same property has another meaning, so that there is a version.
private struct Release3: Release, DefaultMigratable {
    static var number: Int { 3 }
    var name = "none"
    var volume = 0.2
    var look = "bright"
    static var defaultValue: Release3? { Release3() }
    static var schemaVersion: Int { 3 }
    init() {}
    init(migrating previous: Release2) {
        (name, volume, look) = (previous.name, previous.loudness, previous.look)
    }
    var loudness: Double {
        get { volume }
        set { volume = newValue }
    }
    var theme: String? {
        get { look }
        set { look = newValue ?? look }
    }
}

/// Release 4, which added a property, and whose values the previous release can still read.
private struct Release4: Release, DefaultMigratable {
    static var number: Int { 4 }
    var name = "none"
    var volume = 0.2
    var look = "bright"
    var balance: Double? = 0.5
    static var defaultValue: Release4? { Release4() }
    static var schemaVersion: Int { 4 }
    static var readableSince: Int { 3 }
    init() {}
    init(migrating previous: Release3) {
        (name, volume, look) = (previous.name, previous.volume, previous.look)
    }
    var loudness: Double {
        get { volume }
        set { volume = newValue }
    }
    var theme: String? {
        get { look }
        set { look = newValue ?? look }
    }
}

/// Release 5, in which everything has another name.
private struct Release5: Release, DefaultMigratable {
    static var number: Int { 5 }
    struct Sound: Codable { var level = 0.2, pan: Double? = 0.5 }
    var title = "none"
    var sound = Sound()
    var look = "bright"
    static var defaultValue: Release5? { Release5() }
    static var schemaVersion: Int { 5 }
    init() {}
    init(migrating previous: Release4) {
        (title, look) = (previous.name, previous.look)
        sound = Sound(level: previous.volume, pan: previous.balance)
    }
    var name: String {
        get { title }
        set { title = newValue }
    }
    var loudness: Double {
        get { sound.level }
        set { sound.level = newValue }
    }
    var theme: String? {
        get { look }
        set { look = newValue ?? look }
    }
    var balance: Double? {
        get { sound.pan }
        set { sound.pan = newValue }
    }
}

/// The way in which a release reads the value of another one.
private enum Outcome: String {
    case own = "its own"
    case filledIn = "read with differences"
    case migrated = "migrated"
    case newer = "newer"
}

@Suite("Five releases of a type")
struct ReleaseMatrixTests {
    private let releases: [any Release.Type] = [
        Release1.self, Release2.self, Release3.self, Release4.self, Release5.self,
    ]

    /// A row for each release that wrote a value, with the outcomes in releases 1 to 5.
    private let table: [[Outcome]] = [
        [.own, .filledIn, .migrated, .migrated, .migrated],
        [.own, .own, .migrated, .migrated, .migrated],
        [.newer, .newer, .own, .migrated, .migrated],
        [.newer, .newer, .own, .own, .migrated],
        [.newer, .newer, .newer, .newer, .own],
    ]

    @Test("lose nothing of each other, in whichever order they are used", arguments: StoreKind.allCases)
    func matrix(kind: StoreKind) throws {
        try kind.forEachPair(of: releases) { first, second, store in try check(first, second, in: store) }
    }

    private func check<First: Release, Second: Release>(
        _ first: First.Type,
        _ second: Second.Type,
        in store: any DefaultsStore
    ) throws {
        let comment: Comment = "release \(First.number), then \(Second.number)"
        var written = try #require(First.defaultValue)
        written.name = "first"
        written.loudness = 0.5
        written.theme = "dark"
        written.balance = 0.75
        try written.save()
        let bytes = try #require(store.data(forKey: "Player"))

        // The second release reads the value.
        let outcome = table[First.number - 1][Second.number - 1]
        #expect(try self.outcome(of: second) == outcome, comment)
        if outcome != .newer {
            let read = try #require(Second.read())
            #expect(read.name == "first" && read.loudness == 0.5, comment)
            #expect(read.theme == nil || written.theme == nil || read.theme == "dark", comment)
            #expect(read.balance == nil || written.balance == nil || read.balance == 0.75, comment)
        }
        #expect(store.data(forKey: "Player") == bytes, comment)

        // The second release changes the value.
        try Second.update { $0.name = "second" }
        #expect(Second.read()?.name == "second", comment)
        #expect(try Second.quarantined().map(\.data) == (outcome == .newer ? [bytes] : []), comment)

        // The first release is used again. An older release that can read the value has kept its unknown fields.
        let isKept = First.number > Second.number && outcome == .own
        let back = isKept ? .own : table[Second.number - 1][First.number - 1]
        #expect(try self.outcome(of: first) == back, comment)
        let read = try #require(First.read())
        if back != .newer {
            #expect(read.name == "second", comment)
            #expect(read.loudness == (outcome == .newer ? 0.2 : 0.5), comment)
        }
        if outcome != .newer, back != .newer {
            #expect(read.theme == written.theme && read.balance == written.balance, comment)
        }
    }

    private func outcome<Settings: Release>(of type: Settings.Type) throws -> Outcome {
        do {
            let (_, report) = try #require(try Settings.loadWithReport())
            #expect(report.unusable.isEmpty)
            return report.migratedFrom != nil ? .migrated : report.isEmpty ? .own : .filledIn
        } catch DefaultsError.Code.newerVersion {
            return .newer
        }
    }
}

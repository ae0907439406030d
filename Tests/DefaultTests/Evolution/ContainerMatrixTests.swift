import Foundation
import Testing

@testable import Default

/// One of five releases of a type.
///
/// In each release a property moves into a container that gets the property's old name, and elements gain a property.
private protocol Release: DefaultStorable where DefaultsSuite == CurrentStore {
    static var number: Int { get }
    var changes: Int { get set }
    var loudness: String { get set }
    var heading: String { get set }
    /// A value with everything that the release knows, in which each text is different.
    static var sample: Self { get }
}

extension Release {
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultIdentifier: String { "Player" }
    static var defaultCoder: DefaultsCoder { TestedFormat.coder }
}

/// A type with one more text in each release.
private struct Texts1: DefaultProviding, Hashable {
    var a = "none"
    static let defaultValue = Texts1()
}
private struct Texts2: DefaultProviding, Hashable {
    var a = "none", b = "none"
    static let defaultValue = Texts2()
}
private struct Texts3: DefaultProviding, Hashable {
    var a = "none", b = "none", c = "none"
    static let defaultValue = Texts3()
}
private struct Texts4: DefaultProviding, Hashable {
    var a = "none", b = "none", c = "none", d = "none"
    static let defaultValue = Texts4()
}
private struct Texts5: DefaultProviding, Hashable {
    var a = "none", b = "none", c = "none", d = "none", e = "none"
    static let defaultValue = Texts5()
}

private struct Release1: Release {
    static var number: Int { 1 }
    var changes = 0, sound = "none", title = "none"
    var tracks: [Texts1] = [], places: [String: Texts1] = [:]
    static let defaultValue = Release1()
    static var sample: Release1 {
        .init(
            sound: "1-sound",
            title: "1-title",
            tracks: [.init(a: "1-a"), .init(a: "1-x")],
            places: ["p": .init(a: "1-p")]
        )
    }
    var loudness: String {
        get { sound }
        set { sound = newValue }
    }
    var heading: String {
        get { title }
        set { title = newValue }
    }
}

private struct Release2: Release {
    struct Sound: Codable { var level = "none", device = "none" }
    static var number: Int { 2 }
    var changes = 0, sound = Sound(), title = "none"
    var tracks: [Texts2] = [], places: [String: Texts2] = [:]
    static let defaultValue = Release2()
    static var renamedProperties: [String: String] { ["sound": "sound.level"] }
    static var sample: Release2 {
        .init(
            sound: .init(level: "2-sound", device: "2-device"),
            title: "2-title",
            tracks: [.init(a: "2-a", b: "2-b"), .init(a: "2-x", b: "2-y")],
            places: ["p": .init(a: "2-p", b: "2-q")]
        )
    }
    var loudness: String {
        get { sound.level }
        set { sound.level = newValue }
    }
    var heading: String {
        get { title }
        set { title = newValue }
    }
}

private struct Release3: Release {
    struct Level: Codable { var left = "none", right = "none" }
    struct Sound: Codable { var level = Level(), device = "none" }
    static var number: Int { 3 }
    var changes = 0, sound = Sound(), title = "none"
    var tracks: [Texts3] = [], places: [String: Texts3] = [:]
    static let defaultValue = Release3()
    static var renamedProperties: [String: String] { ["sound": "sound.level", "sound.level": "sound.level.left"] }
    static var sample: Release3 {
        .init(
            sound: .init(level: .init(left: "3-sound", right: "3-right"), device: "3-device"),
            title: "3-title",
            tracks: [.init(a: "3-a", b: "3-b", c: "3-c"), .init(a: "3-x")],
            places: ["p": .init(a: "3-p", b: "3-q", c: "3-r")]
        )
    }
    var loudness: String {
        get { sound.level.left }
        set { sound.level.left = newValue }
    }
    var heading: String {
        get { title }
        set { title = newValue }
    }
}

private struct Release4: Release {
    struct Title: Codable { var text = "none", language = "none" }
    static var number: Int { 4 }
    var changes = 0, sound = Release3.Sound(), title = Title()
    var tracks: [Texts4] = [], places: [String: Texts4] = [:]
    static let defaultValue = Release4()
    static var renamedProperties: [String: String] {
        Release3.renamedProperties.merging(["title": "title.text"]) { $1 }
    }
    static var sample: Release4 {
        .init(
            sound: .init(level: .init(left: "4-sound", right: "4-right"), device: "4-device"),
            title: .init(text: "4-title", language: "4-language"),
            tracks: [.init(a: "4-a", b: "4-b", c: "4-c", d: "4-d"), .init(a: "4-x")],
            places: ["p": .init(a: "4-p", b: "4-q", c: "4-r", d: "4-s")]
        )
    }
    var loudness: String {
        get { sound.level.left }
        set { sound.level.left = newValue }
    }
    var heading: String {
        get { title.text }
        set { title.text = newValue }
    }
}

private struct Release5: Release {
    struct Text: Codable { var plain = "none", style = "none" }
    struct Title: Codable { var text = Text(), language = "none" }
    static var number: Int { 5 }
    var changes = 0, sound = Release3.Sound(), title = Title()
    var tracks: [Texts5] = [], places: [String: Texts5] = [:]
    static let defaultValue = Release5()
    static var renamedProperties: [String: String] {
        Release4.renamedProperties.merging(["title.text": "title.text.plain"]) { $1 }
    }
    static var sample: Release5 {
        .init(
            sound: .init(level: .init(left: "5-sound", right: "5-right"), device: "5-device"),
            title: .init(text: .init(plain: "5-title", style: "5-style"), language: "5-language"),
            tracks: [.init(a: "5-a", b: "5-b", c: "5-c", d: "5-d", e: "5-e"), .init(a: "5-x")],
            places: ["p": .init(a: "5-p", b: "5-q", c: "5-r", d: "5-s", e: "5-t")]
        )
    }
    var loudness: String {
        get { sound.level.left }
        set { sound.level.left = newValue }
    }
    var heading: String {
        get { title.text.plain }
        set { title.text.plain = newValue }
    }
}

@Suite("Five releases of a type whose old names become containers", .ownCache)
struct ContainerMatrixTests {
    private let releases: [any Release.Type] = [
        Release1.self, Release2.self, Release3.self, Release4.self, Release5.self,
    ]

    @Test("lose nothing of each other, in either direction", arguments: StoreKind.allCases)
    func matrix(kind: StoreKind) throws {
        try kind.forEachPair(of: releases) { first, second, store in try check(first, second, in: store) }
    }

    private func check<First: Release, Second: Release>(
        _ first: First.Type,
        _ second: Second.Type,
        in store: any DefaultsStore
    ) throws {
        let comment: Comment = "release \(First.number), then \(Second.number)"
        try First.sample.save()
        let bytes = try #require(store.data(forKey: "Player"))
        let stored = try texts(in: store)

        let (value, report) = try #require(try Second.loadWithReport(), comment)
        let isNewer = Second.number >= First.number
        if isNewer {
            #expect(value.loudness == First.sample.loudness && value.heading == First.sample.heading, comment)
            #expect(report.unusable.isEmpty, comment)
        }
        try Second.update { $0.changes += 1 }
        // A value that moved into a container can't be read by a release in which the container's name is a text.
        let quarantined = try Second.quarantined().map(\.data)
        #expect(quarantined == (report.unusable.isEmpty ? [] : [bytes]), comment)
        #expect(report.unusable.isEmpty == isNewer, comment)
        let kept = try texts(in: store)
        if isNewer {
            #expect(stored.isSubset(of: kept), comment)
        }
        // Parts of elements and entries that an older release doesn't know stay in place.
        for text in stored where text.dropFirst(2).count == 1 {
            #expect(kept.contains(text), "\(text), \(comment)")
        }

        // The first release is used again, and then the second.
        try First.update {
            $0.loudness = "again"
            $0.changes += 1
        }
        #expect(try First.load()?.changes == 2, comment)
        let back = try #require(try Second.load(), comment)
        #expect(back.changes == 2, comment)
        if isNewer {
            #expect(back.loudness == "again", comment)
        }
        let all = try texts(in: store).union(Second.quarantined().compactMap(\.data).flatMap { try texts(in: $0) })
        for text in stored.subtracting([First.sample.loudness]) {
            #expect(all.contains(text), "\(text), \(comment)")
        }
    }

    private func texts(in store: any DefaultsStore) throws -> Set<String> {
        try texts(in: #require(store.data(forKey: "Player")))
    }

    /// All texts in some bytes, except those of the default values.
    private func texts(in data: Data) throws -> Set<String> {
        func texts(of value: PropertyListValue) -> [String] {
            switch value {
            case .string(let text): [text]
            case .array(let elements): elements.flatMap(texts)
            case .dictionary(let fields): fields.values.flatMap(texts)
            default: []
            }
        }
        return Set(try texts(of: StoredForm.value(of: data))).subtracting(["none"])
    }
}

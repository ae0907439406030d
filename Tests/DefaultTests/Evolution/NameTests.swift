import Default
import Foundation
import Testing

/// A type with a name that contains dots, and is no path.
private struct Dotted: DefaultStorable, Equatable {
    struct Editor: Codable, Equatable {
        var font = "mono"
    }
    var size = 10
    var editor = Editor()
    var tab = 4

    enum CodingKeys: String, CodingKey {
        case size = "editor.size"
        case editor
        case tab
    }
    static let defaultValue = Dotted()
    static var renamedProperties: [String: String] {
        ["editor.fontSize": "editor.size", "editor.face": "editor.font", "tab.width": "tab"]
    }
    static var removedProperties: [String] { ["editor.secret", "editor.token"] }
}

private struct Bookmark: DefaultStorable, Equatable {
    var name = ""
    var url = ""
    static let defaultValue = Bookmark()
    static var renamedProperties: [String: String] { ["link": "url"] }
}

private struct Browser: DefaultStorable, Equatable {
    var home = Bookmark(name: "home")
    var bookmarks: [Bookmark] = []
    var byName: [String: Bookmark] = [:]
    var last: Bookmark?
    static let defaultValue = Browser()
    static var renamedProperties: [String: String] {
        ["bookmarks.title": "bookmarks.name", "byName.title": "byName.name", "byName.old": "byName.new"]
    }
}

private struct Reversed: DefaultStorable, Equatable {
    var tint = "red"
    var size = 1
    static let defaultValue = Reversed()
    static var renamedProperties: [String: String] { ["tint": "colour"] }
}

/// The first release of settings whose coder converts keys.
private struct SnakeCase: DefaultStorable, Equatable {
    var fontSize = 1
    static let defaultValue = SnakeCase()
    static var defaultIdentifier: String { "Snake" }
    static var defaultCoder: DefaultsCoder { snakeCase }
}

private struct SnakeCase2: DefaultStorable, Equatable {
    struct Account: Codable, Equatable {
        var profileURL = "p"
    }
    var fontSize = 1
    var avatarURL = "none"
    var account = Account()
    static let defaultValue = SnakeCase2()
    static var defaultIdentifier: String { "Snake" }
    static var defaultCoder: DefaultsCoder { snakeCase }
}

private var snakeCase: DefaultsCoder {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return DefaultsCoder(encoder: encoder, decoder: decoder)
}

@Suite("The names of stored properties", .ownCache)
struct NameTests {
    private let store = MemoryDefaults()

    private func set(_ json: String, _ key: String) throws { try store.set(Data(json.utf8), forKey: key) }
    private func stored(_ key: String) -> String {
        store.data(forKey: key).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test("with dots are renamed and removed as they are written, and otherwise lead into nested properties")
    func dots() throws {
        try set(
            #"{"editor.fontSize":12,"editor":{"face":"serif","secret":1,"kept":2},"editor.token":3,"tab.width":8}"#,
            "Dotted"
        )
        let (value, report) = try #require(try Dotted.loadWithReport(from: store))
        #expect(value == Dotted(size: 12, editor: .init(font: "serif"), tab: 8))
        #expect(report.isEmpty)
        try Dotted.update(in: store) { _ in }
        #expect(stored("Dotted") == #"{"editor":{"font":"serif","kept":2},"editor.size":12,"tab":8}"#)
    }

    @Test("with dots are the paths of nested properties where no such name is stored")
    func paths() throws {
        try set(#"{"editor":{"face":"serif"},"editor.size":9}"#, "Dotted")
        #expect(try Dotted.load(from: store) == Dotted(size: 9, editor: .init(font: "serif")))
    }

    @Test("of a type are renamed wherever it is stored, and those that lead through elements in each of them")
    func elements() throws {
        try set(
            #"""
            {"home":{"name":"h","link":"1"},"last":{"name":"l","link":"2"},
            "bookmarks":[{"title":"a","link":"3"},{"name":"b","url":"4"}],
            "byName":{"x":{"title":"c","url":"5"},"old":{"name":"d","link":"6"}}}
            """#,
            "Browser"
        )
        let expected = Browser(
            home: Bookmark(name: "h", url: "1"),
            bookmarks: [Bookmark(name: "a", url: "3"), Bookmark(name: "b", url: "4")],
            byName: ["x": Bookmark(name: "c", url: "5"), "new": Bookmark(name: "d", url: "6")],
            last: Bookmark(name: "l", url: "2")
        )
        let (value, report) = try #require(try Browser.loadWithReport(from: store))
        #expect(value == expected)
        #expect(report.isEmpty)
        #expect(Browser.read(from: store) == expected)
        try Browser.update(in: store) { $0.last = nil }
        #expect(try Browser.quarantined(in: store).isEmpty)
    }

    @Test("that are stated the wrong way round keep their values, and are reported once")
    func wrongWay() throws {
        let collector = EventCollector()
        try collector.collect {
            try Reversed(tint: "blue").save(to: store)
            #expect(Reversed.read(from: store) == Reversed(tint: "blue"))
            // Another property has to be filled in.
            try set(#"{"tint":"green"}"#, "Reversed")
            #expect(Reversed.read(from: store) == Reversed(tint: "green"))
        }
        let events = collector.events.filter { $0.kind == .renameIgnored }
        #expect(events.map(\.error.code) == [.valueMissing])
        #expect(
            events.first?.error.description.contains(#"renames "tint" to "colour", which is not a property"#) == true
        )
    }

    @Test("of optional properties that a coder doesn't convert back are reported by a write, once")
    func unreadableNames() throws {
        struct Profile: DefaultStorable {
            struct Image: Codable { var largeURL: String? }
            var name = ""
            var imageURL: String?
            var image = Image()
            static let defaultValue = Profile()
            static var defaultCoder: DefaultsCoder { snakeCase }
        }
        let collector = EventCollector()
        try collector.collect {
            try Profile(name: "x").save(to: store)
            for _ in 0..<2 { try Profile(name: "x", imageURL: "i", image: .init(largeURL: "l")).save(to: store) }
        }
        let events = collector.events.filter { $0.kind == .nameUnreadable }
        #expect(events.map(\.error.code) == [.encodingFailed])
        #expect(events.first?.error.description.contains(#""image.large_url", "image_url""#) == true)
    }

    @Test(
        "that a coder doesn't convert back are found as its encoder writes them, and filled in where its decoder looks"
    )
    func snakeCaseNames() throws {
        try SnakeCase(fontSize: 20).save(to: store)
        #expect(stored("Snake") == #"{"font_size":20}"#)
        let (value, report) = try #require(try SnakeCase2.loadWithReport(from: store))
        #expect(value == SnakeCase2(fontSize: 20))
        #expect(report.unusable.isEmpty)
        for number in 1...3 {
            try SnakeCase2.update(in: store) {
                #expect($0.fontSize == 20)
                $0.avatarURL = "\(number)"
                $0.account.profileURL += "\(number)"
            }
            #expect(try SnakeCase2.load(from: store)?.avatarURL == "\(number)")
        }
        #expect(try SnakeCase2.load(from: store)?.account.profileURL == "p123")
        #expect(try SnakeCase2.quarantined(in: store).isEmpty)
    }
}

import Foundation
import Testing

@testable import Default

private class Document: DefaultStorable {
    var title: String
    var author = "nobody"

    init(title: String = "t") { self.title = title }
}

/// A subclass that inherits the coding of its base class.
private final class Silent: Document {
    var pages = 1
}

/// A subclass that codes its own properties beside those of its base class.
private final class Careful: Document {
    var pages = 1

    override init(title: String = "t") { super.init(title: title) }

    required init(from decoder: any Decoder) throws {
        pages = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .pages)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pages, forKey: .pages)
        try super.encode(to: encoder)
    }

    enum CodingKeys: CodingKey { case pages }
}

private struct Desk: DefaultStorable {
    var document: Document
    var isTidy = true
}

// These are the rules of the article "Gotchas".
@Suite("A class that is a settings type", .ownCache)
struct ClassTests {
    @Test("is stored under its own name, and without what a subclass adds unless that is coded")
    func subclasses() throws {
        let store = MemoryDefaults()
        let silent = Silent(title: "s")
        silent.pages = 7
        try silent.save(to: store)
        let careful = Careful(title: "c")
        careful.pages = 8
        try careful.save(to: store)
        try Document(title: "d").save(to: store)
        #expect(store.storedKeys().sorted() == ["Careful", "Document", "Silent"])
        let loaded = try #require(try Silent.load(from: store))
        #expect((loaded.title, loaded.pages) == ("s", 1))
        let other = try #require(try Careful.load(from: store))
        #expect((other.title, other.pages) == ("c", 8))
        #expect(try Document.load(from: store)?.title == "d")
    }

    @Test("is read as the type that the property states, and not as the subclass that was stored")
    func properties() throws {
        let store = MemoryDefaults()
        let careful = Careful(title: "c")
        careful.pages = 8
        try Desk(document: careful).save(to: store)
        let desk = try #require(try Desk.load(from: store))
        #expect(type(of: desk.document) == Document.self && desk.document.title == "c")
        try Desk.update(in: store) { $0.isTidy = false }
        #expect(try Desk.load(from: store)?.document.title == "c")
    }

    @Test("is not shared between readers")
    func identity() throws {
        let store = MemoryDefaults()
        try Document(title: "d").save(to: store)
        let documents = try (0..<6).map { _ in try #require(try Document.load(from: store)) }
        documents[0].title = "changed"
        #expect(Set(documents.map { ObjectIdentifier($0) }).count == 6)
        #expect(try Document.load(from: store)?.title == "d")
    }
}

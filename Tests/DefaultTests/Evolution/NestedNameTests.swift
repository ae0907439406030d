import Default
import Foundation
import Testing

/// A type with an old name.
private struct Part: DefaultStorable, Equatable {
    var colour = "red"
    static let defaultValue = Part()
    static var renamedProperties: [String: String] { ["tint": "colour"] }
}

/// A type without old names, in which the other one is.
private struct Whole: DefaultStorable, Equatable {
    var size = 1
    var part = Part()
    var parts: [Part] = []
    var byName: [String: Part] = [:]
    static let defaultValue = Whole()
}

/// A type in which the one with an old name is a value of an enum's case.
private struct Chosen: DefaultStorable, Equatable {
    enum Choice: Codable, Equatable {
        case nothing
        case part(Part, count: Int)
    }

    var size = 1
    var choice = Choice.part(Part(), count: 1)
    static let defaultValue = Chosen()
}

/// A type whose elements and entries once had a property that must not stay stored.
private struct Book: DefaultStorable, Equatable {
    struct Page: Codable, Equatable { var title = "" }

    var size = 1
    var pages: [Page] = []
    var byName: [String: Page] = [:]
    var byUser: [String: Page]? = [:]
    static let defaultValue = Book()
    static var removedProperties: [String] { ["pages.secret", "byName.x.secret", "byUser.secret", "byUser.key.part"] }
}

@Suite("Names of nested types", .ownCache)
struct NestedNameTests {
    @Test("are found in a type that has none, where its bytes can't be decoded", arguments: StoreKind.allCases)
    func foundInParts(kind: StoreKind) throws {
        try kind.withStore { store in
            let json = #"{"size":2,"part":{"tint":"blue"},"parts":[{"tint":"green"}],"byName":{"a":{"tint":"black"}}}"#
            try store.setStoredValue(.data(Data(json.utf8)), forKey: "Whole")
            let expected = Whole(
                size: 2,
                part: Part(colour: "blue"),
                parts: [Part(colour: "green")],
                byName: ["a": Part(colour: "black")]
            )
            #expect(Whole.read(from: store) == expected)
            #expect(try Whole.loadWithReport(from: store)?.report.unusable.isEmpty == true)
            try Whole.update(in: store) { $0.size = 3 }
            let stored = String(decoding: try #require(store.data(forKey: "Whole")), as: UTF8.self)
            #expect(!stored.contains("tint") && stored.contains("black"))
            #expect(try Whole.quarantined(in: store).isEmpty)
        }
    }

    @Test("are found in the values of an enum's case", arguments: StoreKind.allCases)
    func foundInCases(kind: StoreKind) throws {
        try kind.withStore { store in
            let json = #"{"size":2,"choice":{"part":{"_0":{"tint":"blue"},"count":3}}}"#
            try store.setStoredValue(.data(Data(json.utf8)), forKey: "Chosen")
            #expect(Chosen.read(from: store) == Chosen(size: 2, choice: .part(Part(colour: "blue"), count: 3)))
        }
    }

    @Test("that are removed go from elements and entries, too", arguments: StoreKind.allCases)
    func removedInElements(kind: StoreKind) throws {
        try kind.withStore { store in
            let json = """
                {"size":1,"pages":[{"title":"a","secret":1,"mark":2},{"title":"b"}],\
                "byName":{"x":{"title":"c","secret":3,"mark":4}},\
                "byUser":{"a":{"title":"d","secret":5,"mark":6},"secret":{"title":"e","mark":7,"secret":8},\
                "key":{"title":"f","part":9,"mark":10}}}
                """
            try store.setStoredValue(.data(Data(json.utf8)), forKey: "Book")
            try Book.update(in: store) { $0.size = 2 }
            let stored = String(decoding: try #require(store.data(forKey: "Book")), as: UTF8.self)
            for secret in [1, 3, 5, 8] { #expect(!stored.contains(#""secret":\#(secret)"#), "\(secret): \(stored)") }
            #expect(!stored.contains(#""part""#), "\(stored)")
            for mark in [2, 4, 6, 7, 10] { #expect(stored.contains(#""mark":\#(mark)"#), "\(mark): \(stored)") }
            #expect(try Book.quarantined(in: store).isEmpty)
        }
    }
}

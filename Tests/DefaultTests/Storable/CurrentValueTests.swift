import Default
import Foundation
import Testing

private struct Constant: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue = Constant(theme: "default")
}

private struct Computed: DefaultStorable, Equatable {
    var theme = "bright"
    static var defaultValue: Self { Self(theme: "computed") }
}

private enum Mode: String, DefaultStorable {
    case slow, fast
    static let defaultValue = Mode.fast
}

private class Document: DefaultStorable {
    var title = "Untitled"
    required init() {}
    class var defaultValue: Self { Self() }
}

private final class Letter: Document {}

private struct Undecided: DefaultStorable, Equatable {
    var theme = "bright"
    static let defaultValue: Undecided? = Undecided(theme: "optional")
}

@Suite("The current value of a settings type")
struct CurrentValueTests {
    @Test("is the stored one, else the default that is declared without an optional", arguments: StoreKind.allCases)
    func current(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            #expect(
                Constant.current.theme == "default" && Computed.current.theme == "computed" && Mode.current == .fast
            )
            #expect(Document.current.title == "Untitled" && type(of: Letter.current) == Letter.self)
            #expect(store.storedKeys() == [])
            Constant(theme: "dark").write()
            Mode.slow.write()
            #expect(Constant.current.theme == "dark" && Mode.current == .slow)
        }
    }

    @Test("is the default where what is stored can't be read, which is reported")
    func unreadable() {
        withDefaults(MemoryDefaults(["Constant": .data(Data("{".utf8))])) {
            expectEvents([.readFailed]) { #expect(Constant.current.theme == "default") }
        }
    }

    @Test("leaves an optional default as it is")
    func optional() {
        withDefaults(MemoryDefaults()) { #expect(Undecided.read()?.theme == "optional") }
    }
}

import DefaultJournal
import Foundation
import Observation
import Testing

@testable import Default

/// A settings type that keeps the platform's standard store.
private struct Unchoosing: DefaultStorable, Equatable {
    var level = 1
    static var defaultValue: Unchoosing? { Unchoosing() }
}

/// A settings type that chose its own store.
private struct Choosing: DefaultStorable, Equatable {
    var level = 1
    static let defaults = MemoryDefaults()
    static var defaultValue: Choosing? { Choosing() }
}

/// A settings type that chose another store of the standard one's type.
private struct ChoosingFile: DefaultStorable, Equatable {
    var level = 1
    @TaskLocal static var chosen: FileDefaults?
    static var defaults: FileDefaults { chosen ?? .standard }
}

@Suite("A store that is used for the standard one", .waits)
struct SubstituteStoreTests {
    @Test("is used by a settings type that chose none, by no other")
    func choices() async throws {
        let substitute = MemoryDefaults()
        Choosing(level: 2).write()
        try withDefaults(substitute) {
            #expect(Unchoosing.ownStore as AnyObject === substitute)
            #expect(Choosing.ownStore as AnyObject === Choosing.defaults)
            #expect(Choosing.read() == Choosing(level: 2))
            try Choosing.update { $0.level = 3 }
            try Unchoosing.update { $0.level = 4 }
            #expect(LiveSettings<Choosing>().level == 3)
            #expect(LiveSettings<Unchoosing>().level == 4)
            #expect(substitute.storedKeys() == ["Unchoosing"])
        }
        var updates = withDefaults(substitute) { Choosing.updates() }.makeAsyncIterator()
        #expect(await updates.next(isolation: nil) == Choosing(level: 3))
        #expect(Choosing.read() == Choosing(level: 3))
        #expect(Unchoosing.read(from: substitute) == Unchoosing(level: 4))
        // A sequence keeps the store of the time when it was made.
        var others = withDefaults(substitute) { Unchoosing.updates() }.makeAsyncIterator()
        #expect(await others.next(isolation: nil) == Unchoosing(level: 4))
        let number = DefaultsKey<Int>("number")
        var numbers = withDefaults(substitute) { Defaults.updates(number) }.makeAsyncIterator()
        try substitute.set(5, forKey: "number")
        #expect(await numbers.next(isolation: nil) == 5)
    }

    #if !canImport(Darwin)
    @Test("is not used by a settings type that chose another suite of the same kind")
    func otherSuite() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let substitute = MemoryDefaults()
            ChoosingFile.$chosen.withValue(suite) {
                withDefaults(substitute) { ChoosingFile(level: 2).write() }
                #expect(substitute.storedKeys() == [])
                #expect(ChoosingFile.read(from: suite) == ChoosingFile(level: 2))
            }
            withDefaults(substitute) { ChoosingFile(level: 3).write() }
            #expect(substitute.storedKeys() == ["ChoosingFile"])
        }
    }

    @Test("is used from the first asynchronous use in a process on, and no longer than its body runs")
    func firstUse() throws {
        try withTemporaryDirectory { home in
            let outcome = try TestHelper.run(["first-asynchronous-use"], home: home)
            #expect(outcome.output == "inside 1, outside nil\n", "\(outcome.errors)")
        }
    }
    #endif
}

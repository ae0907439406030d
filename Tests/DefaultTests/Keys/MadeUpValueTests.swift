import Default
import DefaultJournal
import Foundation
import Testing

extension Defaults.Keys {
    fileprivate static let installation = Key<UUID?>("installation")
}

@Suite("A value that is made up and kept")
struct MadeUpValueTests {
    @Test("is stored once, and read from then on", arguments: StoreKind.allCases)
    func once(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let defaults = Defaults(suite: store)
            var count = 0
            func make() -> UUID {
                count += 1
                return UUID()
            }
            let first = try defaults.load(.installation, storing: make())
            let second: UUID = try defaults.load(.installation, storing: make())
            #expect(first == second && count == 1)
            #expect(defaults[.installation] == first)
        }
        let id = UUID()
        try withDefaults(MemoryDefaults()) {
            let stored: UUID = try Defaults.load(.installation, storing: id)
            #expect(stored == id && Defaults[.installation] == id)
        }
    }

    @Test("isn't stored where a source has one, nor over one that can't be read, nor when making it fails")
    func others() throws {
        let id = UUID()
        let store = MemoryDefaults(fallbacks: [.values(["installation": .string(id.uuidString)], name: "vendor")])
        #expect(try Defaults(suite: store).load(.installation, storing: UUID()) == id)
        #expect(store.storedKeys() == [])

        let broken = MemoryDefaults(["installation": "no id"])
        expectError(.typeMismatch) { _ = try Defaults(suite: broken).load(.installation, storing: UUID()) }
        #expect(broken.storedValue(forKey: "installation") == "no id")

        struct NoEntropy: Error {}
        func fail() throws -> UUID { throw NoEntropy() }
        let empty = MemoryDefaults()
        #expect(throws: NoEntropy.self) { try Defaults(suite: empty).load(.installation, storing: fail()) }
        #expect(empty.storedKeys() == [])
    }

    @Test("is the same for 40 processes that start at once", .waits)
    func processes() throws {
        try withTemporaryDirectory { directory in
            let suite = directory.appending(path: "suite.defaults")
            let helpers = try (0..<40).map { _ in
                try TestHelper.start(["load-storing", suite.path], pipesOutput: true)
            }
            let ids = helpers.map { $0.readNumbers(atLeast: 1) }
            for helper in helpers {
                helper.waitUntilExit()
                #expect(helper.status == 0)
            }
            #expect(Set(ids).count == 1 && ids[0].count == 1)
        }
    }
}

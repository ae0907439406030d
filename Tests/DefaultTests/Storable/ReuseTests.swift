import Default
import DefaultJournal
import Foundation
import Testing

/// Counts how often values are decoded, in the test's own task.
private enum Decodings {
    @TaskLocal static var count: Guarded<Int>?

    static func note() {
        count?.withLock { $0 += 1 }
    }

}

/// Expects a body to decode so many times.
private func expectDecodings(
    _ number: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
    in body: () throws -> Void
) throws {
    let count = Guarded(0)
    try Decodings.$count.withValue(count, operation: body)
    #expect(count.withLock { $0 } == number, sourceLocation: sourceLocation)
}

/// Nothing but values.
private struct Plain: DefaultStorable, Equatable {
    var name = "bright"
    var sizes: [String: [Double?]] = ["a": [1, nil]]
    var kind = Kind.some(URL(string: "https://example.com/a"))
    var date = Date.distantPast

    enum Kind: Codable, Equatable {
        case none
        case some(URL?)
    }

    enum CodingKeys: CodingKey {
        case name, sizes, kind, date
    }

    static var defaults: CurrentStore { CurrentStore() }

    init() {}

    init(from decoder: any Decoder) throws {
        Decodings.note()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        sizes = try container.decode([String: [Double?]].self, forKey: .sizes)
        kind = try container.decode(Kind.self, forKey: .kind)
        date = try container.decode(Date.self, forKey: .date)
    }
}

/// Has something that can be changed in everybody's hands.
private struct Shared: DefaultStorable {
    final class Part: Codable {
        var count = 0
    }

    var part = Part()

    static var defaults: CurrentStore { CurrentStore() }

    init() {}

    init(from decoder: any Decoder) throws {
        Decodings.note()
        part = try decoder.singleValueContainer().decode([String: Part].self)["part"] ?? Part()
    }
}

private final class Object: DefaultStorable {
    var count = 0
    static var defaults: CurrentStore { CurrentStore() }
}

@Suite("What hasn't changed")
struct ReuseTests {
    @Test("is decoded once, and anew after each change, by whomever", arguments: StoreKind.allCases)
    func unchanged(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            var value = Plain()
            try value.save(withKey: "\(kind)")
            func read() -> Plain? { Plain.read(forKey: "\(kind)") }
            try expectDecodings(1) { #expect(read() == value) }
            try expectDecodings(0) { for _ in 0..<10 { #expect(read() == value) } }
            value.name = "dark"
            value.kind = .none
            try store.set(JSONEncoder().encode(value), forKey: "\(kind)")
            try expectDecodings(1) { #expect(read() == value) }
            try expectDecodings(0) { #expect(read() == value) }
            try store.removeObject(forKey: "\(kind)")
            #expect(read() == nil)
            // The same bytes in another store are the same value.
            try MemoryDefaults().df.save(value, forKey: "\(kind)")

            let key = DefaultsKey<Plain?>("typed \(kind)")
            Defaults(suite: store)[key] = value
            try expectDecodings(1) { for _ in 0..<10 { #expect(Defaults(suite: store)[key] == value) } }
        }
    }

    @Test("is decoded each time where its reader could change it for others", arguments: StoreKind.allCases)
    func objects(kind: StoreKind) throws {
        try kind.withCurrentStore { _ in
            try Shared().save(withKey: "shared \(kind)")
            let first = try #require(try Shared.load(forKey: "shared \(kind)"))
            first.part.count = 5
            let second = try #require(try Shared.load(forKey: "shared \(kind)"))
            #expect(second.part.count == 0)
            #expect(first.part !== second.part)

            try Object().save(withKey: "object \(kind)")
            let object = try Object.load(forKey: "object \(kind)")
            object?.count = 5
            #expect(try Object.load(forKey: "object \(kind)")?.count == 0)
        }
    }

    @Test("is never an earlier value, though many threads write and read")
    func threads() throws {
        let store = MemoryDefaults()
        let key = DefaultsKey<[[Int]?]>("k")
        try onEightThreads {
            let defaults = Defaults(suite: store)
            for _ in 0..<500 {
                defaults.suite.withExclusively {
                    let before = defaults[key].count
                    defaults[key].append([before])
                    #expect(defaults[key].count == before + 1)
                }
                if defaults[key].count > 20 {
                    defaults.reset(key)
                }
            }
        }
    }
}

extension KeyValueStorage {
    fileprivate func withExclusively(_ body: () -> Void) {
        try? withExclusiveAccess(body)
    }
}

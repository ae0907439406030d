import Default
import Foundation
import Testing

private struct Level: DefaultStorable, Equatable {
    var value: Double
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Level? { Level(value: 3) }
}

private struct Point: Codable, Equatable {
    var x = 1.5
}

@Suite("A failure of a call")
struct ErrorSubjectTests {
    @Test("is an error about the key, type and store of the call that refuses it", arguments: StoreKind.allCases)
    func subjects(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let defaults = Defaults(suite: store)
            let point = DefaultsKey<Point>("bytes", default: Point())
            try store.set("text", forKey: "text")
            try store.set(Data("?".utf8), forKey: "bytes")
            let calls: [(DefaultsError.Code, String, Any.Type, () throws -> Void)] = [
                (.typeMismatch, "text", Int.self, { _ = try defaults.load(DefaultsKey<Int>("text")) }),
                (.typeMismatch, "text", Int.self, { try defaults.update(DefaultsKey<Int>("text")) { $0 += 1 } }),
                (.typeMismatch, "text", Point.self, { _ = try store.df.load(forKey: "text", type: Point.self) }),
                (.typeMismatch, "text", Level.self, { _ = try Level.load(forKey: "text") }),
                (.typeMismatch, "text", Level.self, { try Level.update(forKey: "text") { $0.value = 1 } }),
                // Bytes are not a number, whatever they contain.
                (.typeMismatch, "bytes", Int.self, { _ = try defaults.load(DefaultsKey<Int>("bytes")) }),
                (.undecodable, "bytes", Point.self, { _ = try defaults.load(point) }),
                (.undecodable, "bytes", Point.self, { try defaults.update(point) { $0.x = 1 } }),
                (.undecodable, "bytes", Point.self, { _ = try store.df.load(forKey: "bytes", type: Point.self) }),
                (.undecodable, "bytes", Level.self, { _ = try Level.load(forKey: "bytes") }),
                (.encodingFailed, "bytes", Point.self, { try defaults.save(Point(x: .nan), for: point) }),
                (.encodingFailed, "k", Point.self, { try store.df.save(Point(x: .nan), forKey: "k") }),
                (.encodingFailed, "k", Level.self, { try Level(value: .nan).save(withKey: "k") }),
                (.encodingFailed, "k", Level.self, { try Level.update(forKey: "k") { $0.value = .nan } }),
            ]
            for (number, (code, key, type, call)) in calls.enumerated() {
                let error = expectError(code, "call \(number)", from: call)
                #expect(error?.key == key && error?.type == type, "call \(number)")
                #expect(error?.store == store.storeDescription, "call \(number)")
            }
            #expect(store.storedValue(forKey: "text") == .string("text"))
            #expect(store.data(forKey: "bytes") == Data("?".utf8))
            #expect(store.storedValue(forKey: "k") == nil)
        }
    }

    @Test("is an event about the key, type and store of the call that swallows it", arguments: StoreKind.allCases)
    func swallowed(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let defaults = Defaults(suite: store)
            let point = DefaultsKey<Point>("point", default: Point())
            typealias Kind = DefaultsDiagnostics.Event.Kind
            try store.set("text", forKey: "text")
            let calls: [(Kind, DefaultsError.Code, String, Any.Type?, () throws -> Void)] = [
                (.readFailed, .typeMismatch, "text", Int.self, { _ = defaults[DefaultsKey<Int>("text")] }),
                (.readFailed, .typeMismatch, "text", Double.self, { _ = store.value(forKey: "text") as Double? }),
                (
                    .readFailed, .typeMismatch, "text", Point.self,
                    { _ = store.df.fetch(forKey: "text", type: Point.self) }
                ),
                (.readFailed, .typeMismatch, "text", Level.self, { _ = Level.read(forKey: "text") }),
                (.writeFailed, .encodingFailed, "point", Point.self, { defaults[point] = Point(x: .nan) }),
                (.writeFailed, .encodingFailed, "point", Point.self, { defaults[point].x = .nan }),
                (.writeFailed, .encodingFailed, "k", Point.self, { store.df.store(Point(x: .nan), forKey: "k") }),
                (.writeFailed, .encodingFailed, "k", Level.self, { Level(value: .nan).write(withKey: "k") }),
                (.writeFailed, .unsupportedValue, "k", nil, { defaults["k"] = NSObject() }),
            ]
            for (number, (kind, code, key, type, call)) in calls.enumerated() {
                let collector = EventCollector()
                try collector.collect(call)
                #expect(collector.events.map(\.kind) == [kind] && collector.codes == [code], "call \(number)")
                let error = collector.events.first?.error
                #expect(error?.key == key && error?.type == type, "call \(number)")
                #expect(error?.store == store.storeDescription, "call \(number)")
            }
            #expect(store.storedKeys() == ["text"])
            // A removal that fails has its own kind of event.
            for removal in [{ Level.clear(forKey: "") }, { defaults.remove("") }, { defaults.remove("text", "a\0b") }] {
                expectEvents([.removalFailed], from: removal)
            }
            // All keys are checked before any value is removed.
            #expect(store.storedKeys() == ["text"])
        }
    }
}

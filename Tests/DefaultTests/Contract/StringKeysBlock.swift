import Default
import DefaultOperators
import Foundation
import Testing

extension DefaultsKeys {
    fileprivate static let username = DefaultsKey<String?>("username")
    fileprivate static let launchCount = DefaultsKey<Int>("launchCount")
}

private final class Unsupported {}

@Suite("The calls of string-keyed access")
struct StringKeysBlock {
    @Test("store, read, convert and count under string keys", arguments: StoreKind.allCases)
    func stringKeys(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            Defaults["color"] = "red"
            #expect(Defaults["color"].string == "red")
            #expect(Defaults["launchCount"].int ?? 0 == 0)
            #expect(Defaults["launchCount"].int == nil)
            Defaults["lastPaths"] = ["/a", "/b"]
            #expect(Defaults["lastPaths"].array?.first as? String == "/a")
            #expect(Defaults["color"].stringValue == "red")

            #expect(Defaults["absent"].stringValue == "")
            #expect(Defaults["absent"].intValue == 0)
            #expect(Defaults["absent"].doubleValue == 0)
            #expect(Defaults["absent"].boolValue == false)
            #expect(Defaults["absent"].arrayValue.isEmpty)
            #expect(Defaults["absent"].dictionaryValue.isEmpty)
            #expect(Defaults["absent"].dataValue == Data())
            #expect(Defaults["absent"].string == nil)
            #expect(Defaults["absent"].double == nil)
            #expect(Defaults["absent"].bool == nil)
            #expect(Defaults["absent"].data == nil)
            #expect(Defaults["absent"].date == nil)
            #expect(Defaults["absent"].array == nil)
            #expect(Defaults["absent"].dictionary == nil)
            #expect(Defaults["absent"].object == nil)

            #expect(Defaults["color"].date == nil)
            Defaults["color"] = nil
            #expect(Defaults["color"].object == nil)
            #expect(!Defaults.hasKey("color"))
            #expect(!Defaults.hasKey("hotkey"))
            Defaults["hotkey"] = Data([1])
            #expect(Defaults.hasKey("hotkey"))
            Defaults["hotkeyOptions"] = ["shift": true]
            Defaults.remove("hotkeyOptions")
            #expect(!Defaults.hasKey("hotkeyOptions"))
            Defaults.removeAll()
            #expect(!Defaults.hasKey("hotkey"))
            #expect(!Defaults.hasKey("lastPaths"))

            Defaults["magic"] = 3.14
            Defaults["magic"] += 10
            #expect(Defaults["magic"].double == 13.14)
            Defaults["launchCount"] += 1
            #expect(Defaults["launchCount"].int == 1)
            #expect(store.object(forKey: "launchCount") as? Int == 1)
            Defaults["totalTime"] += 3600.0
            #expect(Defaults["totalTime"].double == 3600)
        }
    }

    @Test("accept values of every property-list type", arguments: StoreKind.allCases)
    func values(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let date = Date(timeIntervalSinceReferenceDate: 700_000_000)
            Defaults["string"] = "red"
            Defaults["int"] = 3
            Defaults["double"] = 0.5
            Defaults["bool"] = true
            Defaults["data"] = Data([1, 2])
            Defaults["date"] = date
            Defaults["array"] = [1, 2]
            Defaults["dictionary"] = ["a": 1]
            Defaults["url"] = URL(string: "https://example.com/a")
            #expect(store.object(forKey: "string") as? String == "red")
            #expect(store.object(forKey: "int") as? Int == 3)
            #expect(store.object(forKey: "double") as? Double == 0.5)
            #expect(store.object(forKey: "bool") as? Bool == true)
            #expect(Defaults["data"].data == Data([1, 2]))
            #expect(Defaults["date"].date == date)
            #expect(Defaults["array"].array as? [Int] == [1, 2])
            #expect(Defaults["dictionary"].dictionary as? [String: Int] == ["a": 1])
            #expect(Defaults["url"].string == "https://example.com/a")
            #expect(Defaults["string"].object as? String == "red")
            #expect(
                Defaults().keys
                    == ["array", "bool", "data", "date", "dictionary", "double", "int", "string", "url"]
            )
            Defaults.remove("string")
            #expect(!Defaults.hasKey("string"))
        }
    }

    #if Foundation
    @Test("are NSNumbers too", arguments: StoreKind.allCases)
    func numbers(kind: StoreKind) throws {
        try kind.withStandardStore { _ in
            Defaults["double"] = 0.5
            Defaults["text"] = "12.5 apples"
            Defaults["true"] = true
            #expect(Defaults["double"].number == 0.5)
            #expect(Defaults["text"].number == nil)
            #expect(Defaults["true"].number == 1)
            #expect(Defaults["absent"].number == nil)
            #expect(Defaults["absent"].numberValue == 0)
            expectReport(.unsupportedValue) { Defaults["double"] = NSObject() }
        }
    }
    #endif

    @Test("report objects that a property list can't hold, and keep the stored value", arguments: StoreKind.allCases)
    func unsupported(kind: StoreKind) throws {
        try kind.withStandardStore { _ in
            Defaults["k"] = "before"
            expectReport(.unsupportedValue) { Defaults["k"] = Unsupported() }
            #expect(Defaults["k"].string == "before")
            expectReport(.invalidKey) { Defaults[""] = 1 }
        }
    }

    @Test("assign if absent, and count, with DefaultOperators", arguments: StoreKind.allCases)
    func operators(kind: StoreKind) throws {
        try kind.withStandardStore { _ in
            Defaults["color"] ?= "white"
            Defaults["color"] ?= "black"
            #expect(Defaults["color"].string == "white")
            Defaults["launchCount"]++
            Defaults["launchCount"]++
            #expect(Defaults["launchCount"].int == 2)
            Defaults[.username] ?= "guest"
            Defaults[.username] ?= "root"
            #expect(Defaults[.username] == "guest")
            Defaults[.launchCount]++
            #expect(Defaults[.launchCount] == 3)
            let defaults = Defaults(suite: MemoryDefaults())
            defaults["color"] ?= "green"
            defaults[.launchCount]++
            #expect(defaults["color"].string == "green")
            #expect(defaults[.launchCount] == 1)
            // The right-hand side is evaluated only if it is needed.
            var evaluated = 0
            func next() -> String {
                evaluated += 1
                return "next"
            }
            defaults["color"] ?= next()
            Defaults[.username] ?= next()
            #expect(evaluated == 0)
            defaults[.username] ?= next()
            #expect(evaluated == 1 && defaults[.username] == "next")
            Defaults["volume"] = 0.5
            Defaults["volume"]++
            #expect(Defaults["volume"].double == 1.5)
            expectReport(.unsupportedValue) { Defaults["other"] ?= Unsupported() }
            expectReport(.invalidKey) { Defaults[""] ?= 1 }
            expectReport(.invalidKey) { Defaults[""]++ }
            #expect(!Defaults.hasKey("other"))
            var count = 1
            count++
            #expect(count == 2)
        }
    }
}

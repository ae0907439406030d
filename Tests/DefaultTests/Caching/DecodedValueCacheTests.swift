import Foundation
import Testing

@testable import Default

@Suite("The cache of decoded values")
struct DecodedValueCacheTests {
    @Test("keeps no value that was removed, once this was noticed", .ownCache)
    func removed() throws {
        struct Settings: DefaultStorable { var count = 1 }
        let store = MemoryDefaults()
        try Settings().save(to: store)
        #expect(Settings.read(from: store)?.count == 1)
        let data = try #require(store.data(forKey: Settings.defaultIdentifier))
        func isKept() -> Bool {
            DecodedValueCache.of(store).contains(data, of: Settings.self, forKey: Settings.defaultIdentifier)
        }
        #expect(isKept())
        try store.removeObject(forKey: Settings.defaultIdentifier)
        #expect(Settings.read(from: store) == nil)
        #expect(!isKept())
    }

    @Test("has the last content of each key")
    func contents() {
        let cache = DecodedValueCache()
        for count in [0, 1, 14, 15, 100_000] {
            let key = "contents \(count)"
            let data = Data(repeating: 1, count: count)
            #expect(!cache.contains(data, of: Int.self, forKey: key))
            cache.insert(data, of: Int.self, forKey: key)
            #expect(cache.contains(data, of: Int.self, forKey: key))
            #expect(cache.contains(Data([UInt8](data)), of: Int.self, forKey: key))
            #expect(!cache.contains(data, of: Int.self, forKey: "another"))
            #expect(!cache.contains(data + [0], of: Int.self, forKey: key))
            if count > 0 {
                #expect(!cache.contains(data.dropLast() + [2], of: Int.self, forKey: key))
            }
            cache.insert(data + [0], of: Int.self, forKey: key)
            #expect(!cache.contains(data, of: Int.self, forKey: key))
            #expect(cache.contains(data + [0], of: Int.self, forKey: key))
            cache.remove(key, of: Int.self)
            #expect(!cache.contains(data + [0], of: Int.self, forKey: key))
        }
    }

    @Test("shares a value from the third read on, until the bytes change")
    func sharing() throws {
        let cache = DecodedValueCache()
        var decodings = 0
        func read(_ bytes: String) throws -> [Int] {
            try cache.value(of: Data(bytes.utf8), forKey: "k") {
                decodings += 1
                return [bytes.utf8.count]
            }
        }
        for (bytes, expected) in [("a", 1), ("a", 3), ("a", 3), ("a", 3), ("bb", 4), ("a", 5), ("a", 7), ("a", 7)] {
            #expect(try read(bytes) == [bytes.utf8.count])
            #expect(decodings == expected)
        }
        // A writer's entry does not count as a read, and does not replace an existing entry.
        cache.insert(Data("a".utf8), of: [Int].self, forKey: "k")
        #expect(try read("a") == [1])
        #expect(decodings == 7)
        cache.insert(Data("ccc".utf8), of: [Int].self, forKey: "k")
        for expected in [8, 10, 10] {
            #expect(try read("ccc") == [3])
            #expect(decodings == expected)
        }
    }

    @Test("returns the value of its own bytes to each of many threads")
    func threads() throws {
        struct OtherContent: Error {}
        let cache = DecodedValueCache()
        try onEightThreads {
            for number in 0..<2_000 {
                let key = "key \(number % 3)"
                let text = "content \(number % 7)"
                guard try cache.value(of: Data(text.utf8), forKey: key, decode: { text }) == text else {
                    throw OtherContent()
                }
                if number.isMultiple(of: 97) {
                    cache.remove(key, of: String.self)
                }
            }
        }
    }

    @Test("does not grow without limit")
    func bounds() {
        let cache = DecodedValueCache()
        let keys = (0...DecodedValueCache.capacity).map { "bounds \($0)" }
        var isKept = true
        for key in keys {
            cache.insert(Data([1]), of: Int.self, forKey: key)
            isKept = isKept && cache.contains(Data([1]), of: Int.self, forKey: key)
        }
        #expect(isKept)
        let count = keys.count { cache.contains(Data([1]), of: Int.self, forKey: $0) }
        #expect(count == 1)
    }

    @Test("keeps each of many keys and types apart, and decodes none again")
    func manyKeys() throws {
        let cache = DecodedValueCache()
        var decodings = 0
        func decoded<Value>(_ value: Value) -> Value {
            decodings += 1
            return value
        }
        let keys = (0..<1_000).map { String(repeating: "k", count: $0 % 20) + "\($0)" }
        for round in 1...4 {
            for (number, key) in keys.enumerated() {
                #expect(try cache.value(of: Data([1]), forKey: key, decode: { decoded(number) }) == number)
                #expect(try cache.value(of: Data([1]), forKey: key, decode: { decoded("\(number)") }) == "\(number)")
            }
            // The first round decodes each value once, the second twice to find out whether reads may share it, and
            // later ones never.
            #expect(decodings == 2 * keys.count * min(2 * round - 1, 3), "\(round)")
        }
    }

    @Test("finds all other entries after some were removed, in whatever order")
    func removals() {
        let cache = DecodedValueCache()
        var random = SeededGenerator(state: TestExtent.seed)
        var left: Set<String> = []
        for number in 0..<2_000 {
            let key = "key \(Int.random(in: 0..<60, using: &random))"
            if Bool.random(using: &random) {
                cache.insert(Data([1]), of: Int.self, forKey: key)
                left.insert(key)
            } else {
                cache.remove(key, of: Int.self)
                left.remove(key)
            }
            let found = (0..<60).map { "key \($0)" }.filter { cache.contains(Data([1]), of: Int.self, forKey: $0) }
            #expect(Set(found) == left, "after \(number) changes")
        }
    }

    @Test("does not call bytes complete that can't be decoded as they are")
    func completeness() {
        let cache = DecodedValueCache()
        let data = Data([1])
        cache.share(7, of: data, forKey: "k")
        cache.insert(data, of: Int.self, forKey: "k", isComplete: true)
        #expect(!cache.contains(data, of: Int.self, forKey: "k"))
        #expect(!cache.isComplete(data, of: Int.self, forKey: "k"))
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "k") == 7)
        cache.remove("k", of: Int.self)
        cache.insert(data, of: Int.self, forKey: "k")
        cache.insert(data, of: Int.self, forKey: "k", isComplete: true)
        #expect(cache.isComplete(data, of: Int.self, forKey: "k"))
    }

    @Test("distinguishes types")
    func types() throws {
        struct One: Equatable {}
        struct Other: Equatable {}
        for _ in 0..<3 {
            #expect(TypeInfo.of(One.self).pointee.plainName == "One")
            #expect(TypeInfo.of(Other.self).pointee.plainName == "Other")
            #expect(TypeInfo.of(One.self) == TypeInfo.of(One.self))
        }
        let cache = DecodedValueCache()
        for _ in 0..<3 {
            #expect(try cache.value(of: Data([1]), forKey: "k", decode: { 1 }) == 1)
            #expect(try cache.value(of: Data([1]), forKey: "k", decode: { "one" }) == "one")
        }
        cache.remove("k", of: Int.self)
        #expect(!cache.contains(Data([1]), of: Int.self, forKey: "k"))
        #expect(cache.contains(Data([1]), of: String.self, forKey: "k"))
    }

    @Test("remembers an error that lasts, until the bytes change, and no other")
    func errors() throws {
        struct Fault: Error {}
        let cache = DecodedValueCache()
        var decodings = 0
        func read(_ bytes: String, isLasting: Bool?) -> Bool {
            func decode() throws -> Int {
                decodings += 1
                throw Fault()
            }
            do {
                let data = Data(bytes.utf8)
                if let isLasting {
                    _ = try cache.value(of: data, forKey: "k", isLasting: { $0 is Fault && isLasting }, decode: decode)
                } else {
                    _ = try cache.value(of: data, forKey: "k", decode: decode)
                }
                return true
            } catch {
                return !(error is Fault)
            }
        }
        let reads: [(String, Bool?, Int)] = [
            ("a", nil, 1), ("a", nil, 2), ("a", false, 3), ("a", true, 4), ("a", true, 4), ("a", nil, 4),
            ("b", false, 5), ("a", true, 5), ("b", true, 6), ("a", true, 7),
        ]
        for (number, (bytes, isLasting, expected)) in reads.enumerated() {
            #expect(!read(bytes, isLasting: isLasting), "read \(number)")
            #expect(decodings == expected, "read \(number)")
            #expect(!cache.contains(Data(bytes.utf8), of: Int.self, forKey: "k"), "read \(number)")
        }
        // A writer's entry does not make these bytes decodable.
        cache.insert(Data("a".utf8), of: Int.self, forKey: "k", isComplete: true)
        #expect(!cache.contains(Data("a".utf8), of: Int.self, forKey: "k"))
        #expect(!cache.isComplete(Data("a".utf8), of: Int.self, forKey: "k"))
        #expect(!read("a", isLasting: true) && decodings == 7)
    }

    @Test("shares a value under a condition with reads that ask whether it is met, and with no others")
    func conditions() throws {
        let cache = DecodedValueCache()
        let data = Data([1])
        let condition = DecodedValueCache.Condition(key: "other", value: .integer(5))
        func shared(_ data: Data, isMet: Bool) -> Int? {
            do {
                let value: Int = try cache.value(of: data, forKey: "k") { condition in
                    #expect(condition.key == "other" && condition.value == .integer(5))
                    return isMet
                }
                return value
            } catch {
                return nil
            }
        }
        #expect(shared(data, isMet: true) == nil)
        cache.share(7, of: data, forKey: "k", while: condition)
        #expect(shared(data, isMet: true) == 7 && shared(data, isMet: false) == nil && shared(data, isMet: true) == 7)
        #expect(shared(Data([2]), isMet: true) == nil)
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "k") == 7)
        #expect(!cache.contains(data, of: Int.self, forKey: "k"))
        // A read that doesn't ask for conditions decodes each time, and leaves the shared value in the cache.
        for number in 1...3 {
            #expect(try cache.value(of: data, forKey: "k", decode: { number }) == number)
        }
        #expect(shared(data, isMet: true) == 7)
        // A value without a condition is not shared with reads that ask for one.
        cache.share(8, of: data, forKey: "k")
        #expect(shared(data, isMet: true) == nil)
        #expect(try cache.value(of: data, forKey: "k", decode: { 9 }) == 8)
    }

    @Test("keeps what is known of bytes by the type that they are read as, and the key")
    func known() {
        let cache = DecodedValueCache()
        let data = Data([1])
        cache.share("known", of: data, as: Int.self, forKey: "k")
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "k") == "known")
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "k") as Int? == nil)
        #expect(cache.sharedValue(of: data, as: String.self, forKey: "k") as String? == nil)
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "other") as String? == nil)
        #expect(cache.sharedValue(of: Data([2]), as: Int.self, forKey: "k") as String? == nil)
        cache.remove("other", of: Int.self)
        cache.remove("k", of: String.self)
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "k") == "known")
        cache.remove("k", of: Int.self)
        #expect(cache.sharedValue(of: data, as: Int.self, forKey: "k") as String? == nil)
    }

    @Test("keeps that bytes are decodable and complete while their value is read and shared")
    func flags() throws {
        final class Object {}
        let cache = DecodedValueCache()
        let data = Data([1])
        func check<Value>(_ value: Value, isComplete: Bool, forKey key: String) throws {
            cache.insert(data, of: Value.self, forKey: key, isComplete: isComplete)
            for _ in 0..<3 {
                _ = try cache.value(of: data, forKey: key, decode: { value })
                #expect(cache.contains(data, of: Value.self, forKey: key))
                #expect(cache.isComplete(data, of: Value.self, forKey: key) == isComplete)
                // The flag is kept.
                cache.insert(data, of: Value.self, forKey: key)
                #expect(cache.isComplete(data, of: Value.self, forKey: key) == isComplete)
            }
            cache.insert(data, of: Value.self, forKey: key, isComplete: true)
            #expect(cache.isComplete(data, of: Value.self, forKey: key))
            #expect(!cache.isComplete(data + [0], of: Value.self, forKey: key))
        }
        for isComplete in [true, false] {
            try check(7, isComplete: isComplete, forKey: "number \(isComplete)")
            try check(Object(), isComplete: isComplete, forKey: "object \(isComplete)")
            // The value is still shared after that.
            #expect(try cache.value(of: data, forKey: "number \(isComplete)", decode: { 8 }) == 7)
        }
        cache.insert(data, of: Int.self, forKey: "new", isComplete: true)
        #expect(cache.isComplete(data, of: Int.self, forKey: "new"))
        // Sharing a value keeps both flags; bytes of which nothing was known get neither.
        cache.share(9, of: data, forKey: "new")
        #expect(
            cache.contains(data, of: Int.self, forKey: "new") && cache.isComplete(data, of: Int.self, forKey: "new")
        )
        cache.share(9, of: data + [0], forKey: "new")
        #expect(!cache.contains(data + [0], of: Int.self, forKey: "new"))
        #expect(!cache.isComplete(data + [0], of: Int.self, forKey: "new"))
    }
}

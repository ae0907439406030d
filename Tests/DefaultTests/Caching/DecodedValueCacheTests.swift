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
            DecodedValueCache.shared.contains(data, of: Settings.self, forKey: Settings.defaultIdentifier)
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
        // An entry that a writer inserts does not count as read, and does not replace an existing one.
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
        let keys = (0..<4 * DecodedValueCache.capacity).map { "bounds \($0)" }
        for key in keys {
            cache.insert(Data([1]), of: Int.self, forKey: key)
            #expect(cache.contains(Data([1]), of: Int.self, forKey: key))
        }
        let count = keys.count { cache.contains(Data([1]), of: Int.self, forKey: $0) }
        #expect(count <= DecodedValueCache.capacity)
        // Keys that differ in a digit are spread over the slots.
        #expect(count > DecodedValueCache.capacity / 2)
    }

    @Test("never gives the value of another key or type, even from a shared slot")
    func sharedSlots() throws {
        let cache = DecodedValueCache()
        for round in 0..<4 {
            for number in 0..<2 * DecodedValueCache.capacity {
                let key = String(repeating: "k", count: number % 20) + "\(number)"
                #expect(try cache.value(of: Data([1]), forKey: key, decode: { number }) == number)
                guard number < 500 else { continue }
                #expect(try cache.value(of: Data([1]), forKey: key, decode: { "\(number)" }) == "\(number)", "\(round)")
            }
        }
    }

    @Test("never takes the content of one type for another's, where both share a slot for one key")
    func sharedSlotsOfTypes() {
        let cache = DecodedValueCache()
        let data = Data([1])
        // Among so many keys there are some for which two types share a slot.
        let mistaken = (0..<40 * DecodedValueCache.capacity).count { number in
            let key = "shared \(number)"
            cache.insert(data, of: Int.self, forKey: key)
            return cache.contains(data, of: String.self, forKey: key)
        }
        #expect(mistaken == 0)
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
}

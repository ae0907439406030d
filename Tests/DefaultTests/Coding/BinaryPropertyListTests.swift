import Foundation
import Testing

@testable import Default

@Suite("A binary property list")
struct BinaryPropertyListTests {
    private let object: [String: Any] = [
        "large": UInt64.max, "small": -1, "ratio": 0.1, "single": Float(0.5), "flag": true, "date": Date(), "empty": "",
        "long text": String(repeating: "x", count: 300), "unicode": String(repeating: "é", count: 70_000),
        "data": Data(count: 20), "many": (0..<500).map { ["n": $0, "same": ["text"]] as [String: Any] },
        "none": [Any](),
    ]

    @Test("is passed to Foundation if its offsets and counts are in bounds")
    func intact() throws {
        let data = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        #expect(BinaryPropertyList.isSafe(data))
        let tree = try #require(StoredTree.parse(data))
        let again = try #require(tree.tree.data(in: tree.format))
        #expect(BinaryPropertyList.isSafe(again))
        #expect(StoredTree.parse(again)?.tree == tree.tree)
        #expect(try tree.tree == StoredTree(PropertyListValue(object: object)))
        for other in ["", "b", "{}", "<?xml?>"] {
            #expect(BinaryPropertyList.isSafe(Data(other.utf8)))
        }
    }

    @Test("has the value that Foundation reads from it")
    func values() throws {
        func data(_ object: Any) throws -> Data {
            try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        }
        #expect(try BinaryPropertyList.value(of: data(object)) == PropertyListValue(object: object))
        let numbers: [any BinaryInteger] = [
            0, 1, 127, 128, 255, 256, 65_535, 65_536, UInt64(UInt32.max), Int64.max, Int64.min, -1, -128,
            UInt64(Int64.max) + 1, UInt64.max,
        ]
        for number in numbers {
            let value: PropertyListValue = Int64(exactly: number).map { .integer($0) } ?? .unsigned(UInt64(number))
            #expect(try BinaryPropertyList.value(of: data([number])) == .array([value]))
        }
        for real in [0.0, -0.0, 1, 0.1, -.infinity, .greatestFiniteMagnitude] {
            let value = try BinaryPropertyList.value(of: data([real]))
            #expect(value == .array([.real(real)]))
            guard case .array(let elements)? = value, case .real(let read)? = elements.first else { continue }
            #expect(read.sign == real.sign)
        }
        let long = String(repeating: "\u{1F600}x", count: 200)
        for text in ["", "a", "\u{7F}", "é", "e\u{301}", "\u{1F600}", long, "$null"] {
            #expect(try BinaryPropertyList.value(of: data([text])) == .array([.string(text)]))
        }
        #expect(BinaryPropertyList.value(of: Data("{}".utf8)) == nil)
        let dates = [Date.distantPast, Date(timeIntervalSinceReferenceDate: 0.25)]
        #expect(try BinaryPropertyList.value(of: DefaultsCoder.propertyList.encode(dates)) == dates.propertyListValue)
    }

    @Test("is read as nothing else when any of its bytes is wrong")
    func flipped() throws {
        let intact = try DefaultsCoder.propertyList.encode(["a": ["x", "é"], "bc": ["1", "2"]])
        for index in intact.indices {
            for bit in 0..<8 {
                var data = intact
                data[index] ^= 1 << bit
                guard let value = BinaryPropertyList.value(of: data), BinaryPropertyList.isSafe(data) else { continue }
                // Foundation's decoder reads the same strings, if it reads the list at all.
                guard let read = try? DefaultsCoder.propertyList.decode([String: [String]].self, from: data) else {
                    continue
                }
                #expect(value == read.propertyListValue, "\(index), \(bit)")
            }
        }
    }

    @Test("that is truncated or refers to itself is not passed to Foundation")
    func damaged() throws {
        let data = try DefaultsCoder.propertyList.encode(["a": [1, 2], "b": [3]])
        for count in 8..<data.count {
            #expect(!BinaryPropertyList.isSafe(data.prefix(count)))
        }
        // The only element of this array is the array itself.
        var cycle = Data("bplist00".utf8) + [0xA1, 0, 8]
        cycle += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + Data(count: 8) + [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(!BinaryPropertyList.isSafe(cycle))
        let store = MemoryDefaults()
        try store.set(cycle, forKey: "k")
        expectError(.undecodable) { try store.df.load(forKey: "k", type: [Int].self, decoder: PropertyListDecoder()) }
        // Each array holds the next one twice, so a few bytes stand for an exponential number of values.
        var laughs = Data("bplist00".utf8)
        for level in UInt8(1)...100 {
            laughs += [0xA2, level, level]
        }
        laughs += [0x08]
        laughs += (0...100).map { UInt8(8 + min($0 * 3, 240)) }
        laughs += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 80] + Data(count: 8) + [0, 0, 0, 0, 0, 0, 1, 0x35]
        #expect(!BinaryPropertyList.isSafe(laughs))
    }
}

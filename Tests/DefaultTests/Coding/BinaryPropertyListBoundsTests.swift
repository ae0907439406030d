import Foundation
import Testing

@testable import Default

/// A hand-made binary property list, in which any part can be wrong.
private struct HandmadeList {
    var objects: [[UInt8]]
    var offsetSize = 1
    var referenceSize = 1
    var count: Int?
    var top = 0
    var tableShift = 0
    /// Offsets that replace the correct ones.
    var offsets: [Int: Int] = [:]

    var data: Data {
        var data = Data("bplist00".utf8)
        var places: [Int] = []
        for object in objects {
            places.append(data.count)
            data += object
        }
        let table = data.count
        for (number, place) in places.enumerated() {
            data += bigEndian(offsets[number] ?? place, size: offsetSize)
        }
        data += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        data += bigEndian(count ?? objects.count, size: 8) + bigEndian(top, size: 8)
        return data + bigEndian(table + tableShift, size: 8)
    }

    var isSafe: Bool { BinaryPropertyList.isSafe(data) }

    var value: PropertyListValue? { BinaryPropertyList.value(of: data) }

    private func bigEndian(_ number: Int, size: Int) -> [UInt8] {
        (0..<size).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> ($0 * 8)) : 0 }
    }
}

@Suite("The parts of a binary property list")
struct BinaryPropertyListBoundsTests {
    @Test("are left to Foundation where they are not what it writes")
    func unusual() {
        // Half a surrogate pair, a byte that is not ASCII, a reference to another object, null, and a large negative
        // number.
        let objects: [[UInt8]] = [
            [0x61, 0xD8, 0], [0x51, 0xE9], [0x80, 1], [0x00], [0x14] + Array(repeating: 0xFF, count: 16),
            [0x14] + Array(repeating: 0, count: 16),
        ]
        for object in objects {
            let list = HandmadeList(objects: [object, [0x09]])
            #expect(list.value == nil, "\(object)")
        }
        // The same key twice, and a key that is not a string.
        #expect(HandmadeList(objects: [[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x09]]).value == nil)
        #expect(HandmadeList(objects: [[0xD1, 1, 1], [0x09]]).value == nil)
        let usual = HandmadeList(objects: [[0xD1, 1, 2], [0x51, 0x61], [0x09]])
        #expect(usual.value == .dictionary(["a": .boolean(true)]))
        #expect(HandmadeList(objects: [[0xA1, 1], [0x08]]).value == .array([.boolean(false)]))
        #expect(HandmadeList(objects: [[0xA1, 0]]).value == nil)
    }

    @Test("have the values that their bytes say, in every size")
    func values() {
        let values: [([UInt8], PropertyListValue)] = [
            ([0x08], .boolean(false)), ([0x09], .boolean(true)), ([0x10, 200], .integer(200)),
            ([0x11, 0xFF, 0xFE], .integer(65_534)), ([0x12, 0x80, 0, 0, 1], .integer(2_147_483_649)),
            ([0x13] + Array(repeating: 0xFF, count: 8), .integer(-1)),
            ([0x13, 0x80, 0, 0, 0, 0, 0, 0, 0], .integer(.min)),
            ([0x14] + Array(repeating: 0, count: 8) + [0x80, 0, 0, 0, 0, 0, 0, 1], .unsigned(1 << 63 + 1)),
            ([0x22, 0x3F, 0, 0, 0], .real(0.5)), ([0x23, 0xBF, 0xE0, 0, 0, 0, 0, 0, 0], .real(-0.5)),
            ([0x33, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0], .date(Date(timeIntervalSinceReferenceDate: 1))),
            ([0x40], .data(Data())), ([0x42, 7, 8], .data(Data([7, 8]))), ([0x50], .string("")),
            ([0x52, 0x61, 0x7F], .string("a\u{7F}")), ([0x62, 0, 0xE9, 0x20, 0xAC], .string("é€")),
            ([0x62, 0xD8, 0x3D, 0xDE, 0x00], .string("\u{1F600}")), ([0xA0], .array([])), ([0xD0], .dictionary([:])),
            ([0x4F, 0x10, 2, 7, 8], .data(Data([7, 8]))), ([0x5F, 0x11, 0, 2, 0x61, 0x62], .string("ab")),
        ]
        for (object, value) in values {
            for size in 1...8 {
                #expect(HandmadeList(objects: [object], offsetSize: size).value == value, "\(object), \(size)")
            }
            #expect(HandmadeList(objects: [[0x08], object, [0x08]], top: 1).value == value, "\(object)")
            #expect(HandmadeList(objects: [[0xA2, 2, 1], object, [0x10, 1]]).value == .array([.integer(1), value]))
        }
        let keys: [[UInt8]] = [[0x51, 0x61], [0x51, 0x62]]
        let entries = HandmadeList(objects: [[0xD2, 1, 2, 3, 4]] + keys + [[0x10, 1], [0x10, 2]])
        #expect(entries.value == .dictionary(["a": .integer(1), "b": .integer(2)]))
        let wide = HandmadeList(
            objects: [[0xD2, 0, 1, 0, 2, 0, 3, 0, 4]] + keys + [[0x10, 1], [0x08]],
            referenceSize: 2
        )
        #expect(wide.value == .dictionary(["a": .integer(1), "b": .boolean(false)]))
        let list = HandmadeList(
            objects: [[0xA2, 0, 2, 0, 1], [0x10, 1], [0x10, 2]],
            offsetSize: 2,
            referenceSize: 2
        )
        #expect(list.value == .array([.integer(2), .integer(1)]))
        // The version is another one than Foundation writes.
        var other = HandmadeList(objects: [[0x08]]).data
        other[7] = UInt8(ascii: "1")
        #expect(BinaryPropertyList.value(of: other) == nil && BinaryPropertyList.isSafe(other))
    }

    @Test("may end where the table of offsets begins, and no byte later")
    func lastByte() {
        let objects: [[UInt8]] = [
            [0x10, 1], [0x11, 0, 1], [0x12, 0, 0, 0, 1], [0x13] + Array(repeating: 0, count: 8),
            [0x14] + Array(repeating: 0, count: 16), [0x22, 0, 0, 0, 0], [0x23] + Array(repeating: 0, count: 8),
            [0x33] + Array(repeating: 0, count: 8), [0x80, 1], [0x81, 0, 1], [0x42, 1, 2], [0x52, 0x61, 0x62],
            [0x61, 0, 0x61], [0x72, 0x61, 0x62], [0x4F, 0x10, 3, 1, 2, 3], [0x5F, 0x11, 0, 2, 0x61, 0x62],
            [0x6F, 0x10, 1, 0, 0x61], [0x5F, 0x12, 0, 0, 0, 1, 0x61], [0x4F, 0x13, 0, 0, 0, 0, 0, 0, 0, 1, 9],
        ]
        for object in objects {
            #expect(HandmadeList(objects: [object]).isSafe, "\(object)")
            #expect(!HandmadeList(objects: [object.dropLast()]).isSafe, "\(object)")
        }
        for object in [[0x00], [0x08], [0x09], [0x40], [0x50], [0xA0], [0xC0], [0xD0]] as [[UInt8]] {
            #expect(HandmadeList(objects: [object]).isSafe, "\(object)")
        }
    }

    @Test("are of a kind and size that there is")
    func kinds() {
        let unknown: [[UInt8]] = [
            [0x15] + Array(repeating: 0, count: 40), [0x20, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x21] + Array(repeating: 0, count: 8),
            [0x24] + Array(repeating: 0, count: 40), [0x32, 0, 0, 0, 0], [0x34] + Array(repeating: 0, count: 40),
            [0x90], [0xB0], [0xE0], [0xF0], [0x4F, 0x20, 1, 0], [0x4F, 0x14] + Array(repeating: 0, count: 40), [0x4F],
        ]
        for object in unknown {
            #expect(!HandmadeList(objects: [object]).isSafe, "\(object)")
        }
        // A count larger than any, in a number that has room for it.
        #expect(!HandmadeList(objects: [[0x4F, 0x13] + Array(repeating: 0xFF, count: 8)]).isSafe)
        #expect(!HandmadeList(objects: [[0xAF, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7)]).isSafe)
    }

    @Test("refer to objects that there are")
    func references() {
        let one: [UInt8] = [0x10, 1]
        let key: [UInt8] = [0x51, 0x61]
        #expect(HandmadeList(objects: [[0xA1, 1], one]).isSafe)
        #expect(HandmadeList(objects: [[0xA2, 1, 1], one]).isSafe)
        #expect(!HandmadeList(objects: [[0xA1, 2], one]).isSafe)
        #expect(!HandmadeList(objects: [[0xA1, 0], one]).isSafe)
        #expect(!HandmadeList(objects: [[0xA2, 1, 2], one]).isSafe)
        #expect(!HandmadeList(objects: [one, [0xA2, 0]], top: 1).isSafe)
        #expect(HandmadeList(objects: [[0xD1, 1, 2], key, one]).isSafe)
        #expect(!HandmadeList(objects: [[0xD1, 1, 3], key, one]).isSafe)
        #expect(!HandmadeList(objects: [[0xD1, 3, 1], key, one]).isSafe)
        #expect(!HandmadeList(objects: [key, one, [0xD1, 0]], top: 2).isSafe)
        #expect(HandmadeList(objects: [[0xC1, 1], one]).isSafe)
        #expect(!HandmadeList(objects: [[0xC1, 2], one]).isSafe)
        #expect(HandmadeList(objects: [[0xA1, 0, 1], one], referenceSize: 2).isSafe)
        #expect(!HandmadeList(objects: [[0xA1, 1, 0], one], referenceSize: 2).isSafe)
        #expect(HandmadeList(objects: [[0xAF, 0x10, 15] + Array(repeating: 1, count: 15), one]).isSafe)
    }

    @Test("are visited as often as the list has bytes, and no more, however often it refers to them")
    func visits() {
        func array(of count: Int, _ reference: UInt8) -> [UInt8] {
            [0xA0 | UInt8(count)] + Array(repeating: reference, count: count)
        }
        // The list has 61 bytes, and 1 + 6 + 6 * 9 visits.
        let list = HandmadeList(objects: [array(of: 6, 1), array(of: 9, 2), [0x09]])
        #expect(list.data.count == 61)
        #expect(list.isSafe)
        // The list has 63 bytes, and 1 + 7 + 7 * 8 visits.
        let larger = HandmadeList(objects: [array(of: 7, 1), array(of: 8, 2), [0x11, 0, 1]])
        #expect(larger.data.count == 63)
        #expect(!larger.isSafe)
    }

    @Test("lie where the trailer says")
    func trailer() {
        let one: [UInt8] = [0x10, 1]
        #expect(HandmadeList(objects: [one]).isSafe)
        #expect(HandmadeList(objects: [one, one], top: 1).isSafe)
        #expect(!HandmadeList(objects: [one], top: 1).isSafe)
        #expect(!HandmadeList(objects: [one], count: 0).isSafe)
        #expect(!HandmadeList(objects: [one], count: 2).isSafe)
        #expect(!HandmadeList(objects: [one], count: .max).isSafe)
        #expect(!HandmadeList(objects: [one], top: .max).isSafe)
        #expect(!HandmadeList(objects: [one], tableShift: 1).isSafe)
        #expect(!HandmadeList(objects: [one], tableShift: 100).isSafe)
        #expect(HandmadeList(objects: [one], offsetSize: 8).isSafe)
        #expect(HandmadeList(objects: [one], referenceSize: 8).isSafe)
        for size in [0, 9, 255] {
            #expect(!HandmadeList(objects: [one], offsetSize: size).isSafe)
            #expect(!HandmadeList(objects: [one], referenceSize: size).isSafe)
        }
        // The object is in the table of offsets, or behind it.
        #expect(!HandmadeList(objects: [[0x00]], offsets: [0: 9]).isSafe)
        #expect(!HandmadeList(objects: [[0x00]], offsets: [0: 10]).isSafe)
        #expect(!HandmadeList(objects: []).isSafe)
    }

    @Test("do not begin in the magic number at the beginning")
    func mark() {
        // The letters would be an object, and the byte behind them the table.
        var data = Data("bplist".utf8) + [0]
        data += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + Data(count: 8) + [0, 0, 0, 0, 0, 0, 0, 6]
        #expect(!BinaryPropertyList.isSafe(data))
    }

    @Test("are not visited more often than there are bytes")
    func sharedParts() {
        // Each array holds the next one twice.
        var objects: [[UInt8]] = []
        for next in UInt8(1)...60 {
            objects.append([0xA2, next, next])
        }
        objects.append([0x08])
        #expect(!HandmadeList(objects: objects, offsetSize: 2).isSafe)
    }

    @Test("nest no deeper than values do")
    func levels() {
        func list(_ levels: Int) -> HandmadeList {
            var objects: [[UInt8]] = []
            for next in 1...levels {
                objects.append([0xA1, UInt8(next >> 8), UInt8(next & 0xFF)])
            }
            objects.append([0x10, 1])
            return HandmadeList(objects: objects, offsetSize: 2, referenceSize: 2)
        }
        #expect(list(256).isSafe)
        #expect(!list(257).isSafe)
    }
}

@Suite("A damaged binary property list under a key")
struct DamagedListTests {
    @Test("is an error for its reader, and ends no process")
    func reading() throws {
        let huge = [UInt8](repeating: 0xFF, count: 7)
        let one: [UInt8] = [0x10, 1]
        let lists = [
            HandmadeList(objects: [one], count: .max), HandmadeList(objects: [one], top: .max),
            HandmadeList(objects: [one], tableShift: 1_000), HandmadeList(objects: [one], tableShift: .max / 2),
            HandmadeList(objects: [[0x4F, 0x13, 0x7F] + huge]), HandmadeList(objects: [[0xAF, 0x13, 0x7F] + huge]),
            HandmadeList(objects: [[0xDF, 0x13, 0x7F] + huge]), HandmadeList(objects: [[0x6F, 0x13, 0x7F] + huge]),
            HandmadeList(objects: [[0xA1, 9], one]), HandmadeList(objects: [[0xA1, 0]]),
            HandmadeList(objects: [[0xD1, 0, 0]]), HandmadeList(objects: [one], offsets: [0: 200]),
            HandmadeList(objects: [one], offsetSize: 8, offsets: [0: .max]),
        ]
        let store = MemoryDefaults()
        for list in lists {
            try store.setStoredValue(.data(list.data), forKey: "k")
            expectError(.undecodable) {
                try store.df.load(forKey: "k", type: [Int].self, decoder: PropertyListDecoder())
            }
        }
    }
}

@Suite("XML that nests deeply")
struct DeepXMLTests {
    private struct Settings: DefaultStorable, Equatable {
        var list: [Int] = []
        static let defaultValue: Settings? = Settings()
        static let defaultIdentifier = "Settings"
    }

    private static func many(_ text: String) -> String { String(repeating: text, count: 40_000) }

    private static let arrays = many("<array>")
    private static let texts: [String] = [
        "<plist>" + arrays, "<plist>" + arrays + many("</array>") + "</plist>",
        " <?xml version=\"1.0\"?><plist>" + arrays,
        "<plist>" + many("<dict><key>a</key>"),
        "<plist>" + many("<array><!-- > </array> -->"),
        "<plist>" + many("<array><!--></array>-->"),
        "<plist>" + many("<array><?x > </array> ?>"),
        many("<plist>"),
        "<plist><array><?>" + arrays, "<plist>" + arrays + "<?",
        "<?>" + many("</array>") + "?><plist>" + arrays,
        "<plist>" + many("<array><string><![CDATA[ > </array> ]]></string>"),
    ]
    private static let bytes: [Data] = {
        // A character whose bytes in UTF-16 are those of <?.
        let wideTexts = [texts[0], "<plist><array><string>\u{3C3F}</string>" + arrays]
        let encodings: [(String.Encoding, mark: [UInt8])] = [
            (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16BigEndian, [0xFE, 0xFF]), (.utf16LittleEndian, [0xFF, 0xFE]),
            (.utf32BigEndian, [0, 0, 0xFE, 0xFF]),
        ]
        let marked = encodings.flatMap { encoding, mark in
            wideTexts.map { Data(mark) + ($0.data(using: encoding) ?? Data()) }
        }
        return texts.map { Data($0.utf8) } + marked
    }()

    @Test("can't be decoded, is quarantined by the next write, and ends no process", arguments: bytes)
    func deep(bytes: Data) throws {
        #expect(XMLPropertyList.nestsTooDeeply(bytes))
        let store = MemoryDefaults(["Settings": .data(bytes), "key": .data(bytes)])
        expectError(.undecodable) { _ = try Settings.load(from: store) }
        try Settings(list: [1]).save(to: store)
        #expect(Settings.read(from: store) == Settings(list: [1]))
        #expect(try Settings.quarantined(in: store).count == 1)
        expectError(.undecodable) { _ = try Defaults(suite: store).load(DefaultsKey<[Settings]>("key", default: [])) }
        #expect((try? DefaultsCoder.propertyList.decodeTopLevel([Int].self, from: bytes)) == nil)
        #expect(PropertyListFile.value(of: bytes) == nil)
    }

    @Test("is read as long as a store can keep it")
    func allowed() throws {
        let depth = PropertyListValue.maximumDepth - 1
        let text =
            "<plist version=\"1.0\">" + String(repeating: "<array><array/>", count: depth)
            + "<array><integer>1</integer></array>" + String(repeating: "</array>", count: depth) + "</plist>"
        let value = PropertyListValue.decoded(from: Data(text.utf8))
        #expect(value?.isTooDeep == false && value.map { PropertyListValue.array([$0]).isTooDeep } == true)
        #expect(!XMLPropertyList.nestsTooDeeply(Data(String(repeating: "<array></array>", count: 1_000).utf8)))
        #expect(!XMLPropertyList.nestsTooDeeply(Data("a < b".utf8)))
        // A binary one may have texts like these.
        #expect(!XMLPropertyList.nestsTooDeeply(Data(("bplist00" + String(repeating: "<array>", count: 1_000)).utf8)))
    }
}

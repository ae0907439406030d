import Foundation
import Testing

@testable import Default

private struct Unexpected: Error {}

/// A type that is coded as two elements, and checks the decoder's coding path and counts.
private struct Point: Codable, Equatable {
    var x: Int
    var y: Int?

    init(from decoder: any Decoder) throws {
        let path = decoder.codingPath.map(\.stringValue)
        var container = try decoder.unkeyedContainer()
        guard path == ["point"], container.codingPath.map(\.stringValue) == path, container.count == 2,
            container.currentIndex == 0
        else { throw Unexpected() }
        x = try container.decode(Int.self)
        guard container.currentIndex == 1, !container.isAtEnd else { throw Unexpected() }
        y = try container.decodeNil() ? nil : try container.decode(Int.self)
        guard container.currentIndex == 2, container.isAtEnd else { throw Unexpected() }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(x)
        if let y {
            try container.encode(y)
        } else {
            try container.encodeNil()
        }
    }
}

/// A single value, which may be null.
private struct Amount: Codable, Equatable {
    var number: Int?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard container.codingPath.map(\.stringValue) == ["amount"] else { throw Unexpected() }
        number = container.decodeNil() ? nil : try container.decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

private struct Place: DefaultStorable {
    var point: Point
    var amount: Amount
    var level: Int?

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard decoder.codingPath.isEmpty, container.codingPath.isEmpty, container.contains(.point) else {
            throw Unexpected()
        }
        point = try container.decode(Point.self, forKey: .point)
        amount = try container.decode(Amount.self, forKey: .amount)
        level =
            if try container.contains(.level) && !container.decodeNil(forKey: .level) {
                try container.decode(Int.self, forKey: .level)
            } else {
                nil
            }
    }
}

/// A type that decodes the elements of its rows itself.
private struct Grid: DefaultStorable {
    var level: Int
    var rows: [[Int]] = []

    enum CodingKeys: CodingKey { case level, rows }
    enum CellKeys: CodingKey { case width }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        level = try container.decode(Int.self, forKey: .level)
        var elements = try container.nestedUnkeyedContainer(forKey: .rows)
        while !elements.isAtEnd {
            var row = try elements.nestedUnkeyedContainer()
            var widths: [Int] = []
            while !row.isAtEnd {
                let cell = try row.superDecoder().container(keyedBy: CellKeys.self)
                widths.append(try cell.decode(Int.self, forKey: .width))
            }
            rows.append(widths)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(level, forKey: .level)
        var elements = container.nestedUnkeyedContainer(forKey: .rows)
        for row in rows {
            var cells = elements.nestedUnkeyedContainer()
            for width in row {
                var cell = cells.nestedContainer(keyedBy: CellKeys.self)
                try cell.encode(width, forKey: .width)
            }
        }
    }
}

/// A type that decodes two parts with super decoders.
private struct Parts: DefaultStorable {
    struct Part: Codable { var number: Int }
    var base: Part
    var part: Part

    enum CodingKeys: CodingKey { case part }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        base = try Part(from: container.superDecoder())
        part = try Part(from: container.superDecoder(forKey: .part))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try base.encode(to: container.superEncoder())
        try part.encode(to: container.superEncoder(forKey: .part))
    }
}

extension CodingUserInfoKey {
    fileprivate static let license = CodingUserInfoKey(rawValue: "license")!
}

/// A type that only a decoder with the right userInfo can decode.
private struct Licensed: DefaultStorable {
    struct Coder: DefaultsDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let decoder = JSONDecoder()
            decoder.userInfo[.license] = true
            return try decoder.decode(type, from: data)
        }
    }
    var level: Int
    static var defaultCoder: DefaultsCoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return DefaultsCoder(encoder: encoder, decoder: Coder())
    }

    init(from decoder: any Decoder) throws {
        guard decoder.userInfo[.license] as? Bool == true else { throw Unexpected() }
        level = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .level)
    }
}

// A write decodes the replaced value with such a decoder, to find its unknown fields.
@Suite("A decoder that passes calls on", .ownCache)
struct ForwardingDecoderTests {
    private func check<Settings: DefaultStorable>(
        _ type: Settings.Type,
        _ json: String,
        becomes expected: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout Settings) -> Void
    ) throws {
        let store = MemoryDefaults()
        try store.set(Data(json.utf8), forKey: Settings.defaultIdentifier)
        try Settings.update(in: store, change)
        let stored = store.data(forKey: Settings.defaultIdentifier).map { String(decoding: $0, as: UTF8.self) }
        #expect(stored == expected, sourceLocation: sourceLocation)
        #expect(try Settings.quarantined(in: store).isEmpty, sourceLocation: sourceLocation)
    }

    @Test("says where it is, how many elements there are, and which is nil")
    func positions() throws {
        try check(
            Place.self,
            #"{"amount":null,"future":1,"level":null,"point":[1,null]}"#,
            becomes: #"{"amount":null,"future":1,"point":[5,null]}"#
        ) {
            let place = $0
            #expect(place.point.y == nil && place.amount.number == nil && place.level == nil)
            $0.point.x = 5
        }
        try check(
            Place.self,
            #"{"amount":2,"future":1,"level":3,"point":[1,4]}"#,
            becomes: #"{"amount":2,"future":1,"level":3,"point":[5,4]}"#
        ) {
            let place = $0
            #expect(place.point.y == 4 && place.amount.number == 2 && place.level == 3)
            $0.point.x = 5
        }
    }

    @Test("knows what is in nested containers and super decoders of elements by their indexes")
    func elements() throws {
        let rows = #"[[{"width":1}],[{"depth":9,"width":2},{"width":3}],[{"width":4}]]"#
        try check(Grid.self, #"{"level":1,"rows":\#(rows)}"#, becomes: #"{"level":2,"rows":\#(rows)}"#) {
            let rows = $0.rows
            #expect(rows == [[1], [2, 3], [4]])
            $0.level = 2
        }
    }

    @Test("knows what is in super decoders by their keys")
    func superDecoders() throws {
        try check(
            Parts.self,
            #"{"part":{"added":1,"number":2},"super":{"more":3,"number":4}}"#,
            becomes: #"{"part":{"added":1,"number":5},"super":{"more":3,"number":6}}"#
        ) {
            let numbers = [$0.part.number, $0.base.number]
            #expect(numbers == [2, 4])
            ($0.part.number, $0.base.number) = (5, 6)
        }
    }

    @Test("has the information that its coder gives")
    func userInfo() throws {
        try check(Licensed.self, #"{"future":1,"level":2}"#, becomes: #"{"future":1,"level":3}"#) { $0.level = 3 }
    }
}

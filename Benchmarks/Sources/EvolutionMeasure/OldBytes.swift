import Default
import Foundation

// The time to read old bytes relative to the time to decode complete bytes of the same type: the first time, with bytes
// that were never read before, and again.

private struct Element: DefaultProviding {
    var url = "https://example.com"
    var count = 1
    var tags: [String] = []
    static let defaultValue = Element()
}

private struct Elements: DefaultStorable {
    var number = 0
    var list: [Element] = []
    static let defaultValue = Elements()
}

private struct Wide: DefaultStorable {
    var number = 0
    var a0 = "text", a1 = 1, a2 = 0.5, a3 = true, a4 = [1], a5 = "text", a6 = 1, a7 = 0.5, a8 = true, a9 = ["a": 1]
    var b0 = "text", b1 = 1, b2 = 0.5, b3 = true, b4 = [1], b5 = "text", b6 = 1, b7 = 0.5, b8 = true, b9 = ["a": 1]
    var c0 = "text", c1 = 1, c2 = 0.5, c3 = true, c4 = [1], c5 = "text", c6 = 1, c7 = 0.5, c8 = true
    static let defaultValue = Wide()
}

private final class Member: Codable {
    var name = "name"
}

private struct WithClass: DefaultStorable {
    var number = 0
    var member = Member()
    var added = 1
    static var defaultValue: WithClass? { WithClass() }
}

private struct Level: Codable {
    struct TooHigh: Error {}
    var level = 1
    init() {}
    init(from decoder: any Decoder) throws {
        level = try decoder.singleValueContainer().decode(Int.self)
        guard level <= 100 else { throw TooHigh() }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(level)
    }
}

private struct WithErrors: DefaultStorable {
    var number = 0
    var name = "name"
    var level = Level()
    static let defaultValue = WithErrors()
}

private struct Value: DefaultStorable {
    var number = 0
    var name = "name"
    var added = 1
    static let defaultValue = Value()
}

private func median(_ rounds: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    var times: [Double] = []
    for round in 0..<rounds {
        times.append(try nanoseconds(1) { try body(round) })
    }
    return times.sorted()[rounds / 2]
}

/// Prints how long reading old bytes takes relative to decoding complete ones.
///
/// - Parameters:
///   - name: The name of the measurement.
///   - value: A complete value.
///   - limits: The most that the first read and later reads may take, as multiples of decoding.
///   - makeOld: Makes the JSON of an old value from that of a complete one.
/// - Throws: Any error of the coder or the store.
private func compare<Settings: DefaultStorable>(
    _ name: String,
    _ value: Settings,
    limits: (first: Double?, again: Double),
    _ makeOld: (inout [String: Any]) -> Void
) throws {
    let store = MemoryDefaults()
    let whole = try JSONEncoder().encode(value)
    var object = try JSONSerialization.jsonObject(with: whole) as? [String: Any] ?? [:]
    makeOld(&object)
    let rounds = 51
    let plain = try median(rounds) { _ in _ = try JSONDecoder().decode(Settings.self, from: whole) }
    let bytes = try (0..<rounds).map { round in
        object["number"] = round
        return try JSONSerialization.data(withJSONObject: object)
    }
    let first = try median(rounds) { round in
        try store.set(bytes[round], forKey: "first")
        guard try Settings.load(from: store, forKey: "first") != nil else { throw CocoaError(.coderInvalidValue) }
    }
    for _ in 0..<3 {
        _ = try Settings.load(from: store, forKey: "first")
    }
    let again = try median(rounds * 10) { _ in _ = try Settings.load(from: store, forKey: "first") }
    let figures = String(format: "first %6.2f  again %6.2f", first / plain, again / plain)
    let atMost = "at most \(limits.first.map { "\($0)" } ?? "-") and \(limits.again)"
    print("\(name.padding(toLength: 52, withPad: " ", startingAt: 0)) \(figures)  (\(atMost))")
}

/// Measures reads of old bytes relative to decoding complete ones.
func compareOldBytes() throws {
    print("Reading old bytes, in relation to decoding new ones:")
    try compare(
        "10,000 elements that lack a property",
        Elements(list: .init(repeating: Element(), count: 10_000)),
        limits: (15, 0.1)
    ) { object in
        object["list"] = (object["list"] as? [[String: Any]])?.map { $0.filter { $0.key != "tags" } }
    }
    try compare("30 properties, one of which is missing", Wide(), limits: (20, 0.1)) { $0["c8"] = nil }
    try compare("30 properties, 15 of which are missing", Wide(), limits: (20, 0.1)) { object in
        object = object.filter { $0.key.hasPrefix("a") || $0.key.hasPrefix("b") && $0.key < "b5" }
    }
    try compare("a property of a value is missing", Value(), limits: (nil, 0.1)) { $0["added"] = nil }
    try compare("a property beside a class member is missing", WithClass(), limits: (nil, 3)) { $0["added"] = nil }
    try compare("an initializer throws an error of its own", WithErrors(), limits: (nil, 3)) { $0["level"] = 500 }
}

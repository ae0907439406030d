import Default
import Foundation

// The library's stored values, in each of their forms, for a comparison between a program with Foundation and one
// without.

private enum Theme: String, Codable { case bright, dark }

private struct Point: Codable, Equatable {
    var x = 0.1
    var name = "é/\u{1F600}"
    var at = Date(timeIntervalSinceReferenceDate: 123_456_789.5)
    var bytes = Data([0, 255])
    var entries = ["b": [1, -2], "a": []]
    var home = URL(string: "https://example.com/a?b=c#d")
}

private struct Versioned: DefaultStorable, Equatable {
    var point = Point()
    var note: String?
    static let defaultValue = Versioned()
    static var schemaVersion: Int { 3 }
}

private struct Listed: DefaultStorable, Equatable {
    var point = Point()
    static let defaultValue = Listed()
    static var defaultCoder: DefaultsCoder { .propertyList }
}

/// Checks what another program has stored in a suite, if one has; stores it again, and prints it.
func printForms(of suite: FileDefaults) throws {
    let isFirst = suite.storedKeys().isEmpty
    func check<Value: Equatable>(_ name: String, _ value: Value, _ stored: Value?) {
        if !isFirst, stored != value { print("\(name) was read as \(String(describing: stored)).") }
    }
    func store<Value: Equatable>(_ key: Defaults.Key<Value>, _ value: Value) throws {
        let defaults = Defaults(suite: suite)
        check(key.storedName, value, try defaults.load(key))
        try suite.removeObject(forKey: key.storedName)
        try defaults.save(value, for: key)
    }
    func store<Settings: DefaultStorable & Equatable>(_ settings: Settings) throws {
        check("\(Settings.self)", settings, try Settings.load(from: suite))
        try Settings.remove(from: suite)
        try settings.save(to: suite)
    }

    try store(.init("string", default: ""), "é/\u{1F600}\0")
    try store(.init("integer", default: 0), -42)
    try store(.init("unsigned", default: 0 as UInt), .max)
    try store(.init("double", default: 0.0), 0.1)
    try store(.init("float", default: 0 as Float), 0.1)
    try store(.init("boolean", default: false), true)
    try store(.init("data", default: Data()), Data([0, 1, 255]))
    try store(.init("date", default: Date.distantPast), Date(timeIntervalSinceReferenceDate: 123_456_789.5))
    try store(.init("URL", default: URL(filePath: "/")), URL(filePath: "/tmp/a b"))
    try store(.init("array", default: [String]()), ["a", "b"])
    try store(.init("dictionary", default: [String: Int]()), ["a": 1, "b": 2])
    try store(.init("enum", default: Theme.bright), .dark)
    try store(.init("JSON", default: Point(x: 0)), Point())
    try store(Versioned(note: "n"))
    try store(Listed())
    let damaged = PropertyListValue.data(Data("{".utf8))
    check("quarantined", [damaged], try Versioned.quarantined(in: suite, forKey: "damaged").map(\.value))
    try Versioned.removeQuarantined(in: suite, forKey: "damaged")
    try suite.setStoredValue(damaged, forKey: "damaged")
    DefaultsDiagnostics.handler = { _ in }
    try Versioned().save(to: suite, withKey: "damaged")

    // Quarantined values contain a time, so they differ in each run.
    for key in suite.storedKeys().sorted() where !key.hasSuffix(".quarantine") {
        print(key.debugDescription, (suite.storedValue(forKey: key)?.binaryForm ?? Data()).base64EncodedString())
    }
}

import Default
import Foundation

// Measures what filling in, versions and renames add to reading and writing settings types, all in one run:
//
//     swift run -c release --package-path Benchmarks EvolutionMeasure
//
// Each figure is the median of several rounds, in alternation. "df" only encodes and stores, or fetches and decodes: it
// is the base for the other figures.

let directory = FileManager.default.temporaryDirectory.appending(path: "evolution-measure-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: directory) }
let suite = try FileDefaults(url: directory)

protocol Measured: DefaultStorable where DefaultsSuite == FileDefaults {
    init(_ count: Int)
}

extension Measured {
    static var defaults: FileDefaults { suite }
}

struct Content: Codable {
    var theme = "a theme's name"
    var volume = 0.25
    var isOpen = true
    var host = "settings.example.com"
}

struct Plain: Measured {
    var content = Content()
    var count: Int
    init(_ count: Int) { self.count = count }
}

struct WithDefault: Measured {
    var content = Content()
    var count: Int
    init(_ count: Int) { self.count = count }
    static var defaultValue: WithDefault? { WithDefault(0) }
}

struct WithRenames: Measured {
    var content = Content()
    var count: Int
    init(_ count: Int) { self.count = count }
    static var renamedProperties: [String: String] { ["oldName": "count"] }
}

struct WithVersion: Measured {
    var content = Content()
    var count: Int
    init(_ count: Int) { self.count = count }
    static var schemaVersion: Int { 2 }
}

struct Migrated: DefaultMigratable {
    var content = Content()
    var total: Int
    static var defaults: FileDefaults { suite }
    init(migrating previous: Plain) { total = previous.count }
}

struct FilledIn: DefaultStorable {
    var content = Content()
    var count: Int
    var added = 1
    static var defaults: FileDefaults { suite }
    static var defaultValue: FilledIn? { FilledIn(count: 0) }
}

func nanoseconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    for _ in 0..<count {
        try body()
    }
    let time = (ContinuousClock.now - start).components
    return (Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count)
}

// The reports of filling in are not part of the measurement.
DefaultsDiagnostics.handler = { _ in }

var figures: [(name: String, times: [Double])] = []

@MainActor
func measure(_ name: String, _ body: () throws -> Void) rethrows {
    let time = try nanoseconds(500, body)
    if let index = figures.firstIndex(where: { $0.name == name }) {
        figures[index].times.append(time)
    } else {
        figures.append((name, [time]))
    }
}

@MainActor
func measureBoth<Settings: Measured>(_ name: String, _ type: Settings.Type) throws {
    var number = 0
    try measure("save, \(name)") {
        number &+= 1
        try Settings(number).save(withKey: name)
    }
    try measure("load, \(name)") { _ = try Settings.load(forKey: name) }
    try measure("update, \(name)") { try Settings.update(forKey: name) { _ in } }
}

try Plain(1).save(withKey: "Migrated")
try Plain(1).save(withKey: "FilledIn")
for _ in 0..<101 {
    var number = 0
    try measure("save, df") {
        number &+= 1
        try suite.df.save(Plain(number), forKey: "df")
    }
    try measure("load, df") { _ = try suite.df.load(forKey: "df", type: Plain.self) }
    try measureBoth("plain type", Plain.self)
    try measureBoth("type with a default value", WithDefault.self)
    try measureBoth("type with renamed properties", WithRenames.self)
    try measureBoth("type with a version", WithVersion.self)
    try measure("load that migrates") { _ = try Migrated.load() }
    try measure("load that fills in one property") { _ = try FilledIn.load() }
}

for (name, times) in figures {
    let padded = name.padding(toLength: 40, withPad: " ", startingAt: 0)
    print(padded, String(format: "%8.0f ns", times.sorted()[times.count / 2]))
}

// The most that the first of a pair may take, relative to the second.
let pairs = [("load, type with a version", "load, plain type", 1.5)]
for (name, other, limit) in pairs {
    guard let times = figures.first(where: { $0.name == name })?.times,
        let others = figures.first(where: { $0.name == other })?.times
    else {
        continue
    }
    // The two were measured alternately, so each round is one comparison.
    let ratios = zip(times, others).map { $0 / $1 }.sorted()
    let ratio = String(format: "%.2f", ratios[ratios.count / 2])
    print("\(name), in relation to \(other): \(ratio), at most \(limit)")
}

try compareOldBytes()

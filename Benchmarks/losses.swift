// The program that Benchmarks/losses runs: `Losses STORE SUITE write PREFIX COUNT`, `loop` or `count`.

import Default
import Foundation

let arguments = CommandLine.arguments
let foundation = UserDefaults(suiteName: arguments[2])!
let files = arguments[1] == "FileDefaults" ? try FileDefaults(suiteName: arguments[2]) : nil
let isJSON = arguments[1].hasPrefix("JSON")
let file = URL(filePath: ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]!)
    .appending(path: "\(arguments[1])-\(arguments[2]).json")

/// The values in the JSON file.
///
/// A file that can't be read counts as an empty one, as in the tools that are reported to lose their settings this way.
@MainActor func readJSON() -> [String: Int] {
    guard let data = try? Data(contentsOf: file) else { return [:] }
    return (try? JSONDecoder().decode([String: Int].self, from: data)) ?? [:]
}

@MainActor func write(_ value: Int, forKey key: String) throws {
    if let files {
        try files.set(value, forKey: key)
    } else if isJSON {
        var values = readJSON()
        values[key] = value
        try JSONEncoder().encode(values).write(to: file, options: arguments[1] == "JSON-replaced" ? .atomic : [])
    } else {
        foundation.set(value, forKey: key)
        // Foundation writes nothing to the disk without this call.
        _ = foundation.synchronize()
    }
}

@MainActor func keys() -> [String] {
    if let files { return Array(files.dictionaryRepresentation().keys) }
    return isJSON ? Array(readJSON().keys) : Array(foundation.dictionaryRepresentation().keys)
}

switch arguments[3] {
case "write":
    for number in 0..<Int(arguments[5])! { try write(number, forKey: "\(arguments[4])\(number)") }
case "loop":
    for number in 0... { try write(number, forKey: "c\(number % 100)") }
default:
    // Foundation's own keys, such as its languages, are not counted.
    print(keys().filter { $0.first.map("abc".contains) ?? false && Int($0.dropFirst()) != nil }.count)
}

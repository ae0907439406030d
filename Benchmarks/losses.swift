// The program that Benchmarks/losses runs: `Losses STORE SUITE write PREFIX COUNT`, `loop` or `count`.

import Default
import Foundation

let arguments = CommandLine.arguments
let isFoundation = arguments[1] == "UserDefaults"
let foundation = UserDefaults(suiteName: arguments[2])!
let files = isFoundation ? nil : try FileDefaults(suiteName: arguments[2])

@MainActor func write(_ value: Int, forKey key: String) throws {
    if let files {
        try files.set(value, forKey: key)
    } else {
        foundation.set(value, forKey: key)
        // Foundation writes nothing to the disk without this call.
        _ = foundation.synchronize()
    }
}

switch arguments[3] {
case "write":
    for number in 0..<Int(arguments[5])! { try write(number, forKey: "\(arguments[4])\(number)") }
case "loop":
    for number in 0... { try write(number, forKey: "c\(number % 100)") }
default:
    // Foundation's own keys, such as its languages, are not counted.
    let values = files?.dictionaryRepresentation() ?? foundation.dictionaryRepresentation()
    print(values.keys.filter { $0.first.map("abc".contains) ?? false && Int($0.dropFirst()) != nil }.count)
}

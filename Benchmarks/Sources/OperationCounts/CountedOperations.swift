import BenchmarkSupport
import COperationCounts
import Default
import Foundation

/// The operations whose costs are counted; runs in the traced process, on its first thread.
struct CountedOperations {
    private let directory: URL

    /// - Parameter directory: Where the files go, those of the standard store as well.
    init(directory: URL) throws {
        self.directory = directory
        let path = directory.path(percentEncoded: false)
        for name in ["HOME", "XDG_CONFIG_HOME"] { setenv(name, path, 1) }
    }

    /// Enough to even out what happens once, and few enough that the library keeps no file lock from one write to the
    /// next: how many do that would depend on the time they take.
    private static let warmUp = 8
    private static let measured = 16

    func measure() throws -> [String: Counts] {
        let keys = Raw.keys(100)
        var results: [String: Counts] = [:]
        func count(_ name: String, _ prepare: () throws -> (Int) throws -> Int) throws {
            results[name] = try Self.count(try prepare())
        }
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        let encoded = try (0..<32).map { try encoder.encode(VisualSettings($0)) }
        try count("floor: encode") { { try encoder.encode(VisualSettings($0)).count } }
        try count("floor: decode") {
            { try decoder.decode(VisualSettings.self, from: encoded[$0]).recentCount }
        }
        try count("settings type: write") {
            {
                VisualSettings($0).write()
                return 0
            }
        }
        try count("settings type: read") { { _ in VisualSettings.read()?.recentCount ?? 0 } }
        try count("settings type: change, then read") {
            let suite = StandardDefaults.standard
            return {
                try suite.set(encoded[$0], forKey: VisualSettings.defaultIdentifier)
                return VisualSettings.read()?.recentCount ?? 0
            }
        }
        try count("settings type: update") {
            { index in
                try VisualSettings.update { $0.recentCount = index % 64 }
                return 0
            }
        }
        try count("typed key: set") {
            {
                Defaults[.launchCount] = $0 + 10
                return 0
            }
        }
        try count("typed key: get") { { _ in Defaults[.launchCount] } }
        try count("typed key: += 1") {
            { _ in
                Defaults[.launchCount] += 1
                return 0
            }
        }
        try count("data(forKey:)") {
            let suite = try suite("get", keys)
            return { suite.data(forKey: keys[$0])?.count ?? 0 }
        }
        try count("set(_:forKey:)") {
            let suite = try suite("set", keys)
            return {
                try suite.set(Raw.changed, forKey: keys[$0])
                return 0
            }
        }
        try count("set(_:forKey:), the same bytes again") {
            let suite = try suite("same", keys)
            return {
                try suite.set(Raw.value, forKey: keys[$0])
                return 0
            }
        }
        try count("removeObject(forKey:)") {
            let suite = try suite("remove", keys)
            return {
                try suite.removeObject(forKey: keys[$0])
                return 0
            }
        }
        try count("transaction of 2 sets") {
            let suite = try suite("transaction", keys)
            return { index in
                try suite.transaction {
                    try suite.set(Raw.changed, forKey: keys[index])
                    try suite.set(Raw.changed, forKey: keys[index + 50])
                }
                return 0
            }
        }
        // What the encoder or decoder of the system's Foundation costs is not this library's.
        Self.subtract("floor: encode", from: "settings type: write", in: &results)
        Self.subtract("floor: decode", from: "settings type: change, then read", in: &results)
        return results
    }

    /// A suite with keys, opened anew, so that none of the writes before counts.
    private func suite(_ name: String, _ keys: [String]) throws -> FileDefaults {
        let url = directory.appending(path: name)
        try FileDefaults(url: directory.appending(path: name + "-original")).copyFilled(with: keys, to: url)
        return try FileDefaults(url: url)
    }

    private static func subtract(_ floor: String, from name: String, in results: inout [String: Counts]) {
        guard let counts = results[name], let costs = results[floor] else { return }
        results[name] = nil
        let rest = Counts(
            allocations: counts.allocations - costs.allocations,
            systemCalls: counts.systemCalls,
            bytesWritten: counts.bytesWritten
        )
        results["\(name), beyond \(floor.dropFirst("floor: ".count))"] = rest
    }

    private static func count(_ step: (Int) throws -> Int) throws -> Counts {
        var sum = 0
        for index in 0..<warmUp { sum &+= try step(index) }
        operation_counts_begin()
        for index in warmUp..<warmUp + measured { sum &+= try step(index) }
        let counts = operation_counts_end()
        precondition(sum >= 0)
        let count = Double(measured)
        return Counts(
            allocations: Double(counts.allocations) / count,
            systemCalls: Double(counts.system_calls) / count,
            bytesWritten: Double(counts.bytes_written) / count
        )
    }
}

extension FileDefaults {
    fileprivate func copyFilled(with keys: [String], to url: URL) throws {
        for key in keys { try set(Raw.value, forKey: key) }
        try copy(to: url)
    }
}

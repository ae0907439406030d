import BenchmarkSupport
import COperationCounts
import Default
import Foundation

/// An operation whose system calls, allocations and written bytes are counted.
struct CountedOperation: Sendable {
    /// Does the operation, given how many times it was done before; the result keeps it from being optimized away.
    typealias Step = (_ index: Int) throws -> Int

    let name: String
    /// Prepares the store; files go to a folder.
    private let prepare: @Sendable (_ directory: URL) throws -> Step

    init(_ name: String, _ prepare: @escaping @Sendable (_ directory: URL) throws -> Step) {
        self.name = name
        self.prepare = prepare
    }

    private static let warmUp = 4
    private static let measured = 16

    /// Counts in its own traced process, on the first thread, with the user's home in a folder.
    ///
    /// The result is the average of the runs with the fewest system calls: once a millisecond a write compares its
    /// suite with the files at the path, and how many writes that affects depends on the machine.
    func count(in directory: URL) throws -> Counts {
        let step = try prepare(directory)
        var sum = 0
        for index in 0..<Self.warmUp { sum &+= try step(index) }
        // A directory that has just changed may change again within the same timestamp, so that the library looks more
        // closely.
        Thread.sleep(forTimeInterval: 0.1)
        sum &+= try step(Self.warmUp)
        let first = Self.warmUp + 1
        var counts: [operation_counts] = []
        counts.reserveCapacity(Self.measured)
        for index in first..<first + Self.measured {
            operation_counts_begin()
            sum &+= try step(index)
            counts.append(operation_counts_end())
        }
        precondition(sum >= 0)
        let fewest = counts.map(\.system_calls).min()
        let others = counts.filter { $0.system_calls == fewest }
        func average(_ part: (operation_counts) -> Int) -> Double {
            Double(others.map(part).reduce(0, +)) / Double(others.count)
        }
        return Counts(
            allocations: average { Int($0.allocations) },
            systemCalls: average { Int($0.system_calls) },
            bytesWritten: average { Int($0.bytes_written) }
        )
    }
}

extension CountedOperation {
    /// The counts of Foundation's encoder and decoder alone, which are subtracted from the library's.
    static let encode = CountedOperation("encode") { _ in
        let encoder = JSONEncoder()
        return { try encoder.encode(VisualSettings($0)).count }
    }

    static let decode = CountedOperation("decode") { _ in
        let values = try encodedSettings()
        let decoder = JSONDecoder()
        return { try decoder.decode(VisualSettings.self, from: values[$0]).recentCount }
    }

    /// The operations, each with the part that is not counted.
    static let all: [(operation: CountedOperation, floor: CountedOperation?)] =
        settings
        + [keyGet, keySet, keyIncrement, dataGet, dataSet, dataSetSame, dataRemove, transaction].map { ($0, nil) }

    private static let settings: [(operation: CountedOperation, floor: CountedOperation?)] = [
        (
            CountedOperation("settings type: read, unchanged") { _ in
                try VisualSettings().save()
                return { _ in VisualSettings.read()?.recentCount ?? 0 }
            }, nil
        ),
        (
            CountedOperation("settings type: write, beyond encode") { _ in
                {
                    VisualSettings($0).write()
                    return 0
                }
            }, encode
        ),
        (
            CountedOperation("settings type: update, beyond encode") { _ in
                try VisualSettings().save()
                return { index in
                    try VisualSettings.update { $0.recentCount = 10 + index }
                    return 0
                }
            }, encode
        ),
        (
            CountedOperation("settings type: change, then read, beyond decode") { _ in
                let suite = FileDefaults.standard
                let values = try encodedSettings()
                return {
                    try suite.set(values[$0], forKey: VisualSettings.defaultIdentifier)
                    return VisualSettings.read()?.recentCount ?? 0
                }
            }, decode
        ),
    ]

    private static let keyGet = CountedOperation("typed key: get") { _ in
        Defaults[.launchCount] = 7
        return { _ in Defaults[.launchCount] }
    }

    private static let keySet = CountedOperation("typed key: set") { _ in
        {
            Defaults[.launchCount] = $0 + 10
            return 0
        }
    }

    private static let keyIncrement = CountedOperation("typed key: += 1") { _ in
        { _ in
            Defaults[.launchCount] += 1
            return 0
        }
    }

    private static let dataGet = CountedOperation("data(forKey:)") { directory in
        let (suite, keys) = try suite(in: directory)
        return { suite.data(forKey: keys[$0])?.count ?? 0 }
    }

    private static let dataSet = CountedOperation("set(_:forKey:)") { directory in
        let (suite, keys) = try suite(in: directory)
        return {
            try suite.set(Raw.changed, forKey: keys[$0])
            return 0
        }
    }

    private static let dataSetSame = CountedOperation("set(_:forKey:), the same bytes again") { directory in
        let (suite, keys) = try suite(in: directory)
        return {
            try suite.set(Raw.value, forKey: keys[$0])
            return 0
        }
    }

    private static let dataRemove = CountedOperation("removeObject(forKey:)") { directory in
        let (suite, keys) = try suite(in: directory)
        return {
            try suite.removeObject(forKey: keys[$0])
            return 0
        }
    }

    private static let transaction = CountedOperation("transaction of 2 sets") { directory in
        let (suite, keys) = try suite(in: directory)
        return { index in
            try suite.transaction {
                try suite.set(Raw.changed, forKey: keys[index])
                try suite.set(Raw.changed, forKey: keys[index + 50])
            }
            return 0
        }
    }

    private static func encodedSettings() throws -> [Data] {
        try (0..<32).map { try JSONEncoder().encode(VisualSettings($0)) }
    }

    /// A suite with some keys, opened again, so that no earlier write of this process affects the counts.
    private static func suite(in directory: URL) throws -> (FileDefaults, keys: [String]) {
        let keys = Raw.keys(100)
        let original = try FileDefaults(url: directory.appending(path: "original"))
        for key in keys { try original.set(Raw.value, forKey: key) }
        let copy = directory.appending(path: "suite")
        try original.copy(to: copy)
        return (try FileDefaults(url: copy), keys)
    }
}

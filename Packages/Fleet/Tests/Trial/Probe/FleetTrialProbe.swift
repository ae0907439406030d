import Default
import DefaultFleet
import Foundation
import Logging
import Synchronization

/// What the trial's cases see of hosts' copies, and a program that writes, with the public library only:
/// `FleetTrialProbe dump|read|lag SUITE COPY…`, or
/// `FleetTrialProbe write SUITE COPY ENDPOINTS [USER-AND-PASSWORD [AUTHORITY CERTIFICATE KEY]]`.
///
/// It prints one line of JSON for each answer.
@main
enum FleetTrialProbe {
    /// How many events the library has reported.
    static let events = Mutex(0)

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count > 2 else {
            fatalError("These are not the arguments.")
        }
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        DefaultsDiagnostics.handler = { event in
            events.withLock { $0 += 1 }
            FileHandle.standardError.write(Data("\(event.kind): \(event.error)\n".utf8))
        }
        let rest = Array(arguments[2...])
        switch arguments[0] {
        case "dump": try dump(rest.map { try open(arguments[1], at: $0) })
        case "read": try read(rest.map { try open(arguments[1], at: $0) })
        case "lag": try measureLag(rest.map { try open(arguments[1], at: $0) })
        case "write": try await write(open(arguments[1], at: rest[0], of: cluster(Array(rest[1...]))))
        default: fatalError("\(arguments[0]) is not an action.")
        }
    }

    static func cluster(_ arguments: [String]) -> EtcdCluster {
        var cluster = EtcdCluster(endpoints: arguments[0].split(separator: ",").compactMap { URL(string: String($0)) })
        if arguments.count > 1, !arguments[1].isEmpty {
            cluster.user = EtcdCluster.User(name: arguments[1], password: arguments[1])
        }
        if arguments.count > 4 {
            cluster.tls = EtcdCluster.TLS(
                trustRoots: arguments[2],
                certificate: arguments[3],
                privateKey: arguments[4]
            )
        }
        return cluster
    }

    /// A host's copy; without a cluster it is only read, and nothing is sent.
    static func open(_ suite: String, at copy: String, of cluster: EtcdCluster? = nil) throws -> EtcdDefaults {
        try EtcdDefaults(
            cluster ?? Self.cluster(["http://127.0.0.1:1"]),
            suiteName: suite,
            deadline: .seconds(4),
            replicaURL: URL(fileURLWithPath: copy, isDirectory: true)
        )
    }

    static func answer(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        FileHandle.standardOutput.write(try encoder.encode(value) + Data("\n".utf8))
    }

    /// Prints for each copy an object of the texts that the cluster has for its values: strings and whole numbers.
    static func dump(_ copies: [EtcdDefaults]) throws {
        for copy in copies {
            var texts: [String: String] = [:]
            for key in copy.storedKeys() {
                texts[key] =
                    switch copy.storedValue(forKey: key) {
                    case .integer(let number)?: "\(number)"
                    case .string(let string)?: "\"\(string)\""
                    case let other: "\(String(describing: other))"
                    }
            }
            try answer(texts)
        }
    }

    struct Reading: Codable {
        var rounds = 0
        var unreadable = 0
        var leastKeys = Int.max
        var backwards = 0
        var events = 0
    }

    /// Reads all values of all copies until the input ends: none may be without its values, or get an earlier number.
    static func read(_ copies: [EtcdDefaults]) throws {
        var reading = Reading()
        var latest = copies.map { _ in [String: Int64]() }
        let hasEnded = endOfInput()
        while !hasEnded.withLock({ $0 }) {
            for (index, copy) in copies.enumerated() {
                if (try? copy.checkAvailability()) == nil {
                    reading.unreadable += 1
                }
                let keys = copy.storedKeys()
                reading.leastKeys = min(reading.leastKeys, keys.count)
                for key in keys {
                    guard case .integer(let number)? = copy.storedValue(forKey: key) else { continue }
                    if let earlier = latest[index].updateValue(number, forKey: key), earlier > number {
                        reading.backwards += 1
                    }
                }
            }
            reading.rounds += 1
            Thread.sleep(forTimeInterval: 0.002)
        }
        reading.events = events.withLock { $0 }
        try answer(reading)
    }

    struct Lag: Codable {
        var count: Int
        var median: Double
        var worstHundredth: Double
        var worst: Double
    }

    /// Prints, when the input ends, the milliseconds from a change to the copies.
    ///
    /// The numbers under `stamp0`, `stamp1` … are the nanoseconds since 1970 at which a writer has sent them. Each has
    /// its own key, since one that is overwritten would hide those that come late.
    static func measureLag(_ copies: [EtcdDefaults]) throws {
        var next = copies.map { _ in 0 }
        var delays: [Double] = []
        let hasEnded = endOfInput()
        while !hasEnded.withLock({ $0 }) {
            for (index, copy) in copies.enumerated() {
                while case .integer(let sent)? = copy.storedValue(forKey: "stamp\(next[index])") {
                    delays.append(Date().timeIntervalSince1970 * 1_000 - Double(sent) / 1e6)
                    next[index] += 1
                }
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        delays.sort()
        guard let worst = delays.last else {
            return try answer(Lag(count: 0, median: 0, worstHundredth: 0, worst: 0))
        }
        try answer(
            Lag(
                count: delays.count,
                median: delays[delays.count / 2],
                worstHundredth: delays[delays.count * 99 / 100],
                worst: worst
            )
        )
    }

    /// Follows the cluster, and answers each line of the input with how it ended: `set KEY NUMBER`, or `add KEY`.
    static func write(_ store: EtcdDefaults) async throws {
        let following = Task { try await store.run() }
        try await store.perform {
            while let line = readLine() {
                let words = line.split(separator: " ").map(String.init)
                do {
                    switch (words.first, words.count) {
                    case ("set", 3): try store.setStoredValue(.integer(Int64(words[2]) ?? 0), forKey: words[1])
                    case ("add", 2):
                        try Defaults(suite: store).update(Defaults.Key<Int>(words[1], default: 0)) { $0 += 1 }
                    case ("flush", 1): try store.flush()
                    default: fatalError("\(line) is not a command.")
                    }
                    try answer("stored")
                } catch let error as DefaultsError {
                    try answer(error.code.name)
                }
            }
        }
        following.cancel()
    }

    /// Becomes true at the end of the input.
    static func endOfInput() -> EndOfInput {
        let hasEnded = EndOfInput()
        Thread {
            while readLine() != nil {}
            hasEnded.withLock { $0 = true }
        }.start()
        return hasEnded
    }

    final class EndOfInput: Sendable {
        private let value = Mutex(false)
        func withLock<Result>(_ body: (inout Bool) -> Result) -> Result { value.withLock { body(&$0) } }
    }
}

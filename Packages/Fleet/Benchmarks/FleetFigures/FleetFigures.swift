import Default
import DefaultFleet
import Foundation
import Logging
import Synchronization

/// Measures a suite of a fleet in an empty cluster that runs already; `Benchmarks/run` starts one.
///
/// `FleetFigures ENDPOINT…` prints times, and needs `etcdctl` in the path. `FleetFigures followers COUNT ENDPOINT…`
/// follows as that many hosts until its input ends; with `refused` instead, they have a wrong password. What it stores
/// stays in the cluster.
@main
enum FleetFigures {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "follow", arguments.count > 2 {
            // Another process on another host, until it is killed.
            try await open(arguments[1], endpoints: Array(arguments[2...])).run()
            return
        }
        guard !arguments.isEmpty else {
            fatalError("Usage: FleetFigures [followers COUNT | refused COUNT] ENDPOINT…")
        }
        let name = "fleet-figures-\(UUID().uuidString)"
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        if ["followers", "refused"].contains(arguments[0]), arguments.count > 2, let count = Int(arguments[1]) {
            let user = arguments[0] == "refused" ? EtcdCluster.User(name: "shop", password: "shut") : nil
            let figures = Figures(directory: directory, endpoints: Array(arguments[2...]))
            try await figures.follow(asHosts: count, user: user)
        } else {
            try await Figures(directory: directory, endpoints: arguments).measure()
        }
    }

    static func open(_ replica: String, endpoints: [String], user: EtcdCluster.User? = nil) throws -> EtcdDefaults {
        try EtcdDefaults(
            EtcdCluster(endpoints: endpoints.compactMap { URL(string: $0) }, user: user),
            suiteName: "figures",
            deadline: .seconds(30),
            replicaURL: URL(fileURLWithPath: replica, isDirectory: true),
            logger: Logger(label: "figures") { _ in SwiftLogNoOpLogHandler() }
        )
    }
}

struct Figures {
    let directory: URL
    let endpoints: [String]

    private func place(_ name: String) -> String { directory.appendingPathComponent(name).path }

    func measure() async throws {
        let store = try FleetFigures.open(place("own"), endpoints: endpoints)
        let following = Task { try await store.run() }
        try await store.perform { _ = try store.initialize() }
        try await store.waitUntilCurrent(within: .seconds(30))
        try await store.perform {
            try reads(store)
            try writes(store)
            try propagation(from: store)
        }
        try await conflicts()
        following.cancel()
        try await following.value
    }

    /// Follows the suite as a number of hosts, each with a copy of its own, until the input ends; as a user they never
    /// get in.
    func follow(asHosts count: Int, user: EtcdCluster.User?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let store = try FleetFigures.open(place("host \(number)"), endpoints: endpoints, user: user)
                group.addTask { try await store.run() }
                if user == nil {
                    try await store.waitUntilCurrent(within: .seconds(60))
                }
            }
            FileHandle.standardOutput.write(Data("followed\n".utf8))
            while readLine() != nil {}
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// A read of a typed key, here and in a `FileDefaults` with the same contents.
    private func reads(_ store: EtcdDefaults) throws {
        let key = Defaults.Key<Bool>("isOpen", default: true)
        let suite = try FileDefaults(url: URL(fileURLWithPath: place("file")))
        try Defaults(suite: suite).save(false, for: key)
        try Defaults(suite: store).save(false, for: key)
        let (ours, files) = (Defaults(suite: store), Defaults(suite: suite))
        // By turns, since a machine is not equally fast all the time.
        var times: (own: [Double], file: [Double]) = ([], [])
        for _ in 0..<20 {
            times.own.append(nanoseconds { ours[key] })
            times.file.append(nanoseconds { files[key] })
        }
        let (own, file) = (quantile(0.5, of: times.own), quantile(0.5, of: times.file))
        report("read", "\(rounded(own)) ns, FileDefaults \(rounded(file)) ns, ratio \(rounded(own / file))")
    }

    private func nanoseconds(_ read: () -> Bool) -> Double {
        let count = 200_000
        var found = 0
        let time = ContinuousClock().measure {
            for _ in 0..<count where read() {
                found += 1
            }
        }
        precondition(found == 0)
        return time / .nanoseconds(1) / Double(count)
    }

    /// A write until it can be read here, and `etcdctl put` by turns with it.
    private func writes(_ store: EtcdDefaults) throws {
        var times: (own: [Double], control: [Double]) = ([], [])
        for number in 0..<300 {
            times.own.append(try milliseconds { try store.setStoredValue(.integer(Int64(number)), forKey: "n") })
            times.control.append(try milliseconds { try put("figures/\(number)") })
        }
        report("write", milliseconds: times.own)
        report("etcdctl put", milliseconds: times.control)
    }

    private func put(_ key: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ETCDCTL_API=3", "etcdctl", "--endpoints", endpoints[0], "put", key, "1"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        precondition(process.terminationStatus == 0)
    }

    /// From the beginning of a write until another host has it, whose copy another process follows.
    private func propagation(from store: EtcdDefaults) throws {
        let follower = Process()
        follower.executableURL = Bundle.main.executableURL
        follower.arguments = ["follow", place("other")] + endpoints.reversed()
        try follower.run()
        defer { follower.terminate() }
        let other = try FleetFigures.open(place("other"), endpoints: endpoints)
        var times: [Double] = []
        for number in 0..<510 {
            let value = PropertyListValue.integer(Int64(number))
            let start = ContinuousClock.now
            let arrival = Mutex<Duration?>(nil)
            let reader = Thread {
                while other.storedValue(forKey: "seen") != value {
                    usleep(20)
                }
                arrival.withLock { $0 = start.duration(to: .now) }
            }
            reader.start()
            try store.setStoredValue(value, forKey: "seen")
            while arrival.withLock({ $0 == nil }) {
                usleep(20)
            }
            // The first ones include the start of the follower.
            if number >= 10, let time = arrival.withLock({ $0 }) {
                times.append(time / .milliseconds(1))
            }
        }
        report("propagation", milliseconds: times)
    }

    /// Eight hosts that change one value without pauses.
    private func conflicts() async throws {
        let key = Defaults.Key<Int>("count", default: 0)
        let start = ContinuousClock.now
        var runs = 0
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                let store = try FleetFigures.open(place("host \(number)"), endpoints: endpoints)
                group.addTask {
                    let following = Task { try await store.run() }
                    try await store.waitUntilCurrent(within: .seconds(30))
                    let runs = try await store.perform {
                        var runs = 0
                        for _ in 0..<200 {
                            try Defaults(suite: store).update(key) { count in
                                runs += 1
                                count += 1
                            }
                        }
                        return runs
                    }
                    following.cancel()
                    try await following.value
                    return runs
                }
            }
            for try await ofOneHost in group {
                runs += ofOneHost
            }
        }
        let attempts = rounded(Double(runs) / 1_600)
        let time = rounded(start.duration(to: .now) / .seconds(1))
        report("update, 8 hosts", "\(attempts) attempts for each success, \(time) s for 1,600")
    }

    private func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        try ContinuousClock().measure(body) / .milliseconds(1)
    }

    private func quantile(_ part: Double, of values: [Double]) -> Double {
        values.sorted()[min(values.count - 1, Int(Double(values.count) * part))]
    }

    private func rounded(_ value: Double) -> String { String(format: "%.2f", value) }

    private func report(_ name: String, milliseconds times: [Double]) {
        report(name, "p50 \(rounded(quantile(0.5, of: times))) ms, p99 \(rounded(quantile(0.99, of: times))) ms")
    }

    private func report(_ name: String, _ text: String) {
        FileHandle.standardOutput.write(Data("\(name): \(text)\n".utf8))
    }
}

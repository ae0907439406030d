import Default
import DefaultFleet
import Foundation
import Synchronization

/// A process of a fleet, for tests: `FleetTestHelper count|follow|block REPLICA SUITE NUMBER ENDPOINT…`.
@main
enum FleetTestHelper {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 5, let number = Int(arguments[4]) else {
            fatalError("These are not the arguments.")
        }
        let store = try EtcdDefaults(
            EtcdCluster(endpoints: arguments[5...].compactMap { URL(string: $0) }),
            suiteName: arguments[3],
            deadline: .seconds(arguments[1] == "block" ? 1 : 20),
            replicaURL: URL(fileURLWithPath: arguments[2])
        )
        let running = Task { try await store.run() }
        try await waitUntilCurrent(store)
        switch arguments[1] {
        case "count":
            print(try await count(number, in: store).joined(separator: "\n"))
        case "follow":
            // Until it is killed.
            print("current")
            fflush(nil)
            try await running.value
        case "block":
            try await store.perform {
                try store.beginExclusiveAccess()
                print(try outcomeOnOtherThread { try store.setStoredValue(.integer(1), forKey: "n") })
                fflush(nil)
                store.endExclusiveAccess()
            }
            try await running.value
        default:
            fatalError("\(arguments[1]) is not an action.")
        }
    }

    /// How a body ended that ran on another thread.
    private static func outcomeOnOtherThread(_ body: @escaping @Sendable () throws -> Void) throws -> String {
        let end = DispatchSemaphore(value: 0)
        let outcome = Mutex("stored")
        Thread {
            do {
                try body()
            } catch {
                outcome.withLock { $0 = (error as? DefaultsError)?.code.name ?? "\(error)" }
            }
            end.signal()
        }.start()
        end.wait()
        return outcome.withLock { $0 }
    }

    /// The cluster may be without a leader at this moment.
    private static func waitUntilCurrent(_ store: EtcdDefaults) async throws {
        while true {
            do {
                return try await store.waitUntilCurrent(within: .seconds(30))
            } catch DefaultsError.Code.storeUnavailable {
                continue
            }
        }
    }

    /// Adds one, as often as the number says, and returns how each attempt ended.
    private static func count(_ number: Int, in store: EtcdDefaults) async throws -> [String] {
        let key = Defaults.Key<Int>("count", default: 0)
        return try await store.perform {
            (0..<number).map { _ in
                do {
                    try Defaults(suite: store).update(key) { $0 += 1 }
                    return "stored"
                } catch {
                    return (error as? DefaultsError)?.code.name ?? "\(error)"
                }
            }
        }
    }
}

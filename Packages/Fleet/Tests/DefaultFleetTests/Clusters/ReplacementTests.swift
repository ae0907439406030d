import Default
import Foundation
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("Whose cluster was replaced")
    struct Replacement {
        @Test("is not mistaken for another one because of a wrong bit in an answer")
        func wrongBit() async throws {
            EventLog.install()
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try cluster.control("put", "defaults/suite/k/text", #""a text of some length""#)
                    try await host.waitUntilCurrent()
                    let identity = try #require(host.store.replica.state?.identity)
                    for text in [identity, Data(#""a text of some length""#.utf8)] {
                        try await host.stopFollowing()
                        transport.flipBit(of: text)
                        host.follow()
                        try await eventually("an answer is wrong") { !transport.isFlipping }
                        try await host.waitUntilCurrent()
                    }
                    #expect(host.store.freshness.replacement == nil)
                    #expect(!EventLog.codes(of: host.store).contains(.storeReplaced))
                    try await host.stopFollowing()
                }
            }
        }

        enum Contents: String, CaseIterable, Sendable {
            case empty, initialized, backup
        }

        @Test(
            "keeps the last values, reports it, and writes nothing until an operator accepts the replacement",
            arguments: Contents.allCases,
            ["lower", "higher"]
        )
        func replaced(contents: Contents, revision: String) async throws {
            EventLog.install()
            try await TestCluster.run { cluster in
                try await TestHost.run(2, in: cluster, deadline: .seconds(4)) { hosts in
                    let store = hosts[0].store
                    try await store.perform { try store.setStoredValue(.integer(1), forKey: "n") }
                    let backup = cluster.directory.appendingPathComponent("backup").path
                    try cluster.control("snapshot", "save", backup)
                    try await store.perform {
                        for number in 2...9 {
                            try store.setStoredValue(.integer(Int64(number)), forKey: "n")
                        }
                    }
                    try await hosts[1].waitUntilCurrent()
                    for host in hosts {
                        try await host.stopFollowing()
                    }

                    if contents == .backup {
                        try cluster.restore(backup)
                    } else {
                        cluster.kill(0)
                        try FileManager.default.removeItem(at: cluster.dataDirectory(of: 0))
                        try cluster.start(0)
                    }
                    try await cluster.waitUntilHealthy()
                    if contents == .initialized {
                        try cluster.control("put", "defaults/suite/store", #"{"id":"another"}"#)
                    }
                    if revision == "higher" {
                        for number in 0..<40 {
                            try cluster.control("put", "elsewhere", "\(number)")
                        }
                    }

                    // Only a follower finds that a later revision is of another history.
                    if contents != .backup || revision == "lower" {
                        await #expect { try await store.waitUntilCurrent(within: patience) } throws: {
                            DefaultsError.Code.storeReplaced ~= $0
                        }
                    }
                    for host in hosts {
                        host.follow()
                        try await eventually("the replacement is found") { host.store.freshness.replacement != nil }
                        #expect(host.store.storedValue(forKey: "n") == .integer(9))
                        await #expect {
                            try await host.store.perform { try host.store.setStoredValue(.integer(0), forKey: "n") }
                        } throws: {
                            DefaultsError.Code.storeReplaced ~= $0
                        }
                        await #expect { try await host.store.perform { try host.store.initialize() } } throws: {
                            DefaultsError.Code.storeReplaced ~= $0
                        }
                        try await eventually("the replacement is reported") {
                            EventLog.codes(of: host.store).contains(.storeReplaced)
                        }
                    }
                    let kept = try cluster.control("get", "--print-value-only", "defaults/suite/k/n")
                    #expect(kept == (contents == .backup ? "1\n" : ""))

                    if contents != .backup {
                        await #expect {
                            try await store.perform { try store.acceptReplacement() }
                        } throws: {
                            DefaultsError.Code.storeReplaced ~= $0 && "\($0)".contains("all hosts")
                        }
                    }
                    try await store.perform {
                        try store.acceptReplacement(emptyingAllHosts: contents != .backup)
                    }
                    for host in hosts {
                        try await eventually("the replacement is accepted") { host.store.freshness.replacement == nil }
                        #expect(host.store.storedValue(forKey: "n") == (contents == .backup ? .integer(1) : nil))
                    }
                    for host in hosts {
                        try await host.store.perform { try host.store.setStoredValue(.integer(10), forKey: "n") }
                    }
                }
            }
        }
    }
}

import Default
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("Whose copy was damaged")
    struct Repair {
        private static let keys = (0..<12).map { "key \($0)" } + ["isOpen"]

        /// Runs a body with a host that follows, and that has thirteen values.
        private func run(_ body: (TestCluster, TestHost) async throws -> Void) async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    // In the middle: what comes last in the journal is taken for a write that was cut short.
                    for key in Self.keys.dropLast() {
                        try cluster.control("put", "defaults/suite/k/\(key)", "1")
                        if key == "key 5" {
                            try cluster.control("put", "defaults/suite/k/isOpen", "false")
                        }
                    }
                    try await hosts[0].waitUntilCurrent()
                    try await body(cluster, hosts[0])
                }
            }
        }

        /// What a program that is started now reads.
        private func read(_ key: String, of host: TestHost) throws -> PropertyListValue? {
            try FileDefaults(readingFrom: host.replica).storedValue(forKey: key)
        }

        /// Changes one bit of the value in the journal.
        private func damage(_ host: TestHost) throws {
            let journal = host.replica.appendingPathComponent("journal")
            var bytes = try Data(contentsOf: journal)
            let place = try #require(bytes.firstRange(of: Data("isOpen".utf8)))
            bytes[place.upperBound + 1] ^= 1
            // In place, as a disk does it.
            let file = try FileHandle(forWritingTo: journal)
            try file.seek(toOffset: UInt64(place.upperBound + 1))
            try file.write(contentsOf: bytes[(place.upperBound + 1)...(place.upperBound + 1)])
            try file.close()
        }

        @Test("a value that is lost on the disk is there again, for programs that are started, without a change of it")
        func damagedFile() async throws {
            try await run { _, host in
                #expect(try read("isOpen", of: host) == .boolean(false))
                try damage(host)
                #expect(try read("isOpen", of: host) == nil)
                try await eventually("programs read the value again") {
                    try read("isOpen", of: host) == .boolean(false)
                }
                #expect(try FileDefaults.inspect(at: host.replica).isIntact)
            }
        }

        @Test("a copy that was damaged while nobody followed is not current until it was listed again")
        func damagedBefore() async throws {
            try await run { cluster, host in
                try await host.stopFollowing()
                let copy = host.directory.appendingPathComponent("copy")
                try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
                let replica = copy.appendingPathComponent("replica")
                try FileManager.default.copyItem(at: host.replica, to: replica)
                // As a damaged record leaves it.
                let suite = try FileDefaults(url: replica)
                try suite.setStoredValue(nil, forKey: "isOpen")
                let new = try TestHost(cluster.cluster, deadline: .milliseconds(300), directory: copy)
                let store = new.store
                await #expect { try await store.waitUntilCurrent(within: .milliseconds(300)) } throws: {
                    DefaultsError.Code.storeUnavailable ~= $0 && "\($0)".contains("damaged")
                }
                new.follow()
                try await new.waitUntilCurrent()
                #expect(store.storedValue(forKey: "isOpen") == .boolean(false))
                try await new.stopFollowing()
            }
        }

        @Test("a copy that is deleted while it is followed is made again, with one follower")
        func deletedDirectory() async throws {
            try await run { cluster, host in
                let second = try TestHost(cluster.cluster, directory: host.directory)
                second.follow()
                try FileManager.default.removeItem(at: host.replica)
                try cluster.control("put", "defaults/suite/k/key 1", "2")
                try await eventually("programs read all values") {
                    // While it is made again, it can't be opened.
                    (try? Self.keys.allSatisfy { try read($0, of: host) != nil }
                        && read("key 1", of: host) == .integer(2)) ?? false
                }
                try await host.waitUntilCurrent()
                try await eventually("one process follows") {
                    host.store.freshness.isFollowing != second.store.freshness.isFollowing
                        && host.store.freshness.hasFollower && second.store.freshness.hasFollower
                }
                try await second.stopFollowing()
            }
        }

        @Test("an older copy that takes the place of the one that is followed gets all that it lacks")
        func olderCopy() async throws {
            try await run { cluster, host in
                let older = host.directory.appendingPathComponent("older")
                try FileManager.default.copyItem(at: host.replica, to: older)
                try cluster.control("put", "defaults/suite/k/isOpen", "true")
                try await host.waitUntilCurrent()
                #expect(try read("isOpen", of: host) == .boolean(true))
                try FileManager.default.moveItem(
                    at: host.replica,
                    to: host.directory.appendingPathComponent("newer")
                )
                try FileManager.default.moveItem(at: older, to: host.replica)
                // A change that comes after the exchange does not bring those before it.
                try cluster.control("put", "defaults/suite/k/key 1", "2")
                try await eventually("programs read the newest values") {
                    try read("isOpen", of: host) == .boolean(true) && read("key 1", of: host) == .integer(2)
                }
                try await host.waitUntilCurrent()
            }
        }
    }
}

import Default
import DefaultConformance
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

/// Tests with real clusters, one test after the other: each needs the processors.
@Suite("A fleet", .serialized, .enabled(if: TestCluster.isInstalled, "etcd is not installed."), .timeLimit(.minutes(5)))
struct ClusterTests {}

/// Tests with real clusters that wait most of the time, for limits and for other processes.
///
/// They run one after the other too, but beside those of ``ClusterTests``, which takes half of the time.
@Suite(
    "A fleet in trouble",
    .serialized,
    .enabled(if: TestCluster.isInstalled, "etcd is not installed."),
    .timeLimit(.minutes(5))
)
struct WaitingClusterTests {}

extension ClusterTests {
    @Suite("With one member")
    struct OneMember {
        @Test("a value that one host writes is there when the call returns, and then on another host")
        func write() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(2, in: cluster) { hosts in
                    let first = hosts[0].store
                    try await first.perform {
                        try first.setStoredValue(.integer(5), forKey: "limit")
                        #expect(first.storedValue(forKey: "limit") == .integer(5))
                        #expect(try cluster.control("get", "--print-value-only", "defaults/suite/k/limit") == "5\n")
                    }
                    try await eventually("the other host has the value") {
                        hosts[1].store.storedValue(forKey: "limit") == .integer(5)
                    }
                    #expect(hosts[1].store.storedKeys() == ["limit"])
                }
            }
        }

        @Test("a program reads what it has written, and its observers are notified of each write once")
        func ownWrites() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    let heard = Mutex<[String: Int]>([:])
                    let observation = store.observeChanges { keys in
                        heard.withLock { heard in
                            for key in keys ?? ["?"] {
                                heard[key, default: 0] += 1
                            }
                        }
                    }
                    try await store.perform {
                        for number in 0..<50 {
                            let value = PropertyListValue.integer(Int64(number))
                            try store.setStoredValue(value, forKey: "n")
                            try #require(store.storedValue(forKey: "n") == value)
                            try store.setStoredValue(value, forKey: "key \(number)")
                            #expect(store.storedKeys().count == number + 2)
                        }
                        try store.setStoredValue(nil, forKey: "n")
                        #expect(store.storedValue(forKey: "n") == nil)
                    }
                    // Written by another program, and so after all of them.
                    try cluster.control("put", "defaults/suite/k/last", "1")
                    try await eventually("the last change is observed") { heard.withLock { $0["last"] != nil } }
                    observation.cancel()
                    var counts = heard.withLock { $0 }
                    // Fifty values and a removal, each when it was there.
                    #expect(counts.removeValue(forKey: "n") == 51)
                    let others = (0..<50).map { "key \($0)" } + ["last"]
                    #expect(counts == Dictionary(uniqueKeysWithValues: others.map { ($0, 1) }))
                }
            }
        }

        @Test("what the host's copy records of itself is no value: it is not read, listed, observed or written")
        func copysOwnKey() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    let key = Replica.stateKey
                    let heard = Mutex<[[String]]>([])
                    let observation = store.observeChanges { keys in
                        heard.withLock { $0.append((keys ?? ["?"]).sorted()) }
                    }
                    let state = try #require(store.replica.state)
                    // Also when there is such a key in the cluster.
                    try cluster.control("put", "defaults/suite/k/\(key)", "5")
                    try await eventually("the copy has the cluster's revision") {
                        store.replica.revision != state.revision
                    }
                    try await hosts[0].waitUntilCurrent()
                    #expect(store.replica.state?.identity == state.identity)
                    try await store.perform {
                        #expect(store.storedValue(forKey: key) == nil)
                        #expect(store.storedKeys() == [])
                        try store.transaction {
                            #expect(store.storedValue(forKey: key) == nil)
                            #expect(store.storedKeys() == [])
                        }
                        for value in [nil, PropertyListValue.integer(1)] {
                            #expect { try store.setStoredValue(value, forKey: key) } throws: {
                                DefaultsError.Code.invalidKey ~= $0
                            }
                        }
                        try store.setStoredValue(.integer(1), forKey: "n")
                        #expect(store.storedKeys() == ["n"])
                    }
                    try await eventually("the change is observed") { heard.withLock { !$0.isEmpty } }
                    observation.cancel()
                    #expect(heard.withLock { $0 } == [["n"]])
                    #expect(try cluster.control("get", "--print-value-only", "defaults/suite/k/\(key)") == "5\n")
                }
            }
        }

        @Test("each type of value is written with etcdctl and read, and the other way round")
        func handWritten() async throws {
            let values: [(key: String, text: String, value: PropertyListValue)] = [
                ("string", "\"red\"", .string("red")), ("true", "true", .boolean(true)),
                ("integer", "-5", .integer(-5)),
                ("unsigned", "18446744073709551615", .unsigned(.max)), ("real", "2.0", .real(2)),
                ("data", #"{"$data":"AAEC"}"#, .data(Data([0, 1, 2]))),
                ("json", #"{"$json":{"limit":5}}"#, .data(Data(#"{"limit":5}"#.utf8))),
                ("date", #"{"$date":"2001-01-01T00:01:00Z"}"#, .date(Date(timeIntervalSinceReferenceDate: 60))),
                ("array", #"[1,"a"]"#, .array([.integer(1), .string("a")])),
                ("dictionary", #"{"$$a":1}"#, .dictionary(["$a": .integer(1)])),
            ]
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    for (key, text, value) in values {
                        try cluster.control("put", "defaults/suite/k/\(key)", "--", text)
                        try await eventually("\(key) is read") { store.storedValue(forKey: key) == value }
                        try await store.perform { try store.setStoredValue(value, forKey: "our \(key)") }
                        let ours = try cluster.control("get", "--print-value-only", "defaults/suite/k/our \(key)")
                        #expect(ours == text + "\n")
                    }
                }
            }
        }

        @Test("text that is malformed is undecodable, and quarantined when it is replaced")
        func malformedText() async throws {
            struct Limits: DefaultStorable, Equatable { var requests = 5 }
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try cluster.control("put", "defaults/suite/k/limits", "hello")
                    try await eventually("the malformed text is read") {
                        store.storedValue(forKey: "limits") == .data(Data("hello".utf8))
                    }
                    try await store.perform {
                        #expect(throws: DefaultsError.self) { try Limits.load(from: store, forKey: "limits") }
                        #expect { try Limits.load(from: store, forKey: "limits") } throws: {
                            DefaultsError.Code.undecodable ~= $0
                        }
                        try Limits().save(to: store, withKey: "limits")
                        #expect(try Limits.load(from: store, forKey: "limits") == Limits())
                        let kept = try Limits.quarantined(in: store, forKey: "limits")
                        #expect(kept.map(\.value) == [.data(Data("hello".utf8))])
                    }
                }
            }
        }

        @Test("a flag that is typed by hand is read in each usual spelling")
        func spellings() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let flags = Defaults(suite: hosts[0].store)
                    for (isOpen, spellings) in [
                        (false, ["false", "False", "FALSE", "off", "no", "No\n", "0", #""no""#, #"{"$json": false}"#]),
                        (true, ["true", "True", "on", " yes", "1", #""True""#, #"{"$json": true}"#]),
                    ] {
                        // What is used when nothing can be read.
                        let key = Defaults.Key<Bool>("isOpen", default: !isOpen)
                        for text in spellings + ["\u{FEFF}\(isOpen)"] {
                            try cluster.control("del", "defaults/suite/k/isOpen")
                            try await eventually("the flag is its default") { flags[key] == !isOpen }
                            try cluster.control("put", "defaults/suite/k/isOpen", "--", text)
                            try await eventually("\(text) is read") { flags[key] == isOpen }
                        }
                    }
                }
            }
        }

        @Test("text that can't be read is an event on a host that follows, or lists, with the key and the text's form")
        func unreadableText() async throws {
            EventLog.install()
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster, suiteName: "typed") { hosts in
                    let forms = [
                        ("Flase", "a word without quotes"), ("  ", "empty"), (#"{"limit": 5,}"#, "13 bytes of text"),
                        (#"{"$bool": false}"#, "16 bytes of text"), ("'false'", "7 bytes of text"),
                    ]
                    for (number, (text, _)) in forms.enumerated() {
                        try cluster.control("put", "defaults/typed/k/key \(number)", "--", text)
                    }
                    try await hosts[0].waitUntilCurrent()
                    let new = try TestHost(
                        cluster.cluster,
                        suiteName: "typed",
                        directory: hosts[0].directory.appendingPathComponent("new")
                    )
                    new.follow()
                    try await new.waitUntilCurrent()
                    try await new.stopFollowing()
                    let events = EventLog.events(of: hosts[0].store).filter { $0.error.code == .undecodable }
                    for (number, (text, form)) in forms.enumerated() {
                        let found = events.filter { $0.error.key == "key \(number)" }
                        // The two hosts are one process, in which each is reported once.
                        #expect(found.count == 1, "\(text)")
                        #expect(found.allSatisfy { "\($0)".contains(form) && "\($0)".contains("default") }, "\(found)")
                    }
                }
            }
        }

        @Test("keys beside the suite's are not the suite's, and the copy is current with them")
        func neighbours() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let host = hosts[0]
                    for key in ["k", "kl", "k0", "l", "notes", "store2", "w/x", "0", "~"] {
                        try cluster.control("put", "defaults/suite/\(key)", "1")
                    }
                    for key in ["defaults/suit/k/n", "defaults/suite2/k/n", "n", "defaults/suite"] {
                        try cluster.control("put", key, "1")
                    }
                    try await host.waitUntilCurrent()
                    #expect(host.store.storedKeys() == [])
                    try cluster.control("put", "defaults/suite/k/n", "5")
                    try cluster.control("del", "defaults/suite/notes")
                    try cluster.control("put", "elsewhere", "1")
                    try await host.waitUntilCurrent()
                    #expect(host.store.storedKeys() == ["n"])
                    #expect(host.store.storedValue(forKey: "n") == .integer(5))
                }
            }
        }

        @Test("keys have any form that a store accepts; others in the cluster are left alone")
        func formsOfKeys() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(2, in: cluster) { hosts in
                    let (first, second) = (hosts[0], hosts[1])
                    let longest = String(repeating: "x", count: 65_535)
                    let forms = ["a/b", "/", "é", "e\u{301}", "\n", " ", "\u{1}", "$k", longest]
                    let place = Data("defaults/suite/k/".utf8)
                    let others = [Data([0xFF, 0xFE])] + ["", "\0", "a\0b", longest + "x"].map { Data($0.utf8) }
                    try await first.store.perform {
                        for (number, form) in forms.enumerated() {
                            try first.store.setStoredValue(.integer(Int64(number)), forKey: form)
                        }
                        for other in others {
                            let request = PutRequest(key: place + other, value: Data("1".utf8))
                            let _: RangeResponse = try first.store.client.call(
                                "v3/kv/put",
                                request,
                                until: Deadline(after: .seconds(10))
                            )
                        }
                    }
                    // One that has seen each change, and one that lists them.
                    let new = try TestHost(cluster.cluster, directory: first.directory.appendingPathComponent("new"))
                    new.follow()
                    for host in [second, new] {
                        try await host.waitUntilCurrent()
                        try cluster.control("put", "elsewhere", "1")
                        try await host.waitUntilCurrent()
                        #expect(Set(host.store.storedKeys().map { Data($0.utf8) }) == Set(forms.map { Data($0.utf8) }))
                        for (number, form) in forms.enumerated() {
                            #expect(host.store.storedValue(forKey: form) == .integer(Int64(number)))
                        }
                    }
                    try await first.store.perform {
                        for other in others {
                            let _: RangeResponse = try first.store.client.call(
                                "v3/kv/deleterange",
                                DeleteRangeRequest(key: place + other),
                                until: Deadline(after: .seconds(10))
                            )
                        }
                    }
                    for host in [second, new] {
                        try await host.waitUntilCurrent()
                        try cluster.control("put", "elsewhere", "1")
                        try await host.waitUntilCurrent()
                        #expect(host.store.replica.state?.ignoredKeys == [])
                    }
                    try await new.stopFollowing()
                }
            }
        }

        @Test("a suite that takes too long to list at once is listed in smaller pages")
        func slowListing() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try await store.perform {
                        for number in 0..<20 {
                            let value = PropertyListValue.string(String(repeating: "x", count: 10_000 + number))
                            try store.setStoredValue(value, forKey: "key \(number)")
                        }
                    }
                    // About three values.
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster), longestAnswer: 50_000)
                    let directory = hosts[0].directory.appendingPathComponent("new")
                    let new = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    new.follow()
                    try await new.waitUntilCurrent()
                    #expect(new.store.storedKeys().sorted() == store.storedKeys().sorted())
                    for key in store.storedKeys() {
                        #expect(new.store.storedValue(forKey: key) == store.storedValue(forKey: key))
                    }
                    try await new.stopFollowing()
                }
            }
        }

        @Test("history that is compacted while a follower is away costs no difference, and none is notified twice")
        func compaction() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let host = hosts[0]
                    for key in ["kept", "changed", "removed"] {
                        try cluster.control("put", "defaults/suite/k/\(key)", "1")
                    }
                    try await host.waitUntilCurrent()
                    try await host.stopFollowing()
                    let heard = Mutex<[String]>([])
                    let observation = host.store.observeChanges { keys in
                        heard.withLock { $0 += (keys ?? ["?"]).sorted() }
                    }
                    for number in 2...5 {
                        try cluster.control("put", "defaults/suite/k/changed", "\(number)")
                    }
                    try cluster.control("del", "defaults/suite/k/removed")
                    try cluster.control("put", "defaults/suite/k/new", "1")
                    let revision = try await onThread {
                        try host.store.reader.status(until: Deadline(after: .seconds(5))).revision
                    }
                    try cluster.control("compact", "\(revision)")
                    host.follow()
                    try await host.waitUntilCurrent()
                    try cluster.control("put", "defaults/suite/k/last", "1")
                    try await eventually("the last change is observed") { heard.withLock { $0.contains("last") } }
                    #expect(heard.withLock { $0.sorted() } == ["changed", "last", "new", "removed"])
                    #expect(host.store.storedKeys().sorted() == ["changed", "kept", "last", "new"])
                    #expect(host.store.storedValue(forKey: "changed") == .integer(5))
                    observation.cancel()
                }
            }
        }

        @Test(
            "a removal at the revision up to which history is compacted while a follower is away is not missed",
            arguments: [false, true]
        )
        func compactedRemoval(isChangedAfterwards: Bool) async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let host = hosts[0]
                    for key in ["kept", "removed"] {
                        try cluster.control("put", "defaults/suite/k/\(key)", "1")
                    }
                    try await host.waitUntilCurrent()
                    try await host.stopFollowing()
                    try cluster.control("del", "defaults/suite/k/removed")
                    let revision = try await onThread {
                        try host.store.reader.status(until: Deadline(after: .seconds(5))).revision
                    }
                    // Before etcd 3.5.16, a watch from this revision on doesn't bring the removal.
                    try cluster.control("compact", "\(revision)")
                    if isChangedAfterwards {
                        try cluster.control("put", "defaults/suite/k/kept", "2")
                    }
                    host.follow()
                    try await eventually("the host has lost the value") { host.store.storedKeys() == ["kept"] }
                    try await host.waitUntilCurrent()
                    #expect(host.store.storedValue(forKey: "kept") == .integer(isChangedAfterwards ? 2 : 1))
                }
            }
        }

        @Test("a backlog of more events than a frame has comes in order, and resumes after its last event")
        func backlog() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let host = hosts[0]
                    try await host.stopFollowing()
                    let revision = try #require(host.store.freshness.revision)
                    let writer = try TestHost(
                        cluster.cluster,
                        directory: host.directory.appendingPathComponent("other")
                    )
                    writer.follow()
                    try await writer.waitUntilCurrent()
                    try await writer.store.perform {
                        for number in 1...1_200 {
                            try writer.store.transaction {
                                try writer.store.setStoredValue(.integer(Int64(number)), forKey: "count")
                                try writer.store.setStoredValue(.integer(Int64(number)), forKey: "key \(number)")
                            }
                        }
                    }
                    host.follow()
                    try await eventually("the host has the last change") {
                        host.store.storedValue(forKey: "count") == .integer(1_200)
                    }
                    let lost = (1...1_200).filter {
                        host.store.storedValue(forKey: "key \($0)") != .integer(Int64($0))
                    }
                    #expect(lost == [])
                    // One that has nothing lists all of it, in several pages.
                    let new = try TestHost(cluster.cluster, directory: host.directory.appendingPathComponent("new"))
                    new.follow()
                    try await new.waitUntilCurrent()
                    #expect(new.store.storedKeys().sorted() == host.store.storedKeys().sorted())
                    #expect(new.store.storedKeys().count == 1_201)
                    try await new.stopFollowing()
                    #expect(try #require(host.store.freshness.revision) >= revision + 1_200)
                    try await writer.stopFollowing()
                }
            }
        }

        @Test("a transaction has 127 keys at most, a write about 1.5 MB, and what is refused stores nothing")
        func limits() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    @Sendable func write(_ count: Int) throws {
                        try store.transaction {
                            for number in 0..<count {
                                try store.setStoredValue(.integer(1), forKey: "key \(number)")
                            }
                        }
                    }
                    try await store.perform {
                        for count in [128, 129] {
                            #expect {
                                try write(count)
                            } throws: { error in
                                // Etcd's own refusal has no advice.
                                DefaultsError.Code.tooManyKeys ~= error && "\(error)".contains("Divide it")
                            }
                        }
                        #expect(store.storedKeys().isEmpty)
                        try write(127)
                        #expect(store.storedKeys().count == 127)
                        // Each is read as well, which takes two conditions.
                        try store.transaction {
                            for number in 0..<126 {
                                _ = store.storedValue(forKey: "key \(number)")
                                try store.setStoredValue(.integer(2), forKey: "key \(number)")
                            }
                        }
                        #expect(store.storedValue(forKey: "key 125") == .integer(2))
                        let large = PropertyListValue.string(String(repeating: "x", count: 1_600_000))
                        #expect { try store.setStoredValue(large, forKey: "large") } throws: {
                            DefaultsError.Code.valueTooLarge ~= $0
                        }
                        #expect(store.storedValue(forKey: "large") == nil)
                        try store.setStoredValue(.string(String(repeating: "x", count: 1_500_000)), forKey: "large")
                    }
                }
            }
        }

        @Test("a value that no cluster accepts is refused before it is sent")
        func hugeValue() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    let huge = PropertyListValue.string(String(repeating: "x", count: 20_000_000))
                    await #expect {
                        try await host.store.perform { try host.store.setStoredValue(huge, forKey: "huge") }
                    } throws: {
                        DefaultsError.Code.valueTooLarge ~= $0
                    }
                    #expect(transport.largestRequest < 10_000)
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a full cluster accepts removals only, and writes again when there is space")
        func quota() async throws {
            let options = TestCluster.Options(flags: ["--quota-backend-bytes", "2000000"])
            try await TestCluster.run(options) { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    let large = PropertyListValue.string(String(repeating: "x", count: 700_000))
                    try await store.perform {
                        #expect {
                            for number in 0..<20 {
                                try store.setStoredValue(large, forKey: "large \(number)")
                            }
                        } throws: {
                            DefaultsError.Code.quotaExceeded ~= $0
                        }
                        #expect(store.storedValue(forKey: "large 19") == nil)
                        for key in store.storedKeys() {
                            try store.setStoredValue(nil, forKey: key)
                        }
                        #expect(store.storedKeys().isEmpty)
                    }
                    let revision = try #require(store.freshness.revision)
                    try cluster.control("compact", "\(revision)")
                    try cluster.control("defrag")
                    try cluster.control("alarm", "disarm")
                    try await store.perform { try store.setStoredValue(.integer(1), forKey: "small") }
                    #expect(store.storedValue(forKey: "small") == .integer(1))
                }
            }
        }

        @Test("blocking calls in more tasks than there are processors all end, and are reported once")
        func blockingCalls() async throws {
            EventLog.install()
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<8 {
                            group.addTask {
                                for round in 0..<5 {
                                    try store.setStoredValue(.integer(Int64(round)), forKey: "\(number)")
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    #expect(store.storedKeys().count == 8)
                    #expect(EventLog.codes(of: store).filter { $0 == .blockingCall }.count == 1)
                }
            }
        }

        @Test("a change in place that conflicts is reported, and stores nothing")
        func conflictInPlace() async throws {
            EventLog.install()
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try await store.perform {
                        try store.beginExclusiveAccess()
                        #expect(store.storedValue(forKey: "n") == nil)
                        try cluster.control("put", "defaults/suite/k/n", "7")
                        try store.setStoredValue(.integer(1), forKey: "n")
                        store.endExclusiveAccess()
                    }
                    #expect(EventLog.codes(of: store).contains(.conflict))
                    try await hosts[0].waitUntilCurrent()
                    #expect(store.storedValue(forKey: "n") == .integer(7))
                }
            }
        }

        @Test("a body whose reading was changed by others runs again, whether a value was changed, removed or added")
        func bodyRunsAgain() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    let others: [[String]] = [["put", "defaults/suite/k/n", "7"], ["del", "defaults/suite/k/n"]]
                    for start in [nil, PropertyListValue.integer(1)] {
                        for other in others where start != nil || other[0] == "put" {
                            try await store.perform {
                                try store.setStoredValue(start, forKey: "n")
                                var runs = 0
                                let found = try store.transaction {
                                    runs += 1
                                    let found = store.storedValue(forKey: "n")
                                    if runs == 1 {
                                        _ = try cluster.control(other)
                                    }
                                    try store.setStoredValue(.integer(9), forKey: "result")
                                    return found
                                }
                                #expect(runs == 2)
                                #expect(found == (other[0] == "put" ? .integer(7) : nil))
                            }
                        }
                    }
                }
            }
        }

        @Test("a body that runs again begins with what is stored then, and not with what was stored before the pause")
        func refreshAfterConflict() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = BusyNeighbour(transport: try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.store.perform {
                        try host.store.setStoredValue(.integer(1), forKey: "n")
                        var runs = 0
                        try host.store.transaction {
                            runs += 1
                            let found = host.store.storedValue(forKey: "n")
                            if runs == 1 {
                                try cluster.control("put", "defaults/suite/k/n", "7")
                            } else {
                                #expect(found == .integer(100))
                            }
                            try host.store.setStoredValue(.integer(9), forKey: "n")
                        }
                        #expect(runs == 2)
                    }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a transaction within another one, whose body throws, discards its own changes only")
        func nestedTransaction() async throws {
            struct Failure: Error {}
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try await store.perform {
                        try store.transaction {
                            try store.setStoredValue(.integer(1), forKey: "outer")
                            #expect(throws: Failure.self) {
                                try store.transaction {
                                    try store.setStoredValue(.integer(2), forKey: "outer")
                                    try store.setStoredValue(.integer(2), forKey: "inner")
                                    throw Failure()
                                }
                            }
                        }
                        #expect(store.storedValue(forKey: "outer") == .integer(1))
                        #expect(store.storedValue(forKey: "inner") == nil)
                    }
                }
            }
        }

        @Test("without a follower a write is stored and reported at its deadline, and an update loses nothing")
        func noFollower() async throws {
            EventLog.install()
            try await withFormerFollower { cluster, host in
                let store = host.store
                #expect(!store.freshness.hasFollower)
                let key = Defaults.Key<Int>("n", default: 0)
                try await store.perform {
                    for number in 1...3 {
                        try Defaults(suite: store).update(key) { $0 += 1 }
                        let stored = try cluster.control("get", "--print-value-only", "defaults/suite/k/n")
                        #expect(stored == "\(number)\n")
                        // The copy is what it was.
                        #expect(store.storedValue(forKey: "n") == nil)
                    }
                }
                let behind = EventLog.events(of: store).filter { $0.error.code == .replicaBehind }
                #expect(behind.count == 3)
                #expect(behind.allSatisfy { "\($0.error)".contains("call run()") && $0.error.key == "n" })
                host.follow()
                try await host.waitUntilCurrent()
                #expect(store.storedValue(forKey: "n") == .integer(3))
                try await host.stopFollowing()
            }
        }

        @Test("what a handler of events changes while a change is committed is stored too, or refused as elsewhere")
        func changesOfHandler() async throws {
            try await withFormerFollower { cluster, host in
                let store = host.store
                func stored(_ key: String) throws -> String {
                    try cluster.control("get", "--print-value-only", "defaults/suite/k/\(key)")
                }
                // Without a follower, the host doesn't see it.
                try cluster.control("put", "defaults/suite/k/count", "5")
                let failures = Mutex<[any Error]>([])
                EventLog.respond(to: store) { event in
                    do {
                        try store.setStoredValue(.boolean(true), forKey: "reported \(event.error.key ?? "")")
                        let suite = Defaults(suite: store)
                        // What it has read has changed since.
                        suite[Defaults.Key<Int>("count", default: 0)] += 1
                        suite[Defaults.Key<Int>("changed", default: 0)] += 1
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
                try await store.perform { try store.setStoredValue(.integer(1), forKey: "a") }
                #expect(try stored("reported a") == "true\n")
                #expect(try stored("changed") == "1\n")
                #expect(try stored("count") == "5\n")
                try await store.perform {
                    try store.beginExclusiveAccess()
                    try store.setStoredValue(.integer(1), forKey: "b")
                    store.endExclusiveAccess()
                }
                #expect(try stored("a") == "1\n" && stored("b") == "1\n")
                #expect(try stored("reported b") == "true\n")
                #expect(try stored("count") == "5\n")
                #expect(failures.withLock { $0 }.isEmpty)
                EventLog.respond(to: store) { _ in }
                // The lock is free again.
                try await store.perform { try store.setStoredValue(.integer(1), forKey: "c") }
            }
        }

        /// Runs a body with a host that has followed a new suite with one value, and doesn't follow it any more.
        private func withFormerFollower(
            _ body: @Sendable (TestCluster, TestHost) async throws -> Void
        ) async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let host = try TestHost(cluster.cluster, deadline: .seconds(2), directory: directory)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "first") }
                    try await host.stopFollowing()
                    try await body(cluster, host)
                }
            }
        }

        @Test("a handler of events may use the store during a read in a transaction, and is part of it")
        func readsOfHandler() async throws {
            try await withFormerFollower { cluster, host in
                let store = host.store
                let found = Mutex<PropertyListValue?>(nil)
                EventLog.respond(to: host.replica.path) { event in
                    guard event.error.code == .storeReplaced else { return }
                    found.withLock { $0 = store.storedValue(forKey: "first") }
                    // What the transaction finds then.
                    #expect(throws: Never.self) { try store.setStoredValue(.boolean(true), forKey: "reported") }
                }
                try await store.perform {
                    try store.transaction {
                        guard store.storedValue(forKey: "reported") == nil else { return }
                        let other = host.replica.deletingLastPathComponent().appendingPathComponent("other")
                        try FileManager.default.copyItem(at: host.replica, to: other)
                        try FileManager.default.removeItem(at: host.replica)
                        try FileManager.default.moveItem(at: other, to: host.replica)
                        // A read notices it within a second.
                        let isReported = store.replica.wait(until: Deadline(after: patience)) {
                            store.storedValue(forKey: "reported") != nil
                        }
                        #expect(isReported)
                    }
                }
                EventLog.respond(to: host.replica.path) { _ in }
                #expect(found.withLock { $0 } == .integer(1))
                let reported = try cluster.control("get", "--print-value-only", "defaults/suite/k/reported")
                #expect(reported == "true\n")
            }
        }

        @Test("another process of the host follows when the one that did is killed")
        func takeover() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let host = try TestHost(cluster.cluster, directory: directory)
                    _ = try await onThread { try host.store.initialize() }
                    let replica = directory.appendingPathComponent("replica")
                    let helper = try HelperProcess("follow", replica: replica, count: 1, cluster: cluster)
                    try await eventually("the helper follows") { helper.output.contains("current") }
                    host.follow()
                    try await host.waitUntilCurrent()
                    #expect(!host.store.freshness.isFollowing)
                    #expect(host.store.freshness.hasFollower)
                    try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "n") }
                    // Programs look less often than tests, but also more than once in a second.
                    #expect(FollowerTiming().lockInterval < .seconds(1))
                    helper.kill()
                    #expect(host.store.storedValue(forKey: "n") == .integer(1))
                    try await eventually("this process follows") { host.store.freshness.isFollowing }
                    try await host.store.perform { try host.store.setStoredValue(.integer(2), forKey: "n") }
                    #expect(host.store.storedValue(forKey: "n") == .integer(2))
                    try await host.stopFollowing()
                }
            }
        }

        #if os(Linux)
        /// A library that makes a process see a clock that is an hour ahead of the system's.
        ///
        /// To a wait until a time of the clock, that is as if the clock had been set back by an hour after the wait
        /// began.
        private func clockAhead(in directory: URL) throws -> [String: String] {
            let source = directory.appendingPathComponent("clock.c")
            let library = directory.appendingPathComponent("clock.so")
            try Data(
                """
                #include <sys/syscall.h>
                #include <sys/time.h>
                #include <time.h>
                #include <unistd.h>
                int clock_gettime(clockid_t clock, struct timespec *now) {
                    int result = syscall(SYS_clock_gettime, clock, now);
                    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += 3600;
                    return result;
                }
                int gettimeofday(struct timeval *restrict now, void *restrict zone) {
                    struct timespec time;
                    clock_gettime(CLOCK_REALTIME, &time);
                    now->tv_sec = time.tv_sec;
                    now->tv_usec = time.tv_nsec / 1000;
                    return 0;
                }

                """.utf8
            ).write(to: source)
            try TestCluster.run("clang", ["-shared", "-fPIC", "-o", library.path, source.path])
            return ["LD_PRELOAD": library.path]
        }

        @Test(
            "a clock that is set back delays neither another process that takes over, nor the end of a wait for its turn"
        )
        func clockSetBack() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let environment = try clockAhead(in: directory)
                    let host = try TestHost(cluster.cluster, directory: directory)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    let helper = try HelperProcess(
                        "block",
                        replica: host.replica,
                        count: 1,
                        cluster: cluster,
                        environment: environment
                    )
                    try await eventually("the write of another thread ends") { helper.output == "storeBusy\n" }
                    try await host.stopFollowing()
                    try await eventually("the other process follows") { host.store.freshness.hasFollower }
                }
            }
        }
        #endif

        @Test("while heartbeats are lost, the copy is not confirmed, and still has each change that comes")
        func lostHeartbeats() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    let store = host.store
                    _ = try await onThread { try store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    transport.lose("v3/kv/txn")
                    let before = transport.sent.count
                    try await eventually("a heartbeat is lost") { transport.sent.count > before + 20 }
                    let lost = ContinuousClock.now
                    try await eventually("the next ones are lost") { transport.sent.count > before + 60 }
                    try cluster.control("put", "defaults/suite/k/n", "7")
                    try await eventually("the change has come") { store.storedValue(forKey: "n") == .integer(7) }
                    let least = ContinuousClock.now - lost
                    #expect(try #require(store.freshness.unconfirmedFor) >= least)
                    transport.lose(nil)
                    try await eventually("the copy is confirmed again") {
                        try #require(store.freshness.unconfirmedFor) < least
                    }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a host that reaches only one of the members goes on, writes, and is confirmed again and again")
        func unreachableMembers() async throws {
            // With one member a cluster would not be taken for that of three endpoints.
            try await TestCluster.run(.init(memberCount: 3)) { cluster in
                try await withTemporaryDirectory { directory in
                    let place = directory.appendingPathComponent("operator")
                    let first = try TestHost(cluster.cluster, directory: place)
                    _ = try await onThread { try first.store.initialize() }
                    let silent = try [SilentEndpoint(), SilentEndpoint()]
                    let endpoints = cluster.endpoints.prefix(1) + silent.map(\.url)
                    let host = try TestHost(EtcdCluster(endpoints: Array(endpoints)), directory: directory)
                    let store = host.store
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await store.perform { try store.setStoredValue(.integer(1), forKey: "n") }
                    #expect(store.storedValue(forKey: "n") == .integer(1))
                    for _ in 0..<3 {
                        let start = ContinuousClock.now
                        try await eventually("the copy is confirmed again") {
                            try #require(store.freshness.unconfirmedFor) < ContinuousClock.now - start
                        }
                    }
                    try await host.stopFollowing()
                    withExtendedLifetime(silent) {}
                }
            }
        }

        @Test("a host starts without a cluster: with what it had, or with an error instead of defaults")
        func noCluster() async throws {
            EventLog.install()
            try await withTemporaryDirectory { directory in
                try await TestCluster.run { cluster in
                    let host = try TestHost(cluster.cluster, directory: directory)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.store.perform { try host.store.setStoredValue(.integer(5), forKey: "n") }
                    try await host.stopFollowing()
                }
                let port = try #require(Ports.free(1).first)
                let nowhere = EtcdCluster(endpoints: [try #require(URL(string: "http://127.0.0.1:\(port)"))])
                let again = try TestHost(nowhere, deadline: .milliseconds(300), directory: directory)
                again.follow()
                try again.store.checkAvailability()
                #expect(again.store.storedValue(forKey: "n") == .integer(5))
                #expect(again.store.freshness.revision != nil)
                #expect(try #require(again.store.freshness.unconfirmedFor) > .zero)
                let new = try TestHost(
                    nowhere,
                    deadline: .milliseconds(300),
                    directory: directory.appendingPathComponent("new")
                )
                new.follow()
                let key = Defaults.Key<Int>("n", default: 3)
                #expect { try Defaults(suite: new.store).load(key) } throws: {
                    DefaultsError.Code.storeUnavailable ~= $0
                }
                #expect(Defaults(suite: new.store)[key] == 3)
                #expect(EventLog.codes(of: new.store).contains(.storeUnavailable))
                try await eventually("the new host follows") { new.store.freshness.isFollowing }
                try await eventually("the cause is known") { new.store.freshness.trouble?.cause == .unreachable }
                let freshness = new.store.freshness
                #expect(freshness.revision == nil && freshness.unconfirmedFor == nil && freshness.replacement == nil)
                #expect(freshness.isFollowing && freshness.hasFollower)
                for host in [again, new] {
                    await #expect {
                        try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "n") }
                    } throws: {
                        DefaultsError.Code.storeUnavailable ~= $0
                    }
                    try await host.stopFollowing()
                }
            }
        }
    }
}

/// A transport to a cluster in which another program stores a number under "n" after each conflict.
private struct BusyNeighbour: EtcdTransport {
    let transport: HTTPTransport

    func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer {
        let answer = try transport.send(request, until: deadline)
        let isWrite = String(decoding: request.body, as: UTF8.self).contains("request_put")
        let response = try? EtcdCoding.decode(TransactionResponse.self, from: answer.body)
        if isWrite, let response, !response.hasSucceeded {
            let put = PutRequest(key: SuiteKeys(suiteName: "suite").key("n"), value: Data("100".utf8))
            let other = EtcdRequest(
                endpoint: request.endpoint,
                path: "v3/kv/put",
                headers: request.headers,
                body: EtcdCoding.encode(put)
            )
            _ = try transport.send(other, until: deadline)
        }
        return answer
    }

    func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
        transport.stream(request, receive: receive)
    }
}

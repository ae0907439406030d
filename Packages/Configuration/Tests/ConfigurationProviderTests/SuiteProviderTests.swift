import Configuration
import ConfigurationProvider
import ConfigurationTesting
import Default
import Foundation
import Testing

struct SuiteProviderTests {
    /// What the test kit asks a provider for.
    static var kitValues: [String: Any] {
        [
            "string": "Hello", "other.string": "Other Hello",
            "int": 42, "other.int": 24,
            "double": 3.14, "other.double": 2.72,
            "bool": true, "other.bool": false,
            "bytes": Data("magic".utf8), "other.bytes": Data("magic2".utf8),
            "stringy.array": ["Hello", "World"], "other.stringy.array": ["Hello", "Swift"],
            "inty.array": [42, 24], "other.inty.array": [16, 32],
            "doubly.array": [3.14, 2.72], "other.doubly.array": [0.9, 1.8],
            "booly.array": [true, false], "other.booly.array": [false, true, true],
            "byteChunky.array": [Data("magic".utf8), Data("magic2".utf8)],
            "other.byteChunky.array": [Data("magic".utf8), Data("magic2".utf8), Data("magic".utf8)],
        ]
    }

    @Test("A snapshot has what the value of a key has: what sources supply and what is registered, too")
    func snapshotOfLayers() throws {
        let store = MemoryDefaults(
            overrides: [.values(["over": 1], name: "over")],
            fallbacks: [.values(["http.port": 8080, "stored": 1], name: "vendor")]
        )
        try store.register(defaults: ["registered": 3])
        try store.set(2, forKey: "stored")
        let config = ConfigReader(provider: SuiteProvider(store))
        let snapshot = config.snapshot()
        for (key, value) in ["over": 1, "http.port": 8080, "stored": 2, "registered": 3] {
            #expect(config.int(forKey: ConfigKey(key)) == value)
            #expect(snapshot.int(forKey: ConfigKey(key)) == value)
        }
    }

    @Test("A suite in files passes the test kit for providers")
    func kitOnFiles() async throws {
        try await withSuite { suite, _ in
            for (key, value) in Self.kitValues {
                try suite.set(value, forKey: key)
            }
            try await ProviderCompatTest(provider: SuiteProvider(suite)).runTest()
        }
    }

    @Test("A suite in memory, with the values in dictionaries, passes the test kit for providers")
    func kitOnDictionaries() async throws {
        let store = MemoryDefaults()
        var groups: [String: [String: Any]] = [:]
        for (key, value) in Self.kitValues {
            let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
            if parts.count == 2 {
                groups[parts[0], default: [:]][parts[1]] = value
            } else {
                try store.set(value, forKey: key)
            }
        }
        // Three components are a dictionary in a dictionary.
        var other = try #require(groups["other"])
        for (key, value) in other where key.contains(".") {
            let parts = key.split(separator: ".").map(String.init)
            other[key] = nil
            other[parts[0]] = [parts[1]: value]
        }
        groups["other"] = other
        for (key, group) in groups {
            try store.set(group, forKey: key)
        }
        try await ProviderCompatTest(provider: SuiteProvider(store)).runTest()
    }

    @Test("The properties of a settings type are values of their own")
    func settingsType() throws {
        struct Settings: Codable {
            var port = 8080
            var rate = 2.0
            var isOpen = true
            var names = ["a", "b"]
            var nested = ["key": "value"]
            var absent: Int?
        }
        let store = MemoryDefaults()
        try store.df.save(Settings(), forKey: "server")
        let config = ConfigReader(provider: SuiteProvider(store))
        #expect(config.int(forKey: "server.port") == 8080)
        #expect(config.double(forKey: "server.rate") == 2)
        #expect(config.bool(forKey: "server.isOpen") == true)
        #expect(config.stringArray(forKey: "server.names") == ["a", "b"])
        #expect(config.string(forKey: "server.nested.key") == "value")
        #expect(config.int(forKey: "server.absent") == nil)
        #expect(config.string(forKey: "server.port") == nil)
    }

    @Test("A value of another type than the one asked for is an error, not a value")
    func wrongType() throws {
        let store = MemoryDefaults()
        try store.set("text", forKey: "key")
        try store.set(1.5, forKey: "real")
        try store.set(["a", 1] as [Any], forKey: "mixed")
        let provider = SuiteProvider(store)
        for type in [ConfigType.int, .double, .bool, .bytes, .stringArray] {
            #expect(throws: (any Error).self) { try provider.value(forKey: ["key"], type: type) }
        }
        #expect(throws: (any Error).self) { try provider.value(forKey: ["real"], type: .int) }
        #expect(throws: (any Error).self) { try provider.value(forKey: ["mixed"], type: .stringArray) }
    }

    @Test("Secrets are marked, so that they are not logged")
    func secrets() throws {
        let store = MemoryDefaults()
        try store.set("secret", forKey: "api.token")
        try store.set("red", forKey: "color")
        let provider = SuiteProvider(store, secrets: .dynamic { key, _ in key.hasSuffix("token") })
        #expect(try provider.value(forKey: ["api", "token"], type: .string).value?.isSecret == true)
        #expect(try provider.value(forKey: ["color"], type: .string).value?.isSecret == false)
    }

    @Test("A snapshot stays as it is, whatever is stored afterwards")
    func snapshot() throws {
        let store = MemoryDefaults()
        try store.set(1, forKey: "key")
        let snapshot = SuiteProvider(store).snapshot()
        try store.set(2, forKey: "key")
        #expect(try snapshot.value(forKey: ["key"], type: .int).value?.content == .int(1))
    }

    @Test("Who watches a value gets those that other users of the suite store")
    func watching() async throws {
        try await withSuite { suite, url in
            try suite.set(1, forKey: "key")
            let config = ConfigReader(provider: SuiteProvider(suite))
            let other = try FileDefaults(url: url)
            try await config.watchInt(forKey: "key") { updates in
                var iterator = updates.makeAsyncIterator()
                #expect(try await iterator.next() == .some(1))
                try other.set(2, forKey: "key")
                #expect(try await iterator.next() == .some(2))
                try other.removeObject(forKey: "key")
                #expect(try await iterator.next() == .some(nil))
            }
        }
    }
}

/// Runs a test with a suite in a directory of its own, which is removed afterwards.
private func withSuite(_ test: (FileDefaults, URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory
        .appending(path: "configuration-provider-\(UUID().uuidString)", directoryHint: .isDirectory)
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = directory.appending(path: "suite.defaults")
    try await test(FileDefaults(url: url), url)
}

import Configuration
import ConfigurationProvider
import Default
import Foundation
import Testing

private struct Limits: DefaultStorable, Equatable {
    var requests = 10
    var names = ["a"]
    var ratio = 0.5
    static let defaultValue = Limits()
}

struct ConfigurationSourceTests {
    private static let keys: [String: ConfigType] = [
        "port": .int, "host.name": .string, "isOpen": .bool, "ratio": .double, "bytes": .bytes, "ports": .intArray,
        "missing": .string, "wrong": .int,
    ]
    private static let settings: [String: [String: ConfigType]] = [
        "Limits": ["requests": .int, "names": .stringArray, "ratio": .double]
    ]

    @Test("What a reader's providers say is below what is stored, or above it")
    func layers() throws {
        let provider = InMemoryProvider(values: [
            "port": 8080, "host.name": "example.org", "isOpen": true, "ratio": 0.25,
            "bytes": ConfigValue(.bytes([1, 2]), isSecret: true),
            "ports": ConfigValue(.intArray([1, 2]), isSecret: false),
            "wrong": "text", "Limits.requests": 20, "Limits.names": ConfigValue(.stringArray(["b"]), isSecret: false),
        ])
        let source = ConfigurationSource(
            ConfigReader(provider: provider),
            name: "config",
            keys: Self.keys,
            settings: Self.settings
        )
        let store = MemoryDefaults(fallbacks: [source])
        #expect(store.integer(forKey: "port") == 8080 && store.string(forKey: "host.name") == "example.org")
        #expect(store.bool(forKey: "isOpen") && store.double(forKey: "ratio") == 0.25)
        #expect(store.data(forKey: "bytes") == Data([1, 2]) && store.storedValue(forKey: "ports") == [1, 2])
        #expect(store.storedValue(forKey: "missing") == nil && store.storedValue(forKey: "wrong") == nil)
        #expect(Limits.read(from: store) == Limits(requests: 20, names: ["b"]))
        #expect(store.origin(forKey: "port")?.name == "config")
        try store.set(1, forKey: "port")
        #expect(store.integer(forKey: "port") == 1 && store.storedKeys() == ["port"])
        let over = MemoryDefaults(overrides: [source])
        try over.set(1, forKey: "port")
        #expect(over.integer(forKey: "port") == 8080)
    }

    @Test("A change of a provider is a change of the store")
    func changes() async throws {
        let provider = MutableInMemoryProvider(initialValues: ["port": 1])
        let source = ConfigurationSource(ConfigReader(provider: provider), name: "config", keys: Self.keys)
        let store = MemoryDefaults(fallbacks: [source])
        let values = Defaults(suite: store).updates(Defaults.Key<Int>("port"))
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        provider.setValue(2, forKey: "port")
        #expect(await iterator.next() == 2)
    }
}

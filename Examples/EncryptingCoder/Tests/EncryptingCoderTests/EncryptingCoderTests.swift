import Crypto
import Default
import EncryptingCoder
import Foundation
import Testing

struct Secret: Codable, Equatable {
    var token = "the-plain-token"
    var count = 3
}

struct EncryptingCoderTests {
    let key = SymmetricKey(size: .bits256)

    func coder(for purpose: String = "Secret", key: SymmetricKey? = nil) -> DefaultsCoder {
        let key = key ?? self.key
        return .encrypting(for: purpose) { key }
    }

    func save(_ secret: Secret, in store: some DefaultsStore) throws {
        try store.df.save(secret, forKey: "secret", encoder: coder())
    }

    func load(from store: some DefaultsStore, _ coder: DefaultsCoder) throws -> Secret? {
        try store.df.load(forKey: "secret", type: Secret.self, decoder: coder)
    }

    @Test("What was stored encrypted is read, and no file of the suite holds any of it")
    func roundTrip() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let store = try FileDefaults(url: url)
            try save(Secret(), in: store)
            try store.compact()
            #expect(try load(from: FileDefaults(url: url), coder()) == Secret())
            for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
                let bytes = try Data(contentsOf: url.appending(path: name))
                for part in ["the-plain", "token", "count"] {
                    #expect(bytes.range(of: Data(part.utf8)) == nil, "\(part) in \(name)")
                }
            }
        }
    }

    @Test("A typed key with the coder stores nothing else, and another key or purpose reads nothing")
    func typedKey() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let secret = Defaults.Key<Secret?>("secret", coder: coder())
        store[secret] = Secret()
        store[secret]?.count += 1
        #expect(store[secret] == Secret(count: 4))
        #expect(store.data(forKey: "secret")?.range(of: Data("token".utf8)) == nil)
        for other in [coder(for: "Other"), coder(key: SymmetricKey(size: .bits256)), .json] {
            #expect(throws: DefaultsError.self) {
                try defaults.load(Defaults.Key<Secret?>("secret", coder: other))
            }
        }
        #expect(throws: DefaultsError.self) { try defaults.load(Defaults.Key<Secret?>("secret")) }
        #expect(store[secret] == Secret(count: 4))
        // A value that can't be decrypted is quarantined before it is replaced.
        store[Defaults.Key<Secret?>("secret", coder: coder(for: "Other"))] = Secret()
        #expect(try defaults.quarantined(secret).count == 1)
    }

    @Test("A value alone, without a struct around it, is stored too")
    func loneValue() throws {
        let store = MemoryDefaults()
        try store.df.save("token", forKey: "secret", encoder: coder())
        #expect(try store.df.load(forKey: "secret", type: String.self, decoder: coder()) == "token")
    }

    @Test("Each byte that is changed, cut off or added is detected, and the stored bytes stay as they are")
    func tampering() throws {
        let store = MemoryDefaults()
        try save(Secret(), in: store)
        let stored = try #require(store.data(forKey: "secret"))
        var forgeries: [Data] = [Data(), stored + [0], Data(stored.dropLast()), Data(stored.dropFirst())]
        for index in stored.indices {
            var forgery = stored
            forgery[index] ^= 1
            forgeries.append(forgery)
        }
        for forgery in forgeries {
            try store.set(forgery, forKey: "secret")
            let error = #expect(throws: DefaultsError.self) { try load(from: store, coder()) }
            #expect(error?.code == .undecodable)
            let cause = error?.underlyingError as? DecryptionFailure
            #expect(cause == (forgery.count < 28 ? .notEncrypted : .notAuthentic))
            #expect(store.data(forKey: "secret") == forgery)
        }
        try store.set(stored, forKey: "secret")
        #expect(try load(from: store, coder()) == Secret())
    }

    @Test("Another key and another purpose open nothing")
    func otherKey() throws {
        let store = MemoryDefaults()
        try save(Secret(), in: store)
        let strangers = [coder(key: SymmetricKey(size: .bits256)), coder(for: "Other"), coder(for: ""), .json]
        for stranger in strangers {
            #expect(throws: DefaultsError.self) { try load(from: store, stranger) }
        }
    }

    @Test("The same value is never stored as the same bytes")
    func nonces() throws {
        let coder = coder()
        let stored = try Set((0..<100).map { _ in try coder.encode(Secret()) })
        #expect(stored.count == 100)
        #expect(Set(stored.map { $0.prefix(12) }).count == 100)
    }

    @Test("Without its key nothing is stored, nothing is read, and nothing is lost")
    func missingKey() throws {
        try withTemporaryDirectory { directory in
            let file = KeyFile(url: directory.appending(path: "keys/key"))
            let coder = DefaultsCoder.encrypting(for: "Secret") { try file.key() }
            let store = MemoryDefaults()
            try store.set("before", forKey: "secret")
            #expect(throws: DefaultsError.self) {
                try store.df.save(Secret(), forKey: "secret", encoder: coder)
            }
            #expect(store.object(forKey: "secret") as? String == "before")
            try file.createIfMissing()
            try store.df.save(Secret(), forKey: "secret", encoder: coder)
            try FileManager.default.moveItem(at: file.url, to: directory.appending(path: "away"))
            let error = #expect(throws: DefaultsError.self) { try load(from: store, coder) }
            #expect(error?.underlyingError as? KeyFile.Failure == .missing(path: file.url.path))
            try FileManager.default.moveItem(at: directory.appending(path: "away"), to: file.url)
            #expect(try load(from: store, coder) == Secret())
        }
    }

    @Test("Each failure is described by sentences, with its path, and says what to do")
    func descriptions() {
        let failures: [any Error] = [
            KeyFile.Failure.missing(path: "/key"), KeyFile.Failure.wrongSize(path: "/key"),
            KeyFile.Failure.readableByOthers(path: "/key"),
        ]
        for failure in failures {
            #expect("\(failure)".contains("/key") && "\(failure)".hasSuffix("."))
        }
        for failure in [DecryptionFailure.notEncrypted, .notAuthentic] {
            #expect("\(failure)".hasPrefix("The stored value") && "\(failure)".hasSuffix("."))
        }
    }

    @Test("A key file is made once, for its owner alone, however many tasks make it at the same time")
    func keyFile() async throws {
        let directory = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = KeyFile(url: directory.appending(path: "keys/key"))
        let keys = try await withThrowingTaskGroup(of: SymmetricKey.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try file.createIfMissing()
                    return try file.key()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(keys.allSatisfy { $0 == keys.first })
        #expect(keys.first?.bitCount == 256)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "keys").path) == ["key"])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.url.path)
        #expect(throws: KeyFile.Failure.readableByOthers(path: file.url.path)) { try file.key() }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        try Data([1]).write(to: file.url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        #expect(throws: KeyFile.Failure.wrongSize(path: file.url.path)) { try file.key() }
    }
}

func makeTemporaryDirectory() throws -> URL {
    let directory = FileManager.default.temporaryDirectory
        .appending(path: "encrypting-coder-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
}

func withTemporaryDirectory(_ test: (URL) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    try test(directory)
}

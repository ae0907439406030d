import Foundation
import GRDB
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A settings type in `UserDefaults`, the way people write it by hand.
package struct HandWrittenDefaults: @unchecked Sendable {
    // `UserDefaults` is thread-safe, but swift-corelibs-foundation doesn't mark it as `Sendable`.
    package let defaults: UserDefaults
    /// Whether each write goes to the disk, as it has to on systems where Foundation never does that by itself.
    package let synchronizes: Bool

    /// - Parameters:
    ///   - suiteName: The suite's name.
    ///   - keys: The keys to store beforehand, all in one call, since Foundation takes seconds for ten thousand single
    ///     sets.
    ///   - synchronizes: Whether each write is followed by `synchronize`.
    /// - Throws: An error when there can be no such suite.
    package init(suiteName: String, keys: [String], synchronizes: Bool) throws {
        let values = Dictionary(uniqueKeysWithValues: keys.map { ($0, Raw.newValue()) })
        UserDefaults.standard.setPersistentDomain(values, forName: suiteName)
        guard let defaults = UserDefaults(suiteName: suiteName) else { throw CocoaError(.fileReadInvalidFileName) }
        self.defaults = defaults
        self.synchronizes = synchronizes
        defaults.synchronize()
    }

    package func read() -> VisualSettings? {
        guard let data = defaults.data(forKey: "VisualSettings") else { return nil }
        return try? JSONDecoder().decode(VisualSettings.self, from: data)
    }

    package func write(_ settings: VisualSettings) {
        guard let data = try? JSONEncoder().encode(settings) else { return }
        set(data, "VisualSettings")
    }

    package func set(_ value: Any, _ key: String) {
        defaults.set(value, forKey: key)
        if synchronizes { defaults.synchronize() }
    }
}

/// A table of keys and values in SQLite, with write-ahead logging, prepared statements and no more syncing than
/// settings need.
package struct SQLiteStore: Sendable {
    private let pool: DatabasePool

    package init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        pool = try DatabasePool(path: path, configuration: configuration)
    }

    /// The version of the library that is linked.
    package static func version() throws -> String? {
        try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
    }

    /// Closes the database, and moves all of its data into the one file, which may then be copied.
    package func close() throws {
        try pool.close()
    }

    package func fill(_ keys: [String]) throws {
        try pool.write { database in
            try database.execute(
                sql: "CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"
            )
            for key in keys { try Self.set(Raw.value, key, in: database) }
        }
    }

    private static func set(_ value: any DatabaseValueConvertible, _ key: String, in database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT INTO settings VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        ).execute(arguments: [key, value])
    }

    package func set(_ value: any DatabaseValueConvertible & Sendable, _ key: String) throws {
        // One statement is a transaction by itself.
        try pool.writeWithoutTransaction { try Self.set(value, key, in: $0) }
    }

    private static func value<Value: DatabaseValueConvertible>(_ key: String, in database: Database) throws -> Value? {
        let statement = try database.cachedStatement(sql: "SELECT value FROM settings WHERE key = ?")
        return try Value.fetchOne(statement, arguments: [key])
    }

    package func data(_ key: String) throws -> Data? {
        try pool.read { try Self.value(key, in: $0) }
    }

    package func integer(_ key: String) throws -> Int? {
        try pool.read { try Self.value(key, in: $0) }
    }

    package func increment(_ key: String) throws {
        try pool.writeWithoutTransaction { database in
            try database.cachedStatement(
                sql: "INSERT INTO settings VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET value = value + 1"
            ).execute(arguments: [key])
        }
    }

    package func read() throws -> VisualSettings? {
        try data("VisualSettings").map { try JSONDecoder().decode(VisualSettings.self, from: $0) }
    }

    package func write(_ settings: VisualSettings) throws {
        try set(try JSONEncoder().encode(settings), "VisualSettings")
    }

    package func update(_ change: @Sendable (inout VisualSettings) -> Void) throws {
        try pool.write { database in
            let stored: Data? = try Self.value("VisualSettings", in: database)
            var settings =
                try stored.map { try JSONDecoder().decode(VisualSettings.self, from: $0) } ?? VisualSettings()
            change(&settings)
            try Self.set(try JSONEncoder().encode(settings), "VisualSettings", in: database)
        }
    }
}

/// A dictionary in a property list that is read and replaced as a whole, as configuration files are.
package struct PropertyListFile: Sendable {
    package let url: URL

    package init(url: URL) {
        self.url = url
    }

    package func fill(_ keys: [String]) throws {
        try save(Dictionary(uniqueKeysWithValues: keys.map { ($0, Raw.newValue()) }))
    }

    package func load() throws -> [String: Any] {
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        return list as? [String: Any] ?? [:]
    }

    package func save(_ values: [String: Any]) throws {
        let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
        try data.write(to: url, options: .atomic)
    }

    package func set(_ value: Any, _ key: String) throws {
        var values = try load()
        values[key] = value
        try save(values)
    }

    package func read() throws -> VisualSettings? {
        try (load()["VisualSettings"] as? Data).map { try JSONDecoder().decode(VisualSettings.self, from: $0) }
    }

    package func write(_ settings: VisualSettings) throws {
        try set(try JSONEncoder().encode(settings), "VisualSettings")
    }
}

/// The least work that a write safe across processes needs: appending to a file under a lock.
package final class LockedFile: @unchecked Sendable {
    private let lock: Int32
    private let file: Int32
    /// The end of the file; each benchmark has its own file, and writes from one thread.
    private var end = 0

    /// Opens the files `path.lock` and `path`.
    package init(path: String) throws {
        lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard lock >= 0, file >= 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    deinit {
        close(file)
        close(lock)
    }

    private static let record = [UInt8](repeating: 1, count: 150)

    /// Appends 150 bytes under the lock.
    package func append() {
        Self.record.withUnsafeBytes(append)
    }

    /// Appends the bytes of an encoded value under the lock.
    package func append(_ data: Data) {
        data.withUnsafeBytes(append)
    }

    /// Waits for the disk.
    package func sync() { fdatasync(file) }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        flock(lock, LOCK_EX)
        end += pwrite(file, bytes.baseAddress, bytes.count, off_t(end))
        flock(lock, LOCK_UN)
    }
}

/// The least work that a look-up safe across threads needs.
package final class LockedTable: Sendable {
    private let table: Mutex<[String: Data]>

    package init(_ keys: [String]) {
        table = Mutex(Dictionary(uniqueKeysWithValues: keys.map { ($0, Raw.newValue()) }))
    }

    package func data(_ key: String) -> Data? {
        table.withLock { $0[key] }
    }
}

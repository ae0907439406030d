import CLMDB
import Foundation

/// Keys and values in LMDB, which several processes may use, without syncing.
package final class LMDBStore: @unchecked Sendable {
    // An environment is safe across threads; a transaction belongs to one.
    private let environment: OpaquePointer
    private let table: MDB_dbi

    /// An error of LMDB.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32
        var description: String { String(cString: mdb_strerror(code)) }
    }

    /// The version of the library that is linked.
    package static var version: String { String(cString: mdb_version(nil, nil, nil)) }

    /// Opens the file at a path, with room for 1 GiB.
    package init(path: String) throws {
        var environment: OpaquePointer?
        try Self.check(mdb_env_create(&environment))
        guard let environment else { throw CocoaError(.fileReadUnknown) }
        self.environment = environment
        try Self.check(mdb_env_set_mapsize(environment, 1 << 30))
        let flags = UInt32(MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOTLS)
        try Self.check(mdb_env_open(environment, path, flags, 0o600))
        var table: MDB_dbi = 0
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        try Self.check(mdb_dbi_open(transaction, nil, 0, &table))
        try Self.check(mdb_txn_commit(transaction))
        self.table = table
    }

    deinit {
        mdb_env_close(environment)
    }

    package func fill(_ keys: [String]) throws {
        try write { transaction in
            for key in keys { try put(Raw.value, key, transaction) }
        }
    }

    package func set(_ value: Data, _ key: String) throws {
        try write { try put(value, key, $0) }
    }

    /// Calls a body while no other process can write.
    package func hold(_ body: () -> Void) throws {
        try write { _ in body() }
    }

    package func data(_ key: String) throws -> Data? {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        var value = MDB_val()
        let code = Self.withValue(Array(key.utf8)) { name in
            var name = name
            return mdb_get(transaction, table, &name, &value)
        }
        if code == MDB_NOTFOUND { return nil }
        try Self.check(code)
        return Data(bytes: value.mv_data, count: value.mv_size)
    }

    private func write(_ body: (OpaquePointer?) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        do {
            try body(transaction)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try Self.check(mdb_txn_commit(transaction))
    }

    private func put(_ value: Data, _ key: String, _ transaction: OpaquePointer?) throws {
        let code = Self.withValue(Array(key.utf8)) { name in
            var name = name
            return value.withUnsafeBytes { bytes in
                var content = MDB_val(
                    mv_size: bytes.count,
                    mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                )
                return mdb_put(transaction, table, &name, &content, 0)
            }
        }
        try Self.check(code)
    }

    private static func withValue(_ bytes: [UInt8], _ body: (MDB_val) -> Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            body(MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)))
        }
    }

    private static func check(_ code: Int32) throws {
        guard code == MDB_SUCCESS else { throw Failure(code: code) }
    }
}

internal import Foundation

// The messages of etcd's API that this library uses, as its JSON gateway has them: keys and values in Base64, 64-bit
// numbers as strings, fields with their zero value left out. https://etcd.io/docs/v3.4/dev-guide/api_reference_v3/

/// Encodes and decodes messages.
enum EtcdCoding {
    static func encode(_ message: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom { FieldName($0[$0.count - 1].stringValue) }
        do {
            return try encoder.encode(message)
        } catch {
            // They hold strings, numbers and bytes only.
            preconditionFailure("A message to etcd can't be encoded: \(error)")
        }
    }

    static func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }
}

/// The name of a field: `rangeEnd` is `range_end`, but `TTL` stays `TTL`, which Foundation's strategy would not leave.
private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue =
            name == name.uppercased()
            ? name : name.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
    }

    init(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        nil
    }
}

/// A 64-bit number, which the gateway writes as a string.
struct EtcdNumber: Decodable, Hashable, Sendable {
    let value: Int64

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            value = number
            return
        }
        guard let number = Int64(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
        }
        value = number
    }
}

/// What each answer begins with.
struct ResponseHeader: Decodable, Hashable, Sendable {
    /// Identifies the cluster; unsigned, so a string.
    var clusterId: String?
    /// Identifies the member.
    var memberId: String?
    private var revision: EtcdNumber?

    /// The store's revision when the answer was given; 0 if the answer didn't say.
    var storeRevision: Int64 { revision?.value ?? 0 }
}

/// An answer that says which cluster it is from.
protocol ClusterResponse {
    var header: ResponseHeader? { get }
}

/// An answer that is used whichever cluster it is from.
struct FromAnyCluster<Response: Decodable>: Decodable {
    let response: Response

    init(from decoder: any Decoder) throws {
        response = try Response(from: decoder)
    }
}

/// A key with its value.
struct KeyValue: Decodable, Hashable, Sendable {
    let key: Data
    private let value: Data?
    private let modRevision: EtcdNumber?

    /// The value; empty if none was asked for.
    var text: Data { value ?? Data() }
    /// The revision that wrote the value.
    var revision: Int64 { modRevision?.value ?? 0 }
}

struct RangeRequest: Encodable, Sendable {
    var key: Data
    /// The key after the last one; nil for a single key.
    var rangeEnd: Data?
    var limit: Int64?
    var revision: Int64?
    var sortOrder: String?
    var sortTarget: String?
    /// Whether the member may answer from what it has, which may be old.
    var serializable: Bool?
    var keysOnly: Bool?
}

struct RangeResponse: Decodable, ClusterResponse, Sendable {
    var header: ResponseHeader?
    private var kvs: [KeyValue]?
    private var more: Bool?
    private var count: EtcdNumber?

    var keyValues: [KeyValue] { kvs ?? [] }
    var hasMore: Bool { more ?? false }
    /// The number of keys in the range, whatever the limit.
    var total: Int { Int(count?.value ?? 0) }

    func value(of key: Data) -> KeyValue? { keyValues.first { $0.key == key } }
}

struct PutRequest: Encodable, Sendable {
    var key: Data
    var value: Data
    var lease: Int64?
}

struct DeleteRangeRequest: Encodable, Sendable {
    var key: Data
}

struct DeleteRangeResponse: Decodable, Sendable {
    private var deleted: EtcdNumber?

    var deletedCount: Int64 { deleted?.value ?? 0 }
}

/// A condition of a transaction.
struct Compare: Encodable, Sendable {
    enum Target: String, Encodable { case version = "VERSION", mod = "MOD", value = "VALUE" }
    enum Result: String, Encodable { case equal = "EQUAL", greater = "GREATER", less = "LESS" }

    var key: Data
    var target: Target
    var result: Result
    var version: Int64?
    var modRevision: Int64?
    var value: Data?

    static func absent(_ key: Data) -> Compare {
        Compare(key: key, target: .version, result: .equal, version: 0)
    }

    static func present(_ key: Data) -> Compare {
        Compare(key: key, target: .version, result: .greater, version: 0)
    }

    static func isValue(_ value: Data, of key: Data) -> Compare {
        Compare(key: key, target: .value, result: .equal, value: value)
    }

    static func wasWritten(at revision: Int64, _ key: Data) -> Compare {
        Compare(key: key, target: .mod, result: .equal, modRevision: revision)
    }

    static func wasNotWritten(after revision: Int64, _ key: Data) -> Compare {
        Compare(key: key, target: .mod, result: .less, modRevision: revision + 1)
    }
}

/// One operation of a transaction; exactly one member is set.
struct RequestOperation: Encodable, Sendable {
    var requestRange: RangeRequest?
    var requestPut: PutRequest?
    var requestDeleteRange: DeleteRangeRequest?
}

struct TransactionRequest: Encodable, Sendable {
    var compare: [Compare] = []
    var success: [RequestOperation] = []
    var failure: [RequestOperation] = []
}

struct TransactionResponse: Decodable, ClusterResponse, Sendable {
    struct Operation: Decodable, Sendable {
        var responseRange: RangeResponse?
        var responseDeleteRange: DeleteRangeResponse?
    }

    var header: ResponseHeader?
    private var succeeded: Bool?
    private var responses: [Operation]?

    /// Whether all conditions were true.
    var hasSucceeded: Bool { succeeded ?? false }
    var operations: [Operation] { responses ?? [] }
}

struct WatchRequest: Encodable, Sendable {
    struct Create: Encodable, Sendable {
        var key: Data
        var rangeEnd: Data
        var startRevision: Int64
        /// Whether the member divides what is too long for one frame.
        var fragment = true
    }

    var createRequest: Create
}

struct LeaseGrantRequest: Encodable, Sendable {
    var seconds: Int64

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private enum CodingKeys: String, CodingKey { case seconds = "TTL" }
}

struct LeaseGrantResponse: Decodable, ClusterResponse, Sendable {
    var header: ResponseHeader?
    private var lease: EtcdNumber

    var id: Int64 { lease.value }

    private enum CodingKeys: String, CodingKey { case header, lease = "ID" }
}

struct AuthenticateRequest: Encodable, Sendable {
    var name: String
    var password: String
}

/// A token, which is accepted from a member of any cluster.
///
/// Newer members say to users only which cluster they belong to. Those of another one than the token's refuse it, and
/// are asked for one of their own.
struct AuthenticateResponse: Decodable, Sendable {
    var token: String
}

struct EmptyRequest: Encodable, Sendable {}

/// The members of a cluster, as one of them knows them.
struct MemberListResponse: Decodable, Sendable {
    struct Member: Decodable, Sendable {
        var id: String?
        var urls: [String]?
        /// Whether it only receives, and answers nothing.
        var isLearner: Bool?

        private enum CodingKeys: String, CodingKey { case id = "ID", urls = "clientURLs", isLearner }
    }

    var header: ResponseHeader?
    private var members: [Member]?

    var named: [Roster.Named] {
        (members ?? []).filter { $0.isLearner != true }.map { member in
            Roster.Named(id: member.id ?? "", urls: (member.urls ?? []).compactMap { URL(string: $0) })
        }
    }
}

/// The state of one member.
struct StatusResponse: Decodable, Sendable {
    var header: ResponseHeader?
}

/// How the gateway says that a member refused a request.
struct ErrorResponse: Decodable, Sendable {
    var error: String?
    var message: String?
    var code: Int?
}

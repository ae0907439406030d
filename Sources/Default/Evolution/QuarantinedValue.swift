#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A stored value that could not be used and was kept when it was replaced.
///
/// You get them from ``DefaultStorable/quarantined(in:forKey:)`` and ``Defaults/quarantined(_:)-swift.method``.
public struct QuarantinedValue: Hashable, Sendable {
    /// When it was replaced.
    public let date: Date
    /// The name of the type that it could not be used as.
    public let typeName: String

    /// The value as it was stored.
    public let value: PropertyListValue

    /// The recorded version of the bytes; nil when there was none.
    var version: String?

    /// The value as a property-list object.
    public var object: Any { value.object }

    /// The bytes as they were stored; nil when what was stored is not `Data`.
    public var data: Data? {
        if case .data(let data) = value { data } else { nil }
    }
}

// The stored form: a dictionary that the platform's tools can display.
extension QuarantinedValue {
    init?(_ entry: PropertyListValue) {
        guard case .dictionary(let fields) = entry,
            case .date(let date)? = fields["date"], case .string(let typeName)? = fields["type"],
            let value = fields["value"]
        else { return nil }
        self.init(date: date, typeName: typeName, value: value)
        if case .string(let version)? = fields["version"] {
            self.version = version
        }
    }

    var entry: PropertyListValue {
        var fields: [String: PropertyListValue] = ["date": .date(date), "type": .string(typeName), "value": value]
        fields["version"] = version.map { .string($0) }
        return .dictionary(fields)
    }
}

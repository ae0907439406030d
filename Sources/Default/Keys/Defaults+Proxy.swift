#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Defaults {
    /// The value of a string key, which can be read as any type.
    ///
    /// Each property reads the store again, and converts like `UserDefaults`: numbers, strings and Booleans are converted to
    /// each other. If there is no value, or none of that type, properties return nil, and those with `Value` in their name
    /// return 0, false or an empty value.
    public struct Proxy {
        /// The key.
        public let key: String
        let suite: any DefaultsStore

        init(suite: any DefaultsStore, key: String) {
            self.suite = suite
            self.key = key
        }

        var stored: PropertyListValue? {
            TrackedKeys.access([key], in: suite)
            return suite.storedValue(forKey: key)
        }
    }
}

@available(*, unavailable, message: "A store need not be Sendable: on Linux, UserDefaults isn't.")
extension Defaults.Proxy: Sendable {}

extension Defaults.Proxy {
    /// Whether a value is stored, or registered with the store.
    public var exists: Bool { stored != nil }

    /// Removes the stored value; errors are reported to ``DefaultsDiagnostics``.
    public func remove() {
        Defaults(suite: suite).remove(key)
    }

    /// The value as a property-list object.
    public var object: Any? { stored?.object }

    /// The string, or a number's decimal notation ("1" and "0" for Booleans).
    public var string: String? { stored?.asString }

    /// The number without its fraction, clamped to the range of `Int`; 1 for true and 0 for false; the number that a string
    /// begins with.
    public var int: Int? { stored.flatMap { $0.isNumeric ? $0.asInteger : nil } }

    /// The number; 1 for true and 0 for false; the number that a string begins with.
    public var double: Double? { stored.flatMap { $0.isNumeric ? $0.asDouble : nil } }

    /// The Boolean; true for numbers other than 0.
    ///
    /// Strings that begin like "YES", "true", "NO" or "false", or with a number, are converted.
    public var bool: Bool? { stored.flatMap { $0.isBoolean ? $0.asBool : nil } }

    /// The bytes.
    public var data: Data? { stored.flatMap(Data.init(propertyListValue:)) }

    /// The date.
    public var date: Date? { stored.flatMap(Date.init(propertyListValue:)) }

    /// The array.
    public var array: [Any]? { stored?.object as? [Any] }

    /// The dictionary.
    public var dictionary: [String: Any]? { stored?.object as? [String: Any] }
}

extension Defaults.Proxy {
    /// The ``string``, or "".
    public var stringValue: String { string ?? "" }

    /// The integer (``int``), or 0.
    public var intValue: Int { int ?? 0 }

    /// The floating-point number (``double``), or 0.
    public var doubleValue: Double { double ?? 0 }

    /// The Boolean (``bool``), or false.
    public var boolValue: Bool { bool ?? false }

    /// The ``data``, or no bytes.
    public var dataValue: Data { data ?? Data() }

    /// The ``array``, or an empty one.
    public var arrayValue: [Any] { array ?? [] }

    /// The ``dictionary``, or an empty one.
    public var dictionaryValue: [String: Any] { dictionary ?? [:] }
}

public import Foundation

extension Defaults {
    /// What is stored under a plain string, in whatever type it is asked for.
    ///
    /// Each property re-reads, and converts as `UserDefaults` does: numbers, strings and Booleans are read as each other. Where there is nothing, or nothing of that type, properties give nil, those with `Value` in
    /// their name 0, false or what is empty.
    public struct Proxy {
        /// The key.
        public let key: String
        let suite: any DefaultsStore

        init(suite: any DefaultsStore, key: String) {
            self.suite = suite
            self.key = key
        }

        private var stored: PropertyListValue? { suite.storedValue(forKey: key) }
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension Defaults.Proxy: Sendable {}

extension Defaults.Proxy {
    /// Whether something is stored, or registered with the store.
    public var exists: Bool { stored != nil }

    /// Removes what is stored; what goes wrong is reported to ``DefaultsDiagnostics``.
    public func remove() {
        Defaults(suite: suite).remove(key)
    }

    /// What is stored, as a property-list object.
    public var object: Any? { stored?.object }

    /// The string, or a number's decimal notation ("1" and "0" for Booleans).
    public var string: String? { stored?.asString }

    /// The number without its fraction, within the range of `Int`; 1 for true and 0 for false; what a string begins with.
    public var int: Int? { stored.flatMap { $0.isNumeric ? $0.asInteger : nil } }

    /// The number; 1 for true and 0 for false; what a string begins with.
    public var double: Double? { stored.flatMap { $0.isNumeric ? $0.asDouble : nil } }

    /// The Boolean; true for numbers but 0; what strings that begin like "YES", "true", "NO" or "false", or with a number,
    /// say.
    public var bool: Bool? { stored.flatMap { $0.isBoolean ? $0.asBool : nil } }

    /// The number, Booleans included; strings are none.
    public var number: NSNumber? { stored?.asNumber }

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
    /// ``string``, or "".
    public var stringValue: String { string ?? "" }

    /// ``int``, or 0.
    public var intValue: Int { int ?? 0 }

    /// ``double``, or 0.
    public var doubleValue: Double { double ?? 0 }

    /// ``bool``, or false.
    public var boolValue: Bool { bool ?? false }

    /// ``number``, or 0.
    public var numberValue: NSNumber { number ?? 0 }

    /// ``data``, or no bytes.
    public var dataValue: Data { data ?? Data() }

    /// ``array``, or no elements.
    public var arrayValue: [Any] { array ?? [] }

    /// ``dictionary``, or no entries.
    public var dictionaryValue: [String: Any] { dictionary ?? [:] }
}

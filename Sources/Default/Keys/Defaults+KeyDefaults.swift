// The initializers of Defaults+Key.swift with a closure: `Key<Date>("now") { Date() }`. It is
// called at each read while nothing is stored.

extension Defaults.Key where Value: PropertyListConvertible {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: RawRepresentable, Value.RawValue: PropertyListConvertible {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .rawValue(by: .native), default: makeDefault)
    }
}

extension Defaults.Key
where Value: RawRepresentable & PropertyListConvertible, Value.RawValue: PropertyListConvertible {
    /// Creates a key with a default that is created at each read while nothing is stored.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .native, default: makeDefault)
    }
}

extension Defaults.Key where Value: Codable {
    /// Creates a key with a default that is created at each read while nothing is stored.
    @_disfavoredOverload
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, bridge: .stored(), default: makeDefault)
    }
}

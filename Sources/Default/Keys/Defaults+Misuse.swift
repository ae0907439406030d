// Declarations that can't be used: each exists for its message, where the compiler's own diagnostic would not name the
// cause.

extension Defaults {
    /// Matches a value of another type than the key's.
    @available(*, unavailable, message: "The key is for values of another type.")
    @_disfavoredOverload
    public subscript<Value, Other>(key: Key<Value>) -> Other {
        get { fatalError("The key is for values of another type.") }
        nonmutating set { fatalError("The key is for values of another type.") }
    }

    /// Matches a value of another type than the key's.
    @available(*, unavailable, message: "The key is for values of another type.")
    @_disfavoredOverload
    public static subscript<Value, Other>(key: Key<Value>) -> Other {
        get { fatalError("The key is for values of another type.") }
        set { fatalError("The key is for values of another type.") }
    }
}

extension DefaultsStore {
    /// Matches a value of another type than the key's.
    @available(*, unavailable, message: "The key is for values of another type.")
    @_disfavoredOverload
    public subscript<Value, Other>(key: Defaults.Key<Value>) -> Other {
        get { fatalError("The key is for values of another type.") }
        nonmutating set { fatalError("The key is for values of another type.") }
    }
}

extension Defaults {
    /// Matches a key with a default of the call's.
    @available(*, unavailable, message: "The default belongs to the key: Key(\"name\", default: value).")
    public static subscript<Value>(key: Key<Value>, default value: Value) -> Value {
        get { fatalError("The default belongs to the key.") }
        set { fatalError("The default belongs to the key.") }
    }

    /// Matches a value and a key in the words of `UserDefaults`.
    @available(*, unavailable, renamed: "save(_:for:)")
    public static func set<Value>(_ value: Value, for key: Key<Value>) { fatalError("Use save(_:for:).") }

    /// Matches a transaction without a store.
    @available(*, unavailable, message: "A transaction is one of a store: try Defaults().suite.transaction { … }.")
    public static func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        fatalError("A transaction is one of a store.")
    }
}

extension Defaults.Key {
    /// Matches a key without a default, of a type that has no empty value.
    @available(
        *,
        unavailable,
        message: """
            A key for this type needs a default: Key("name", default: value). Or make it a key for an optional. A \
            dictionary has keys of type String, or Codable keys and values. For objects of any type, use Any instead \
            of AnyObject or AnyHashable.
            """
    )
    @_disfavoredOverload
    public convenience init(_ name: String) { fatalError("A key for this type needs a default.") }
}

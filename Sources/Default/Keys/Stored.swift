/// A property whose value is kept in a store, under a typed key.
///
/// ```swift
/// struct Player {
///     @Stored(.volume) var volume                            // the standard store
///     @Stored(.theme, suite: MemoryDefaults()) var theme     // any other
/// }
/// ```
///
/// Works in structs, classes and actors. Reading and assigning are those of ``Defaults``, and so is a change in place:
/// `volume -= 0.1` is one operation across threads and, on a ``FileDefaults``, processes. The property needs no `mutating`,
/// since what it changes is the store.
@propertyWrapper
public struct Stored<Value> {
    private let key: Defaults.Key<Value>
    private let defaults: Defaults

    /// A property in the platform's standard store.
    ///
    /// - Parameter key: The key, which also says what is read while nothing is stored.
    public init(_ key: Defaults.Key<Value>) {
        self.key = key
        defaults = Defaults()
    }

    /// A property in a store.
    ///
    /// - Parameters:
    ///   - key: The key, which also says what is read while nothing is stored.
    ///   - suite: The store.
    public init(_ key: Defaults.Key<Value>, suite: any DefaultsStore) {
        self.key = key
        defaults = Defaults(suite: suite)
    }

    /// The value; what goes wrong is reported to ``DefaultsDiagnostics``.
    public var wrappedValue: Value {
        get { defaults[key] }
        nonmutating set { defaults[key] = newValue }
        nonmutating _modify { yield &defaults[key] }
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension Stored: Sendable {}

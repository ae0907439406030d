/// A property whose value is stored under a typed key.
///
/// ```swift
/// struct Player {
///     @Stored(.volume) var volume                            // the standard store
///     @Stored(.theme, suite: MemoryDefaults()) var theme     // any other
/// }
/// ```
///
/// It can be used in structs, classes and actors. Reading, assigning and changes in place work as in ``Defaults``:
/// `volume -= 0.1` is atomic across threads and, on a ``FileDefaults``, processes. Setters are `nonmutating`, because they
/// only change the store.
@propertyWrapper
public struct Stored<Value> {
    private let key: Defaults.Key<Value>
    private let defaults: Defaults

    /// Creates a property that is stored in the platform's standard store.
    public init(_ key: Defaults.Key<Value>) {
        self.key = key
        defaults = Defaults()
    }

    /// Creates a property that is stored in a store.
    public init(_ key: Defaults.Key<Value>, suite: any DefaultsStore) {
        self.key = key
        defaults = Defaults(suite: suite)
    }

    /// The value; errors are reported to ``DefaultsDiagnostics``.
    public var wrappedValue: Value {
        get { defaults[key] }
        nonmutating set { defaults[key] = newValue }
        nonmutating _modify { yield &defaults[key] }
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension Stored: Sendable {}

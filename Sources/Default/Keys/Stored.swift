/// A property whose value is stored under a typed key.
///
/// ```swift
/// struct Player {
///     @Stored(.volume) var volume            // the standard store
///     @Stored(.theme, suite: MemoryDefaults()) var theme
///     @Stored("mute") var isMuted = false    // a key that is named here
///     @Stored("title") var title: String?
/// }
/// ```
///
/// A name takes the place of a key for any `Codable` value; it is stored as by a ``Defaults/Key`` of that name and
/// type. It can be used in structs, classes and actors. Reading, assigning and changes in place work as in
/// ``Defaults``: `volume -= 0.1` is atomic across threads and, on a ``FileDefaults``, processes. Setters are
/// `nonmutating`, because they only change the store. A change in place that throws stores what it has changed so far,
/// unlike one of ``Defaults``: the compiler doesn't pass the error on to a property wrapper (Swift 6.3).
///
/// In a file that imports `DefaultSwiftUI`, `$volume` is a `Binding`; see <doc:SettingsInSwiftUI>. Elsewhere it is
/// empty, or the store if one is given. A property that is declared without its key, to be given one by an initializer,
/// needs both types: `@Stored<Double, Void> var volume`, or `@Stored<Double, any DefaultsStore> var volume` in a given
/// store.
///
/// A property in the standard store is `Sendable`. So a struct of such properties can be a global constant, and may be
/// used from any task. In a given store it is not, because its type doesn't say what the store is. Where
/// `DefaultSwiftUI` is imported, a given store has to be safe to use from any task, so the property is `Sendable`, too.
@propertyWrapper
public struct Stored<Value, Projection> {
    private let key: Defaults.Key<Value>
    private let defaults: Defaults
    private let project: (Defaults, Defaults.Key<Value>) -> Projection

    /// Creates a property whose projected value another module defines.
    ///
    /// A projected value can't be added by an extension, so its type is a parameter, which follows from the
    /// initializer.
    package init(
        _ key: Defaults.Key<Value>,
        in defaults: Defaults,
        project: @escaping (Defaults, Defaults.Key<Value>) -> Projection
    ) {
        self.key = key
        self.defaults = defaults
        self.project = project
    }

    /// The value; errors are reported to ``DefaultsDiagnostics``.
    public var wrappedValue: Value {
        get { defaults[key] }
        nonmutating set { defaults[key] = newValue }
        // Not by way of `Defaults`; see AccessInPlace.
        nonmutating _modify {
            var change = ChangeInPlace(forKey: key.storedName, in: defaults.suite)
            defer { change.end() }
            var value = change.value(by: key.bridge, default: { key.defaultValue })
            yield &value
            change.commit(value, by: key.bridge, default: { key.defaultValue })
        }
    }

    /// A `Binding` to the value where the property's file imports `DefaultSwiftUI`; otherwise empty, or the store if
    /// one was given.
    public var projectedValue: Projection { project(defaults, key) }
}

extension Defaults.Key where Value: Codable {
    /// Creates the key of a property that is declared with a name: it is stored as by a typed key.
    package convenience init(ofProperty name: String, default value: Value) {
        self.init(name, bridge: .topLevel, constant: value)
    }
}

// Disfavored, so that the initializers of DefaultSwiftUI are chosen where both are known.
extension Stored where Projection == Void {
    /// Creates a property that is stored in the platform's standard store.
    @_disfavoredOverload
    public init(_ key: Defaults.Key<Value>) { self.init(key, in: Defaults()) { _, _ in } }

    /// Creates a property that is stored in the platform's standard store under a name, with its default:
    /// `@Stored("volume") var volume = 0.5`.
    @_disfavoredOverload
    public init(wrappedValue: sending Value, _ name: String) where Value: Codable {
        self.init(Defaults.Key(ofProperty: name, default: wrappedValue))
    }

    /// Creates a property of an optional that is stored in the platform's standard store under a name:
    /// `@Stored("nickname") var nickname: String?`.
    @_disfavoredOverload
    public init(_ name: String) where Value: Codable & ExpressibleByNilLiteral {
        self.init(Defaults.Key(ofProperty: name, default: nil))
    }
}

extension Stored where Projection == any DefaultsStore {
    /// Creates a property that is stored in a store.
    @_disfavoredOverload
    public init(_ key: Defaults.Key<Value>, suite: any DefaultsStore) {
        self.init(key, in: Defaults(suite: suite)) { defaults, _ in defaults.suite }
    }

    /// Creates a property that is stored in a store under a name, with its default.
    @_disfavoredOverload
    public init(wrappedValue: sending Value, _ name: String, suite: any DefaultsStore) where Value: Codable {
        self.init(Defaults.Key(ofProperty: name, default: wrappedValue), suite: suite)
    }

    /// Creates a property of an optional that is stored in a store under a name.
    @_disfavoredOverload
    public init(_ name: String, suite: any DefaultsStore) where Value: Codable & ExpressibleByNilLiteral {
        self.init(Defaults.Key(ofProperty: name, default: nil), suite: suite)
    }
}

// A property of a given store is projected as that store, which isn't Sendable, or as a binding, for which
// DefaultSwiftUI takes only stores that may be used from several threads. So may the standard store: a FileDefaults
// is Sendable, and Apple documents UserDefaults as safe, but doesn't declare it so. The closure captures nothing.
//
// The condition is one on Sendable, since the compiler (6.3) ignores every other one where it looks for values that
// tasks share: with `where Projection == Void`, global constants and tasks would take properties of any store.
extension Stored: @unchecked Sendable where Projection: Sendable {}

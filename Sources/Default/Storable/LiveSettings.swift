public import Observation

/// An observable object for a settings type; its properties read and write the stored value.
///
/// ```swift
/// import Default
/// import Observation
///
/// let live = LiveSettings<VisualSettings>()!   // a type with a defaultValue
/// live.themeName = "dark"                      // one update of the stored value
/// withObservationTracking {
///     print(live.themeName)
/// } onChange: {
///     print("Changed by this process or, in a FileDefaults, by any other.")
/// }
/// ```
///
/// The type needs a ``DefaultStorable/defaultValue``, which is read while nothing is stored. For a type without one the
/// initializer returns nil. The object itself holds no value. Properties can be bound (`@Bindable`). A change of any
/// property notifies the observers of all of them.
@dynamicMemberLookup
public final class LiveSettings<Settings: DefaultStorable>: Observable {
    private let explicitStore: (any DefaultsStore)?
    private let key: String?
    private let initial: Settings

    /// Creates an object for the settings stored under a key.
    ///
    /// The result is nil when the type has no ``DefaultStorable/defaultValue``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``DefaultStorable/defaults``.
    ///   - key: The key; nil, the default, for the type's ``DefaultStorable/defaultIdentifier``.
    public init?(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        guard let initial = Settings.defaultValue else {
            return nil
        }
        explicitStore = store
        self.key = key
        self.initial = initial
    }

    /// The settings: the stored value, otherwise the default value.
    ///
    /// Assigning stores them. Errors are reported to ``DefaultsDiagnostics``.
    public var value: Settings {
        get {
            let store = store
            TrackedKeys.access(Set(key.map { [$0] } ?? Settings.identifiers), in: store)
            return Settings.read(from: store, forKey: key) ?? initial
        }
        set {
            newValue.write(to: store, withKey: key)
        }
    }

    private var store: any DefaultsStore { explicitStore ?? Settings.ownStore }

    /// A property of the settings.
    ///
    /// Assigning to it reads the settings, changes this property, and stores them, as one operation. Errors are reported to
    /// ``DefaultsDiagnostics``.
    ///
    /// - Parameter property: The property.
    public subscript<Value>(dynamicMember property: WritableKeyPath<Settings, Value>) -> Value {
        get { value[keyPath: property] }
        set {
            DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
                let store = store
                do {
                    try Settings.update(in: store, forKey: key) { $0[keyPath: property] = newValue }
                } catch {
                    let key = key ?? Settings.defaultIdentifier
                    throw .wrapping(error, key: key, type: Settings.self, store: store.storeDescription)
                }
            }
        }
    }

    /// A read-only property of the settings.
    ///
    /// - Parameter property: The property.
    public subscript<Value>(dynamicMember property: KeyPath<Settings, Value>) -> Value {
        value[keyPath: property]
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension LiveSettings: Sendable {}

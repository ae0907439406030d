public import Observation

/// A settings type as an object that views and other observing code can hold on to: its properties read and write what is
/// stored.
///
/// ```swift
/// import Default
/// import Observation
///
/// let live = LiveSettings<VisualSettings>()!   // a type with a defaultValue
/// live.themeName = "dark"                      // one update of what is stored
/// withObservationTracking {
///     print(live.themeName)
/// } onChange: {
///     print("Changed by this process or, in a FileDefaults, by any other.")
/// }
/// ```
///
/// The type needs a ``DefaultStorable/defaultValue``, which is read while nothing is stored; for a type without one the
/// result is nil. The object holds no value itself. Properties can be bound (`@Bindable`). A change anywhere in the
/// settings notifies of all of them.
@dynamicMemberLookup
public final class LiveSettings<Settings: DefaultStorable>: Observable {
    private let explicitStore: (any DefaultsStore)?
    private let key: String?
    private let initial: Settings

    /// Makes an object for the settings that are stored under a key.
    ///
    /// The result is nil when the type has no ``DefaultStorable/defaultValue``.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key; nil, the default, for the type's ``DefaultStorable/defaultIdentifier``.
    public init?(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        guard let initial = Settings.defaultValue else {
            return nil
        }
        explicitStore = store
        self.key = key
        self.initial = initial
    }

    /// The settings: the stored ones, else the default value.
    ///
    /// Assigning stores them. What goes wrong is reported to ``DefaultsDiagnostics``.
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
    /// Assigning to it reads the settings, changes this property, and stores them, as one operation. What goes wrong is reported to ``DefaultsDiagnostics``.
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

    /// A property of the settings that can only be read.
    ///
    /// - Parameter property: The property.
    public subscript<Value>(dynamicMember property: KeyPath<Settings, Value>) -> Value {
        value[keyPath: property]
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension LiveSettings: Sendable {}

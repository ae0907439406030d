public import Observation

/// An observable object for a settings type; its properties read and write the stored value.
///
/// ```swift
/// import Default
/// import Observation
///
/// let live = LiveSettings<VisualSettings>()    // a type with a defaultValue
/// live.themeName = "dark"                      // one update of the stored value
/// withObservationTracking {
///     print(live.themeName)
/// } onChange: {
///     print("Changed by this process or, in a FileDefaults, by any other.")
/// }
/// ```
///
/// While nothing is stored, the type's ``DefaultStorable/defaultValue`` is read, or the value that
/// ``init(default:in:forKey:)`` was given. The object itself holds no stored value. Properties can be bound (`@Bindable`). A
/// change of any property notifies the observers of all of them.
@dynamicMemberLookup
public final class LiveSettings<Settings: DefaultStorable> {
    private let explicitStore: (any DefaultsStore)?
    private let key: String?
    private let initial: Settings

    /// Creates an object for the settings stored under a key.
    ///
    /// The type must have a ``DefaultStorable/defaultValue``; if that is nil, the program ends with a message that names the
    /// type. Use ``init(default:in:forKey:)`` for a type without one.
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``DefaultStorable/defaults``.
    ///   - key: The key; nil, the default, for the type's ``DefaultStorable/defaultIdentifier``.
    public convenience init(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        guard let initial = Settings.defaultValue else {
            fatalError(
                """
                LiveSettings<\(Settings.self)> needs a value to read while nothing is stored. Give the type a \
                `static var defaultValue: \(Settings.self)?`, or create it with LiveSettings(default:in:forKey:). A \
                defaultValue of an unrelated type is not used.
                """
            )
        }
        self.init(default: initial, in: store, forKey: key)
    }

    /// Creates an object for the settings stored under a key, with a value to read while nothing is stored.
    ///
    /// - Parameters:
    ///   - initial: The value that is read, and changed, while nothing is stored and when the stored value can't be read. It
    ///     is used instead of the type's ``DefaultStorable/defaultValue``, except for filling in stored values.
    ///   - store: The store; nil, the default, for the type's ``DefaultStorable/defaults``.
    ///   - key: The key; nil, the default, for the type's ``DefaultStorable/defaultIdentifier``.
    public init(default initial: Settings, in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
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
            TrackedKeys.access(key.map { [$0] } ?? Settings.identifiers, in: store)
            return Settings.read(from: store, forKey: key, default: initial)
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
                let key = key ?? Settings.defaultIdentifier
                try DefaultsError.wrapping(ErrorContext(key, Settings.self, in: store)) {
                    try Settings.update(in: store, forKey: self.key, default: initial) {
                        $0[keyPath: property] = newValue
                    }
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

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension LiveSettings: Observable {}

@available(*, unavailable, message: "A store need not be Sendable: on Linux, UserDefaults isn't.")
extension LiveSettings: Sendable {}

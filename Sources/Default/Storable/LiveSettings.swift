internal import DefaultJournal
public import Observation

/// An observable object for a settings type; its properties read and write the stored value.
///
/// ```swift
/// import Default
/// import Observation
///
/// let live = LiveSettings<VisualSettings>()    // a type with a defaultValue
/// live.themeName = "dark"                      // one update of the stored value
/// live.themeName += "er"                       // and so is this
/// withObservationTracking {
///     print(live.themeName)
/// } onChange: {
///     print("Changed by this process or, in a FileDefaults, by any other.")
/// }
/// ```
///
/// While nothing is stored, the type's ``DefaultStorable/defaultValue`` is read, or the value that
/// ``init(default:in:forKey:)`` was given. Properties can be bound (`@Bindable`). A change of any property notifies the
/// observers of all of them.
///
/// **Changes in place are atomic:** `live.launches += 1`, `live.names.append("x")` or `live.window.width += 1` reads,
/// changes and stores the settings with exclusive access to the store, like
/// ``DefaultStorable/update(in:forKey:_:)``. So none is lost when several threads or, on a ``FileDefaults``, processes
/// make such changes at once. Don't pass a property `inout` to an `async` function, because exclusive access belongs to
/// a thread.
///
/// **The last readable value is kept:** when the stored value can't be read any more, the object returns the last one
/// that it could read, and changes start from that, so no other property falls back to its default. The error is
/// reported to ``DefaultsDiagnostics``, and the stored value is quarantined before it is replaced. An object that has
/// not read a value yet uses the default.
@dynamicMemberLookup
public final class LiveSettings<Settings: DefaultStorable> {
    private let explicitStore: (any DefaultsStore)?
    private let key: String?
    private let initial: Settings
    /// The last value that this object has read or stored; nil for none yet.
    private let lastReadable = Locked<Settings?>(nil)

    /// Creates an object for the settings stored under a key.
    ///
    /// The type must have a ``DefaultStorable/defaultValue``; if that is nil, the program ends with a message that
    /// names the type. Use ``init(default:in:forKey:)`` for a type without one.
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
    ///   - initial: The value that is read, and changed, while nothing is stored, and when this object has never been
    ///     able to read the stored value. It is used instead of the type's ``DefaultStorable/defaultValue``, except for
    ///     filling in stored values.
    ///   - store: The store; nil, the default, for the type's ``DefaultStorable/defaults``.
    ///   - key: The key; nil, the default, for the type's ``DefaultStorable/defaultIdentifier``.
    public init(default initial: Settings, in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        explicitStore = store
        self.key = key
        self.initial = initial
    }

    /// The settings: the stored value, otherwise the default value.
    ///
    /// Assigning stores them. A change in place reads, changes and stores them as one operation. Errors are reported to
    /// ``DefaultsDiagnostics``.
    public var value: Settings {
        get {
            let store = store
            TrackedKeys.access(key.map { [$0] } ?? Settings.identifiers, in: store)
            return read(from: store)
        }
        set {
            let store = store
            reportingWrites(to: store) { try save(newValue, to: store, in: layers(in: store)) }
        }
        _modify {
            var change = beginChange()
            defer { change.access.end() }
            yield &change.value
            commit(change)
        }
    }

    /// A property of the settings.
    ///
    /// Assigning to it, or changing it in place, reads the settings, changes this property, and stores them, as one
    /// operation. Errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter property: The property.
    public subscript<Value>(dynamicMember property: WritableKeyPath<Settings, Value>) -> Value {
        get { value[keyPath: property] }
        set {
            let store = store
            reportingWrites(to: store) {
                try store.withExclusiveAccess {
                    let layers = layers(in: store)
                    var value = try loadOrKeep(from: store, in: layers)
                    value[keyPath: property] = newValue
                    try save(value, to: store, in: layers)
                }
            }
        }
        // Not by way of `value`; see AccessInPlace.
        _modify {
            var change = beginChange()
            defer { change.access.end() }
            yield &change.value[keyPath: property]
            commit(change)
        }
    }

    /// A read-only property of the settings.
    ///
    /// - Parameter property: The property.
    public subscript<Value>(dynamicMember property: KeyPath<Settings, Value>) -> Value {
        value[keyPath: property]
    }
}

extension LiveSettings {
    /// Reads, changes and stores the settings as one operation, and throws what a change in place would only report.
    ///
    /// - Parameter change: Changes the settings, which are the stored value, the last one that could be read, or the
    ///   default. If it throws, nothing is stored.
    /// - Returns: The result of the change.
    /// - Throws: Any error that the change throws, and those of ``DefaultStorable/save(to:withKey:)``. The stored value
    ///   is unchanged then.
    @discardableResult
    public func update<Result>(_ change: (inout Settings) throws -> Result) throws -> Result {
        let store = store
        return try store.withExclusiveAccess {
            let layers = layers(in: store)
            var value = try loadOrKeep(from: store, in: layers)
            let result = try change(&value)
            try save(value, to: store, in: layers)
            return result
        }
    }

    /// Removes the stored settings, so that the default is read again; errors are reported to ``DefaultsDiagnostics``.
    public func clear() { Settings.clear(in: store, forKey: key) }

    /// Removes the stored settings, so that the default is read again.
    ///
    /// - Throws: As ``DefaultStorable/remove(from:forKey:)``.
    public func remove() throws(DefaultsError) { try Settings.remove(from: store, forKey: key) }
}

// Each change is stored at once, so these aren't needed. Without them, the compiler (6.3.1) crashes on such a call.
extension LiveSettings {
    /// Is not needed: each change is stored at once.
    @available(*, unavailable, message: "Each change is stored at once. To store another value, assign it to value.")
    public func save(to store: (any DefaultsStore)? = nil, withKey key: String? = nil) throws(DefaultsError) {}

    /// Is not needed: each change is stored at once.
    @available(*, unavailable, message: "Each change is stored at once. To store another value, assign it to value.")
    public func write(to store: (any DefaultsStore)? = nil, withKey key: String? = nil) {}

    /// Is not needed: the properties are those of the stored value.
    @available(*, unavailable, message: "The properties are those of the stored value, and value is all of them.")
    public func load(from store: (any DefaultsStore)? = nil, forKey key: String? = nil) throws(DefaultsError)
        -> Settings
    {
        fatalError("Use value.")
    }

    /// Is not needed: the properties are those of the stored value.
    @available(*, unavailable, message: "The properties are those of the stored value, and value is all of them.")
    public func read(from store: (any DefaultsStore)? = nil, forKey key: String? = nil) -> Settings? {
        fatalError("Use value.")
    }

    /// Is called clear().
    @available(*, unavailable, renamed: "clear()")
    public func reset() {}
}

extension LiveSettings {
    private var store: any DefaultsStore { explicitStore ?? Settings.ownStore }

    /// The stored value, or the last one that could be read; errors are reported.
    private func read(from store: any DefaultsStore) -> Settings {
        do throws(FastPathUnavailable) {
            // Over layers, a read depends on this object's own default.
            guard LayeredSettings.memory(of: Settings.self, in: store, forKey: key) == nil else {
                throw FastPathUnavailable()
            }
            let value = try Settings.fastPathValue(in: store, forKey: key)
            remember(value)
            return value
        } catch {
            let value = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
                try loadOrKeep(from: store, in: layers(in: store))
            }
            return value ?? lastReadable.withLock { $0 } ?? initial
        }
    }

    /// The stored value, or the last one that could be read, which is reported.
    ///
    /// - Throws: `invalidKey`, or the reason why the store can't be read.
    private func loadOrKeep(
        from store: any DefaultsStore,
        in layers: LayeredSettings?
    ) throws(DefaultsError) -> Settings {
        switch Settings.reading(from: store, forKey: key, in: layers, default: initial) {
        case .readable(let stored):
            let value = stored ?? initial
            remember(value)
            return value
        case .unreadable(let substitute, let error):
            guard error.isAboutStoredValue else { throw error }
            DefaultsDiagnostics.report(.readFailed, error)
            return lastReadable.withLock { $0 } ?? substitute ?? initial
        }
    }

    /// The settings between the steps of a change in place.
    private struct Change: ~Copyable {
        let store: any DefaultsStore
        let access: AccessInPlace
        /// What sources said when the change began.
        let layers: LayeredSettings?
        var value: Settings
        /// The reason why the changed value can't be stored; nil if it can.
        var fault: (any Error)?
    }

    private func beginChange() -> Change {
        let store = store
        let access = AccessInPlace(to: store)
        // There has to be a value to change, even if it can't be stored then.
        let kept = lastReadable.withLock { $0 } ?? initial
        let layers = layers(in: store)
        var fault = access.refusal
        var value = kept
        do {
            value = try loadOrKeep(from: store, in: layers)
        } catch {
            fault = fault ?? error
        }
        return Change(store: store, access: access, layers: layers, value: value, fault: fault)
    }

    private func commit(_ change: borrowing Change) {
        reportingWrites(to: change.store) {
            if let fault = change.fault { throw fault }
            try save(change.value, to: change.store, in: change.layers)
        }
    }

    private func layers(in store: any DefaultsStore) -> LayeredSettings? {
        LayeredSettings(Settings.self, in: store, forKey: key)
    }

    private func save(
        _ value: Settings,
        to store: any DefaultsStore,
        in layers: LayeredSettings?
    ) throws(DefaultsError) {
        try value.save(to: store, withKey: key, in: layers)
        remember(value)
    }

    private func remember(_ value: Settings) {
        // The value before is released without the lock, since its deinitializer may use this object.
        _ = lastReadable.exchange(value)
    }

    /// Calls a body that stores settings, and reports its error.
    private func reportingWrites(to store: any DefaultsStore, _ body: () throws -> Void) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try DefaultsError.wrapping(ErrorContext(key ?? Settings.defaultIdentifier, Settings.self, in: store), body)
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension LiveSettings: Observable {}

@available(*, unavailable, message: "A store need not be Sendable: on Linux, UserDefaults isn't.")
extension LiveSettings: Sendable {}

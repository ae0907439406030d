#if canImport(SwiftUI)
// A file with views needs no second import for keys, settings types and containers.
@_exported public import Default
public import SwiftUI

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Stored where Projection == Binding<Value> {
    /// Creates a property of a view that is stored in the platform's standard store; `$` before its name gives a
    /// `Binding`.
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     static let volume = Defaults.Key<Double>("volume", default: 0.5)
    /// }
    ///
    /// struct VolumeView: View {
    ///     @Stored(.volume) private var volume
    ///     var body: some View { Slider(value: $volume) }
    /// }
    /// ```
    ///
    /// A view whose body reads the property, or makes a binding to it, is updated each time the stored value changes,
    /// by this process or another. Assigning to the binding stores immediately; errors are reported to
    /// `DefaultsDiagnostics`.
    ///
    /// - Parameter key: The key.
    public init(_ key: Defaults.Key<Value>) { self.init(key, in: Defaults(), project: Binding.init(_:_:)) }

    /// Creates a property of a view that is stored in a store; see ``init(_:)``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - suite: The store. It has to be `Sendable`, because properties and bindings are.
    public init(_ key: Defaults.Key<Value>, suite: any DefaultsStore & Sendable) {
        self.init(key, in: Defaults(suite: suite), project: Binding.init(_:_:))
    }

    /// Creates a property of a view that is stored in a `UserDefaults`; see ``init(_:)``.
    ///
    /// Apple documents it as safe to use from several threads, but doesn't declare it `Sendable`.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - suite: The store.
    public init(_ key: Defaults.Key<Value>, suite: UserDefaults) {
        self.init(key, in: Defaults(suite: suite), project: Binding.init(_:_:))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Stored where Projection == Binding<Value>, Value: Codable {
    /// Creates a property of a view that is stored in the standard store under a name, with its default:
    /// `@Stored("volume") var volume = 0.5`; see ``init(_:)``.
    public init(wrappedValue: sending Value, _ name: String) {
        self.init(Defaults.Key(ofProperty: name, default: wrappedValue))
    }

    /// Creates a property of a view that is stored in a store under a name, with its default; see ``init(_:)``.
    public init(wrappedValue: sending Value, _ name: String, suite: any DefaultsStore & Sendable) {
        self.init(Defaults.Key(ofProperty: name, default: wrappedValue), suite: suite)
    }

    /// Creates a property of a view that is stored in a `UserDefaults` under a name, with its default; see
    /// ``init(_:)``.
    public init(wrappedValue: sending Value, _ name: String, suite: UserDefaults) {
        self.init(Defaults.Key(ofProperty: name, default: wrappedValue), suite: suite)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Stored where Projection == Binding<Value>, Value: Codable & ExpressibleByNilLiteral {
    /// Creates a property of an optional that is stored in the standard store under a name:
    /// `@Stored("nickname") var nickname: String?`; see ``init(_:)``.
    public init(_ name: String) { self.init(Defaults.Key(ofProperty: name, default: nil)) }

    /// Creates a property of an optional that is stored in a store under a name; see ``init(_:)``.
    public init(_ name: String, suite: any DefaultsStore & Sendable) {
        self.init(Defaults.Key(ofProperty: name, default: nil), suite: suite)
    }

    /// Creates a property of an optional that is stored in a `UserDefaults` under a name; see ``init(_:)``.
    public init(_ name: String, suite: UserDefaults) {
        self.init(Defaults.Key(ofProperty: name, default: nil), suite: suite)
    }
}

/// A `Stored` property of a view that an initializer gives its key, or its store.
///
/// ```swift
/// struct LevelView: View {
///     @StoredBinding private var level: Double
///
///     init(_ key: Defaults.Key<Double>) { _level = Stored(key) }
///
///     var body: some View { Slider(value: $level) }
/// }
/// ```
public typealias StoredBinding<Value> = Stored<Value, Binding<Value>>

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Binding {
    fileprivate init(_ defaults: Defaults, _ key: Defaults.Key<Value>) {
        // Tracked: a control may read a binding where nothing tracks it, so the body that makes it depends on the
        // value.
        _ = defaults[key]
        self.init(get: { defaults[key] }, set: { defaults[key] = $0 })
    }
}
#endif

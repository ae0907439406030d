// The part of SwiftUI's interface that bindings and a settings screen need, without behaviour: for type-checking views
// where Apple's SDK is not. Signatures and versions are those of the pages named above each group, all under
// developer.apple.com/documentation/swiftui. What a page states and nothing here depends on is left out.

@_exported import Foundation
// …/managing-model-data-in-your-app: `@Observable` in a file that imports SwiftUI alone.
@_exported import Observation

// …/view, …/viewbuilder, …/emptyview, …/tupleview: `body` is a main-actor view builder; an empty block is an EmptyView.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
extension Never: View {
    public typealias Body = Never
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct EmptyView: View {
    public nonisolated init() {}
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct TupleView<T>: View {
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@resultBuilder public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { fatalError() }
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> { fatalError() }
}

// …/binding, …/binding/init(get:set:)-7ufcp: the closures are Sendable and may be isolated to an actor; a binding is
// Sendable if its value is. …/binding/init(_:): nil when the value is.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@frozen @propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) { fatalError() }
    public init?(_ base: Binding<Value?>) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
    public var projectedValue: Binding<Value> { fatalError() }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
extension Binding: @unchecked Sendable where Value: Sendable {}

// …/dynamicproperty, …/state: `$` before the name of a state is a binding.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol DynamicProperty {}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@frozen @propertyWrapper public struct State<Value>: DynamicProperty {
    public init(wrappedValue value: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

// …/bindable, …/bindable/init(wrappedvalue:), …/bindable/subscript(dynamicmember:): for Observable objects.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value> {
    public var wrappedValue: Value
    public var projectedValue: Bindable<Value> { fatalError() }
    @available(*, unavailable, message: "Only properties of Observable objects can be bound.")
    public init(wrappedValue: Value) { fatalError() }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Bindable where Value: AnyObject {
    public subscript<Subject>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>
    ) -> Binding<Subject> { fatalError() }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Bindable where Value: AnyObject & Observable {
    public init(wrappedValue: Value) { fatalError() }
    public init(_ wrappedValue: Value) { fatalError() }
}

// …/appstorage: with a default value, for what a property list holds and for raw values of it.
@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
@frozen @propertyWrapper public struct AppStorage<Value>: DynamicProperty {
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Bool { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
extension AppStorage {
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Double { fatalError() }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Int { fatalError() }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
    where Value: RawRepresentable, Value.RawValue == String { fatalError() }
}

// …/localizedstringkey, …/text/init(_:tablename:bundle:comment:), …/text/init(_:)-9d1g4: a literal is a localized key;
// a string is shown as it is.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@frozen public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { fatalError() }
    public init(stringInterpolation: StringInterpolation) { fatalError() }

    public struct StringInterpolation: StringInterpolationProtocol {
        public init(literalCapacity: Int, interpolationCount: Int) { fatalError() }
        public mutating func appendLiteral(_ literal: String) { fatalError() }
        public mutating func appendInterpolation(_ string: String) { fatalError() }
        public mutating func appendInterpolation<T: _FormatSpecifiable>(_ value: T) { fatalError() }
    }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol _FormatSpecifiable: Equatable {}
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
extension Int: _FormatSpecifiable {}
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
extension Double: _FormatSpecifiable {}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@frozen public struct Text: View {
    public nonisolated init(_ key: LocalizedStringKey, comment: StaticString? = nil) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ content: S) { fatalError() }
    public var body: Never { fatalError() }
}

// …/toggle, …/toggle/init(_:ison:): with a title.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct Toggle<Label: View>: View {
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
extension Toggle where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) { fatalError() }
}

// …/slider, …/slider/init(value:in:oneditingchanged:): without labels; there are no sliders on tvOS.
@available(macOS 10.15, iOS 13, watchOS 6, *)
@available(tvOS, unavailable)
public struct Slider<Label: View, ValueLabel: View>: View {
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, watchOS 6, *)
@available(tvOS, unavailable)
extension Slider where Label == EmptyView, ValueLabel == EmptyView {
    public nonisolated init<V: BinaryFloatingPoint>(
        value: Binding<V>,
        in bounds: ClosedRange<V> = 0...1,
        onEditingChanged: @escaping (Bool) -> Void = { _ in }
    ) where V.Stride: BinaryFloatingPoint { fatalError() }
}

// …/form: a container of controls.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct Form<Content: View>: View {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

// …/app, …/scene, …/scenebuilder, …/windowgroup/init(content:): an app with one kind of window.
@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
extension Never: Scene {}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { fatalError() }
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
public struct WindowGroup<Content: View>: Scene {
    public nonisolated init(@ViewBuilder content: @escaping () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
extension App {
    @MainActor @preconcurrency public static func main() { fatalError() }
}

// …/previewprovider: what Xcode shows beside the source.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor @preconcurrency static var previews: Previews { get }
}

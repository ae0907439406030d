#if Foundation
public import Foundation

extension Defaults.Proxy {
    /// The number, or a Boolean as a number; strings are not converted.
    ///
    /// This needs the package's trait `Foundation`.
    public var number: NSNumber? { stored?.asNumber }

    /// The ``number``, or 0.
    ///
    /// This needs the package's trait `Foundation`.
    public var numberValue: NSNumber { number ?? 0 }
}

extension CGFloat: EmptyValueProviding {}

#if !canImport(Darwin)
extension Defaults {
    /// Creates an instance for a `UserDefaults`, where that isn't the platform's default type.
    ///
    /// This needs the package's trait `Foundation`.
    @_disfavoredOverload
    public init(suite: UserDefaults) { self.init(suite: suite as any DefaultsStore) }
}
#endif
#endif

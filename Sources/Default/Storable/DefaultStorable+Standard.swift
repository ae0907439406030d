#if canImport(Darwin)
public import Foundation
#endif

extension DefaultStorable where DefaultsSuite == StandardDefaults {
    /// The platform's standard store.
    public static var defaults: StandardDefaults { .standard }
}

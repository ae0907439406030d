#if canImport(Darwin)
public import Foundation
#endif

extension DefaultStorable where DefaultsSuite == StandardDefaults {
    /// The platform's standard store.
    public static var defaults: StandardDefaults { .standard }
}

extension DefaultStorable {
    /// The store of a call that names none: what the type chose, or what a task has substituted for the standard store.
    static var ownStore: any DefaultsStore {
        let chosen = defaults
        guard let substitute = StandardStore.substitute, chosen as AnyObject === StandardDefaults.standard else {
            return chosen
        }
        return substitute
    }
}

#if canImport(Darwin)
public import Foundation
#endif

extension DefaultStorable where DefaultsSuite == StandardDefaults {
    /// The platform's standard store.
    public static var defaults: StandardDefaults { .standard }
}

extension DefaultStorable {
    /// The store for calls without one: the type's ``defaults``, or a task's substitute if that is the standard store.
    static var ownStore: any DefaultsStore {
        let chosen = defaults
        guard let substitute = StandardStore.substitute, chosen as AnyObject === StandardDefaults.standard else {
            return chosen
        }
        return substitute
    }
}

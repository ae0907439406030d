internal import Foundation

extension DefaultStorable {
    /// Where the settings are: what the type chose, or what a task has put in the standard store's place.
    static var store: any DefaultsStore {
        let chosen = defaults
        guard let replacement = StandardStore.replacingStore, chosen as AnyObject === StandardDefaults.standard else {
            return chosen
        }
        return replacement
    }
}

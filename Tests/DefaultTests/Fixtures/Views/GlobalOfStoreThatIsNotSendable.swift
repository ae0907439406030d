// type 'Notes' does not conform to the 'Sendable' protocol
import Default
import SwiftUI

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
}

/// A store that only one task at a time may use.
final class Notes: DefaultsStore {
    private var contents: [String: PropertyListValue] = [:]
    let storeDescription = "Notes"

    func storedValue(forKey key: String) -> PropertyListValue? { contents[key] }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) { contents[key] = value }
    func storedKeys() -> [String] { Array(contents.keys) }
    func flush() {}
}

let volume = Stored(.volume, suite: Notes())

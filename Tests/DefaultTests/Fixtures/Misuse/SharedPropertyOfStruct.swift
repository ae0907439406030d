// of 'Sendable'-conforming struct 'Player' contains non-Sendable type 'any DefaultsStore'
import Default
import Foundation

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
}

struct Player: Sendable {
    @Stored(.volume, suite: UserDefaults.standard) var volume
}

// of 'Sendable'-conforming struct 'Player' contains non-Sendable type 'any DefaultsStore'
import Default

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
}

struct Player: Sendable {
    @Stored(.volume, suite: MemoryDefaults()) var volume
}

// cannot form main actor-isolated conformance of 'Player' to SendableMetatype-inheriting protocol
import Default

@MainActor struct Player: @MainActor DefaultStorable {
    var volume = 0.5
}

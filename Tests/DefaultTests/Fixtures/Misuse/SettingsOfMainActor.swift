// crosses into main actor-isolated code
import Default

@MainActor struct Player: DefaultStorable {
    var volume = 0.5
    static var defaultValue: Player { Player() }
}

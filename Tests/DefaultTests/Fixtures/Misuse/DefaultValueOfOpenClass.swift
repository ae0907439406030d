// property 'defaultValue' in non-final class 'Player' must specify type 'Self' to conform to protocol
import Default

class Player: DefaultStorable {
    var volume = 0.5
    static var defaultValue: Player { Player() }
}

// static property 'defaultValue' nearly matches defaulted requirement
import Default

struct Player {
    var volume = 0.5
}

extension Player: DefaultStorable {
    static let defaultValue = 5
}

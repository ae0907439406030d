// static property 'defaults' nearly matches defaulted requirement
import Default

struct Player {
    var volume = 0.5
}

extension Player: DefaultStorable {
    static var defaults: FileDefaults? { try? FileDefaults(suiteName: "player") }
}

// static property 'defaultCoder' nearly matches defaulted requirement
import Default
import Foundation

struct Player {
    var volume = 0.5
}

extension Player: DefaultStorable {
    static var defaultCoder: PropertyListEncoder { PropertyListEncoder() }
}

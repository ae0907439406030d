// compiles
import Default
import Foundation

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
    static let installed = DefaultsKey<Date>("installed", default: Date())
}

struct Player {
    var volume = 0.5
}

extension Player: DefaultStorable {
    static var defaultValue: Player? { Player() }
    static var defaultCoder: DefaultsCoder { .propertyList }
    static let defaults = MemoryDefaults()
}

func control() {
    Defaults[.launchCount] = 10
    Defaults[.launchCount] += 1
    Defaults[.installed] = Date()
}

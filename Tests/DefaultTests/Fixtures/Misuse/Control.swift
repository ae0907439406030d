// compiles
import Default
import Foundation

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
    static let installed = DefaultsKey<Date>("installed", default: Date())
}

func control() {
    Defaults[.launchCount] = 10
    Defaults[.launchCount] += 1
    Defaults[.installed] = Date()
}

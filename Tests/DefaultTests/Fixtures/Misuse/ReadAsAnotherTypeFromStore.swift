// The key is for values of another type.
import Default
import Foundation

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
}

func misuse() -> String {
    UserDefaults.standard[.launchCount]
}

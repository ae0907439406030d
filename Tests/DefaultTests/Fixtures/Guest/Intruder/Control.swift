// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

protocol Listing {
    func storedKeys() -> [String]
}

extension Listing {
    func storedKeys() -> [String] { [] }
}

extension UserDefaults: Listing {}

func control(_ defaults: UserDefaults, data: Data) {
    defaults.set(data, forKey: "another declaration, without a word")
    defaults.set(1, forKey: "the same declaration")
    try? defaults.set(["a"], forKey: "a warning less")
    let setter: (Data, String) -> Void = defaults.set
    setter(data, "the same declarations")
}

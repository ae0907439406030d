// In one of two compilations this line imports the library (GuestTests).
// swift-format-ignore-file
import Foundation

func captured(_ defaults: UserDefaults, data: Data) {
    Task { defaults.set(data, forKey: "k") }
    Task.detached { defaults.set(1, forKey: "k") }
}

func usedAfterwards() async {
    let defaults = UserDefaults(suiteName: "suite")
    let task = Task { defaults?.data(forKey: "k") }
    defaults?.set(Data(), forKey: "k")
    _ = await task.value
}

@MainActor
final class Owner {
    let defaults = UserDefaults.standard

    func use() async {
        await Borrower().store(Data(), in: defaults)
    }
}

actor Borrower {
    var last: UserDefaults?

    func store(_ data: Data, in defaults: UserDefaults) {
        defaults.set(data, forKey: "k")
        last = defaults
    }
}

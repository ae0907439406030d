// main actor-isolated
import Default

enum Start {
    @MainActor static var count = 3
}

extension DefaultsKeys {
    nonisolated static let launchCount = DefaultsKey<Int>("launchCount", default: Start.count)
}

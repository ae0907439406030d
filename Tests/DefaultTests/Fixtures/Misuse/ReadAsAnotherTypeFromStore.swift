// The key is for values of another type.
import Default

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
}

func misuse() -> String {
    MemoryDefaults()[.launchCount]
}

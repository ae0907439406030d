// ValueOfAnotherType.swift:9:
import Default

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
}

func misuse() {
    Defaults[.launchCount] = "ten"
}

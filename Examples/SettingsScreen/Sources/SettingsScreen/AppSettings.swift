import Default

// The app's stored values. Nothing here depends on views, so tests of it run anywhere.

extension Defaults.Keys {
    static let volume = Defaults.Key<Double>("volume", default: 0.5)
    static let isSoundOn = Defaults.Key<Bool>("isSoundOn", default: true)
    static let launchCount = Defaults.Key<Int>("launchCount")
}

struct AppSettings: DefaultStorable {
    var isDark = false
    var fontSize = 13.0
    static var defaultValue: AppSettings? { AppSettings() }
}

extension PersistentStorage {
    var balance: KeyValueContainer<Double> { makeContainer(default: 0.5) }
}

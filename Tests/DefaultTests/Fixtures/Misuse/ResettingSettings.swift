// renamed to 'clear(in:forKey:)'
import Default

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue = Settings()
}

Settings.reset()

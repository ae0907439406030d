// renamed to 'clear()'
import Default

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue = Settings()
}

func reset(_ live: LiveSettings<Settings>) { live.reset() }

// Each change is stored at once
import Default

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue = Settings()
}

func write(_ live: LiveSettings<Settings>) { live.write() }

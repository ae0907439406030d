// Each change is stored at once
import Default

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue = Settings()
}

func save(_ live: LiveSettings<Settings>) throws { try live.save() }

// value is all of them
import Default

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue = Settings()
}

func read(_ live: LiveSettings<Settings>) -> Settings? { live.read() }

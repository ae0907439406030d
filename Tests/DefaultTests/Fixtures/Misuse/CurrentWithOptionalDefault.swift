// Declare a default value that isn't optional
import Default

struct Settings: DefaultStorable {
    var theme = "bright"
    static let defaultValue: Settings? = Settings()
}

print(Settings.current.theme)

// Declare a default value that isn't optional
import Default

struct Settings: DefaultStorable { var theme = "bright" }

print(Settings.current.theme)

// A key for this type needs a default: Key("name", default: value).
import Default

enum Theme: String {
    case light
}

let theme = DefaultsKey<Theme>("theme")
